// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of collation, and of the message for an item type that has none.
#include "sinter/data/collate.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "sinter/base/error.hpp"

namespace app {
struct Word {
  std::string text;
};
struct WordBatch {
  std::size_t letters = 0;
};
struct Unknown {};

WordBatch collate(std::span<const Word> words) {
  WordBatch batch;
  for (const Word& word : words) {
    batch.letters += word.text.size();
  }
  return batch;
}
}  // namespace app

namespace sinter::data {
namespace {

template <class T>
auto put_together(const std::vector<T>& items) {
  return Collate<T>()(std::span<const T>(items));
}

static_assert(Collatable<float> && Collatable<std::string> && Collatable<HostData>);
static_assert(Collatable<std::vector<HostData>> && Collatable<app::Word>);
static_assert(Collatable<std::pair<app::Word, std::tuple<int, bool>>>);
static_assert(!Collatable<app::Unknown> && !Collatable<std::pair<int, app::Unknown>>);

TEST(Collate, tensors_and_numbers) {
  EXPECT_TRUE(put_together<float>({1, 2}) == HostData({2}, {1.0f, 2.0f}));
  EXPECT_TRUE(put_together<HostData>({HostData({2}, {1.0f, 2.0f}), HostData({2}, {3.0f, 4.0f})}) ==
              HostData({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f}));
  EXPECT_EQ(put_together<std::string>({"a", "b"}).size(), 2u);
}

TEST(Collate, mismatches_name_the_item) {
  EXPECT_THROW(put_together<HostData>({}), ArgumentError);
  EXPECT_THROW(put_together<HostData>({HostData({1}, {1.0f}), HostData({1}, {1.0})}), DTypeError);
  try {
    put_together<HostData>({HostData({1}, {1.0f}), HostData({2}, DType::f32)});
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("item 1 has shape [2], item 0 has [1]"),
              std::string::npos);
  }
  EXPECT_THROW(put_together<std::vector<HostData>>({{HostData({1}, {1.0f})}, {}}), ShapeError);
}

TEST(Collate, pairs_tuples_and_own_types) {
  const auto [words, flags] =
      put_together<std::pair<app::Word, bool>>({{{"ab"}, true}, {{"cde"}, false}});
  EXPECT_EQ(words.letters, 5u);
  EXPECT_TRUE(flags == HostData({2}, {true, false}));
  const auto parts = put_together<std::tuple<int, std::string>>({{1, "x"}});
  EXPECT_EQ(std::get<0>(parts).int_at(0), 1);
}

TEST(Cases, DAT_05_missing_collate_is_named_by_the_compiler) {
  const std::string root = SINTER_TEST_ROOT;
  const std::string command = "LC_ALL=C '" SINTER_TEST_CXX "' -std=c++20 -fsyntax-only -I'" + root +
                              "' -x c++ '" + root +
                              "/sinter/data/testdata/missing_collate.cc' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  char buffer[4096];
  while (const std::size_t got = fread(buffer, 1, sizeof buffer, pipe)) {
    output.append(buffer, got);
  }
  EXPECT_NE(pclose(pipe), 0);
  EXPECT_NE(output.find("there is no collate for this dataset's item type"), std::string::npos)
      << output;
  // The reader must not have to look for the message among others.
  EXPECT_LT(output.size(), 4000u) << output;
}

}  // namespace
}  // namespace sinter::data

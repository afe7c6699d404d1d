// SPDX-License-Identifier: MIT OR Apache-2.0
// Exchange with Python's safetensors; the fixture comes from tools/golden/safetensors.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "sinter/store/record.hpp"

namespace sinter::store {
namespace {

constexpr std::string_view fixture =
;

std::vector<std::byte> from_hex(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// The same values as in tools/golden/safetensors.py.
Record expected() {
  Record r;
  r.add("f64", HostData({2, 2}, {1.5, -2.25, std::numeric_limits<double>::infinity(), 5e-324}));
  r.add("f32", HostData({3}, {0.1f, -0.0f, 3.4e38f}));
  r.add("f16", HostData({3}, {f16(1.0f), f16(65504.0f), f16(6e-8f)}));
  r.add("i64", HostData({2}, {std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::int64_t>::max()}));
  r.add("i32", HostData({}, {std::int32_t{7}}));
  r.add("i16", HostData({1, 1, 1}, {std::int16_t{-3}}));
  r.add("i8", HostData({2}, {std::int8_t{-128}, std::int8_t{127}}));
  r.add("u64", HostData({1}, {std::numeric_limits<std::uint64_t>::max()}));
  r.add("u32", HostData({1}, {std::numeric_limits<std::uint32_t>::max()}));
  r.add("u16", HostData({1}, {std::uint16_t{65535}}));
  r.add("u8", HostData({2}, {std::uint8_t{0}, std::uint8_t{255}}));
  r.add("bool", HostData({3}, {true, false, true}));
  r.add("empty", HostData({0, 4}, DType::f32));
  r.metadata() = {{"format", "np"}, {"note", "čaj"}};
  return r;
}

TEST(Python, reads_a_file_made_by_python) {
  const Record record = Record::from_bytes(from_hex(fixture), "fixture");
  const Record wanted = expected();
  EXPECT_EQ(record.metadata(), wanted.metadata());
  ASSERT_EQ(record.size(), wanted.size());
  for (const Record::Entry& entry : wanted.entries()) {
    EXPECT_TRUE(record.at(entry.name) == *entry.data) << entry.name;
  }
}

TEST(Python, writes_a_file_for_python_to_check) {
  const char* path = std::getenv("SINTER_GOLDEN_OUT");
  if (!path) {
    GTEST_SKIP() << "[SKIP] set SINTER_GOLDEN_OUT to a path, then run tools/golden/safetensors.py "
                    "check on it";
  }
  expected().save(path);
}

}  // namespace
}  // namespace sinter::store

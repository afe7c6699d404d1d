// SPDX-License-Identifier: MIT OR Apache-2.0
// Exchange with Python's safetensors; the fixture comes from tools/golden/safetensors_exchange.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "sinter/store/record.hpp"

namespace sinter::store {
namespace {

constexpr std::string_view fixture =
    "18030000000000007b225f5f6d657461646174615f5f223a7b22666f726d6174223a226e70222c22"
    "6e6f7465223a22c48d616a227d2c22753634223a7b226474797065223a22553634222c2273686170"
    "65223a5b315d2c22646174615f6f666673657473223a5b302c385d7d2c22693634223a7b22647479"
    "7065223a22493634222c227368617065223a5b325d2c22646174615f6f666673657473223a5b382c"
    "32345d7d2c22663634223a7b226474797065223a22463634222c227368617065223a5b322c325d2c"
    "22646174615f6f666673657473223a5b32342c35365d7d2c22656d707479223a7b22647479706522"
    "3a22463332222c227368617065223a5b302c345d2c22646174615f6f666673657473223a5b35362c"
    "35365d7d2c22663332223a7b226474797065223a22463332222c227368617065223a5b335d2c2264"
    "6174615f6f666673657473223a5b35362c36385d7d2c22753332223a7b226474797065223a225533"
    "32222c227368617065223a5b315d2c22646174615f6f666673657473223a5b36382c37325d7d2c22"
    "693332223a7b226474797065223a22493332222c227368617065223a5b5d2c22646174615f6f6666"
    "73657473223a5b37322c37365d7d2c22663136223a7b226474797065223a22463136222c22736861"
    "7065223a5b335d2c22646174615f6f666673657473223a5b37362c38325d7d2c22753136223a7b22"
    "6474797065223a22553136222c227368617065223a5b315d2c22646174615f6f666673657473223a"
    "5b38322c38345d7d2c22693136223a7b226474797065223a22493136222c227368617065223a5b31"
    "2c312c315d2c22646174615f6f666673657473223a5b38342c38365d7d2c226938223a7b22647479"
    "7065223a224938222c227368617065223a5b325d2c22646174615f6f666673657473223a5b38362c"
    "38385d7d2c227538223a7b226474797065223a225538222c227368617065223a5b325d2c22646174"
    "615f6f666673657473223a5b38382c39305d7d2c22626f6f6c223a7b226474797065223a22424f4f"
    "4c222c227368617065223a5b335d2c22646174615f6f666673657473223a5b39302c39335d7d7d20"
    "ffffffffffffffff0000000000000080ffffffffffffff7f000000000000f83f00000000000002c0"
    "000000000000f07f0100000000000000cdcccc3d000000809ec97f7fffffffff07000000003cff7b"
    "0100fffffdff807f00ff010001";

std::vector<std::byte> from_hex(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// The same values as in tools/golden/safetensors_exchange.py.
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
    GTEST_SKIP()
        << "[SKIP] set SINTER_GOLDEN_OUT to a path, then run tools/golden/safetensors_exchange.py "
           "check on it";
  }
  expected().save(path);
}

}  // namespace
}  // namespace sinter::store

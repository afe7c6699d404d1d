// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the safetensors reader against crafted files, and of the writer.
#include "sinter/store/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "sinter/base/error.hpp"
#include "sinter/store/file_kind.hpp"

namespace sinter::store {
namespace {

std::string file_with(std::string_view header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), 8);
  return file + std::string(header) + std::string(data_bytes, '\0');
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The message of the FormatError that `file` causes; fails the test when there is none.
std::string fault(std::string_view file) {
  try {
    (void)parse_safetensors(bytes_of(file), "x.safetensors");
  } catch (const FormatError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no FormatError";
  return "";
}

void expect_fault(std::string_view header, std::size_t data_bytes, std::string_view part) {
  const std::string message = fault(file_with(header, data_bytes));
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  EXPECT_TRUE(message.starts_with("x.safetensors: ")) << message;
}

TEST(Safetensors, reads_a_plain_file) {
  const std::string file = file_with(
      R"({"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},)"
      R"("s":{"shape":[],"data_offsets":[0,4],"dtype":"I32"},)"
      R"("e":{"dtype":"F8_E5M2","shape":[0,5],"data_offsets":[4,4]}}   )",
      28);
  const SafetensorsHeader header = parse_safetensors(bytes_of(file), "x");
  ASSERT_EQ(header.tensors.size(), 3u);
  EXPECT_EQ(header.tensors[0].name, "w");
  EXPECT_EQ(header.tensors[0].shape, Shape({2, 3}));
  EXPECT_EQ(header.tensors[0].offset, 4u);
  EXPECT_EQ(header.tensors[1].dtype, DType::i32);
  EXPECT_EQ(header.tensors[1].shape.rank(), 0);
  EXPECT_EQ(header.tensors[2].bytes, 0u);
  EXPECT_EQ(header.metadata, (Metadata{{"a", "b"}}));
  EXPECT_EQ(header.data_start + 28, file.size());
}

TEST(Safetensors, reads_an_empty_file_of_tensors) {
  EXPECT_TRUE(parse_safetensors(bytes_of(file_with("{}", 0)), "x").tensors.empty());
}

TEST(Safetensors, hostile_lengths) {
  EXPECT_NE(fault("").find("at least 8 bytes; got 0"), std::string::npos);
  EXPECT_NE(fault("1234567").find("got 7"), std::string::npos);
  EXPECT_NE(fault(std::string(8, '\xff')).find("18446744073709551615"), std::string::npos);
  std::string cut = file_with("{}", 0);
  cut[0] = 3;
  EXPECT_NE(fault(cut).find("header length of 3 bytes in a file of 10"), std::string::npos);
  EXPECT_NE(fault(std::string(8, '\0')).find("start with `{`"), std::string::npos);
  std::string large(8, '\0');
  const std::uint64_t length = max_header_bytes + 1;
  std::memcpy(large.data(), &length, 8);
  EXPECT_NE(fault(large).find("100000001"), std::string::npos);
}

TEST(Safetensors, hostile_json) {
  expect_fault("{", 0, "header");
  expect_fault("{}x", 0, "no valid UTF-8 JSON");
  expect_fault("{} []", 0, "no valid UTF-8 JSON");
  expect_fault("{\"\xff\xfe\":1}", 0, "no valid UTF-8 JSON at byte");
  expect_fault(R"({"w":1})", 0, "tensor `w` has a number, expected an object");
  expect_fault(R"({"w":null})", 0, "has null");
  expect_fault(R"({"w":{"dtype":1}})", 0, "has a number in `dtype`");
  expect_fault(R"({"w":{"dtype":{"a":1}}})", 0, "has an object");
  expect_fault(R"({"w":{"shape":[[1]]}})", 0, "has an array");
  expect_fault(R"({"w":{"shape":[-1]}})", 0, "has a negative number in `shape`");
  expect_fault(R"({"w":{"shape":[1.5]}})", 0, "no 64-bit integer");
  expect_fault(R"({"w":{"shape":[99999999999999999999]}})", 0, "no 64-bit integer");
  expect_fault(R"({"w":{"shape":["2"]}})", 0, "has a string");
  expect_fault(R"({"w":{"extra":1}})", 0, "unknown field `extra`");
  expect_fault(R"({"w":{"shape":[1],"shape":[1]}})", 0, "has `shape` twice");
  expect_fault(R"({"w":{"shape":[1,1,1,1,1,1,1,1,1]}})", 0, "more than 8 dimensions");
  expect_fault(R"({"w":{"dtype":"F33"}})", 0, "has dtype `F33`; expected one of F64");
  expect_fault(R"({"w":{}})", 0, "lacks dtype");
  expect_fault(R"({"w":{"dtype":"F32","shape":[1]}})", 0, "lacks data_offsets");
  expect_fault(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "lacks an end");
  expect_fault(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4, "more than two");
  expect_fault(R"({"__metadata__":{"a":1}})", 0, "has a number");
  expect_fault(R"({"__metadata__":{"a":{}}})", 0, "has an object");
  expect_fault(R"({"__metadata__":[]})", 0, "has an array");
  expect_fault(R"({"__metadata__":{"a":"b","a":"c"}})", 0, "repeats a key");
  expect_fault(R"({"__metadata__":{},"__metadata__":{}})", 0, "appears twice");
}

TEST(Safetensors, nested_bomb_stops_at_once) {
  std::string header = "{\"w\":";
  header += std::string(5'000'000, '[');
  expect_fault(header, 0, "has an array");
  std::string objects = "{";
  for (int i = 0; i < 100'000; ++i) {
    objects += "\"a\":{";
  }
  expect_fault(objects, 0, "unknown field `a`");
}

TEST(Safetensors, huge_names_are_cut_in_messages) {
  const std::string name(1'000'000, 'n');
  EXPECT_LT(fault(file_with("{\"" + name + "\":1}", 0)).size(), 300u);
}

TEST(Safetensors, hostile_layout) {
  const auto tensor = [](std::string name, std::string begin, std::string end) {
    return "\"" + name + R"(":{"dtype":"U8","shape":[)" +
           std::to_string(std::stoll(end) - std::stoll(begin)) + R"(],"data_offsets":[)" + begin +
           "," + end + "]}";
  };
  expect_fault("{" + tensor("a", "0", "4") + "," + tensor("a", "4", "8") + "}", 8,
               "`a` appears twice");
  expect_fault("{" + tensor("a", "0", "4") + "," + tensor("b", "3", "8") + "}", 8, "overlap");
  expect_fault("{" + tensor("a", "0", "4") + "," + tensor("b", "0", "4") + "}", 4, "overlap");
  expect_fault("{" + tensor("a", "0", "4") + "," + tensor("b", "5", "8") + "}", 8, "leave a hole");
  expect_fault("{" + tensor("a", "1", "4") + "}", 4, "starts at byte 1 of the data, expected 0");
  expect_fault("{" + tensor("a", "0", "9") + "}", 8, "the file has only 8; it is truncated");
  expect_fault("{" + tensor("a", "0", "7") + "}", 8, "1 are too many");
  expect_fault("{}", 1, "1 are too many");
  expect_fault(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})", 9,
               "of dtype F32 and shape [2] needs 8 bytes, its data_offsets give 9");
  expect_fault(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8,
               "ends at 0 before it starts at 8");
}

TEST(Safetensors, hostile_products) {
  // 2^62 · 4 bytes and 2^33 · 2^33 elements overflow; 0 · 2^63 and 2^62 · 0 · 2^62 must not hide
  // it.
  for (const char* shape : {"4611686018427387904", "8589934592,8589934592", "0,9223372036854775808",
                            "4611686018427387904,4,0", "18446744073709551615"}) {
    expect_fault(
        std::string(R"({"a":{"dtype":"F32","shape":[)") + shape + R"(],"data_offsets":[0,0]}})", 0,
        "doesn't fit 63 bits");
  }
}

TEST(Cases, SER_10_other_file_types_are_named) {
  const auto named = [](std::string_view head, std::string_view kind) {
    const std::string message = fault(std::string(head) + std::string(600, '\xee'));
    EXPECT_NE(message.find(kind), std::string::npos) << message;
    EXPECT_NE(message.find("expected a safetensors file"), std::string::npos) << message;
  };
  const auto zip = [](std::string_view name) {
    std::string head("PK\x03\x04", 4);
    head += std::string(22, '\0');
    head += std::string{static_cast<char>(name.size()), '\0', '\0', '\0'};
    return head + std::string(name);
  };
  named(zip("archive/data.pkl"), "a PyTorch .pt file (zip)");
  named(zip("weight.npy"), "a NumPy .npz file (zip)");
  named(zip("readme.txt"), "a zip archive");
  named("\x80\x02\x8a\x0a", "a pickle");
  named("GGUF\x03", "a GGUF file");
  named("\x1f\x8b\x08", "a gzip file");
  named("\x93NUMPY\x01", "a NumPy .npy file");
  named("\x89HDF\r\n\x1a\n", "an HDF5 file");
  named("version https://git-lfs.github.com/spec/v1", "a Git LFS pointer");
  named("{\"a\": 1}        ", "a JSON text");
  using namespace std::string_view_literals;
  named("\0\0\x08\x03\0\0\xea\x60"sv, "an IDX file");
}

TEST(Safetensors, layout_is_aligned_ordered_and_repeatable) {
  const std::vector<std::byte> bytes(24, std::byte{1});
  const std::span<const std::byte> all(bytes);
  const TensorView tensors[] = {{"flag", DType::boolean, {3}, all.first(3)},
                                {"half", DType::f16, {2}, all.first(4)},
                                {"wide", DType::f64, {3}, all},
                                {"word", DType::f32, {}, all.first(4)}};
  const Metadata metadata{{"z", "1"}, {"a", "2"}};
  const SafetensorsLayout layout = layout_safetensors(tensors, metadata);
  EXPECT_EQ(layout.head.size() % 8, 0u);
  EXPECT_EQ(layout.head, layout_safetensors(tensors, metadata).head);
  std::string file = layout.head;
  for (const auto piece : layout.pieces) {
    file.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  const SafetensorsHeader header = parse_safetensors(bytes_of(file), "x");
  ASSERT_EQ(header.tensors.size(), 4u);
  EXPECT_EQ(header.metadata, metadata);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(header.tensors[i].name, tensors[i].name);
    EXPECT_EQ(header.tensors[i].offset % size_of(header.tensors[i].dtype), 0u);
  }
  EXPECT_EQ(header.tensors[2].offset, 0u);
  EXPECT_EQ(header.tensors[3].offset, 24u);
}

TEST(Safetensors, writer_refuses_bad_input) {
  const std::vector<std::byte> bytes(8);
  const auto write = [&](std::vector<TensorView> tensors, Metadata metadata = {}) {
    (void)layout_safetensors(tensors, metadata);
  };
  const TensorView good{"a", DType::f32, {2}, bytes};
  EXPECT_NO_THROW(write({good}));
  EXPECT_THROW(write({good, good}), ArgumentError);
  EXPECT_THROW(write({{"__metadata__", DType::f32, {2}, bytes}}), ArgumentError);
  EXPECT_THROW(write({{"\xff", DType::f32, {2}, bytes}}), ArgumentError);
  EXPECT_THROW(write({good}, {{"k", "\xc3"}}), ArgumentError);
  EXPECT_THROW(write({{"a", DType::f32, {3}, bytes}}), ShapeError);
}

}  // namespace
}  // namespace sinter::store

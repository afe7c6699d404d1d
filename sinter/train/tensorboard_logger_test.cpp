// SPDX-License-Identifier: MIT OR Apache-2.0
// Event files, read back by a decoder of TFRecord and protobuf written for the test.
#include "sinter/train/tensorboard_logger.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter::train {
namespace {

std::uint32_t crc_bit_by_bit(std::string_view data) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
    }
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xA282EAD8;
}

template <class T>
T take(std::string_view& text) {
  T value{};
  EXPECT_GE(text.size(), sizeof value);
  std::memcpy(&value, text.data(), std::min(text.size(), sizeof value));
  text.remove_prefix(std::min(text.size(), sizeof value));
  return value;
}

// Whole records, with both checksums right.
std::vector<std::string> records(std::string_view file) {
  std::vector<std::string> list;
  while (!file.empty()) {
    const std::string_view head = file.substr(0, 8);
    const auto length = take<std::uint64_t>(file);
    EXPECT_EQ(take<std::uint32_t>(file), crc_bit_by_bit(head));
    list.emplace_back(file.substr(0, length));
    file.remove_prefix(std::min<std::size_t>(length, file.size()));
    EXPECT_EQ(take<std::uint32_t>(file), crc_bit_by_bit(list.back()));
  }
  return list;
}

std::uint64_t varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (int shift = 0; !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      break;
    }
  }
  return value;
}

// A message's fields by number, as the bytes of each.
std::multimap<int, std::string> fields(std::string_view text) {
  std::multimap<int, std::string> found;
  while (!text.empty()) {
    const std::uint64_t key = varint(text);
    const std::string_view before = text;
    std::size_t size = key % 8 == 1 ? 8 : 4;
    if (key % 8 == 0) {
      const std::uint64_t value = varint(text);
      found.emplace(static_cast<int>(key / 8), std::to_string(value));
      continue;
    }
    if (key % 8 == 2) {
      size = varint(text);
    }
    EXPECT_LE(size, text.size()) << "within " << before.size();
    found.emplace(static_cast<int>(key / 8), text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  return found;
}

struct Scalars {
  std::int64_t step = 0;
  std::map<std::string, float> values;
};
Scalars scalars(const std::string& record) {
  const auto event = fields(record);
  Scalars out;
  out.step = std::stoll(event.find(2)->second);
  const auto summary = fields(event.find(5)->second);
  for (const auto& [number, entry] : summary) {
    EXPECT_EQ(number, 1);
    const auto value = fields(entry);
    std::string_view bytes = value.find(2)->second;
    out.values[value.find(1)->second] = take<float>(bytes);
  }
  return out;
}

TEST(Cases, TRN_09_tensorboard_event_files) {
  EXPECT_EQ(crc_bit_by_bit("123456789"), (0xE3069283u >> 15 | 0xE3069283u << 17) + 0xA282EAD8u);
  const std::string folder = os::join_path(
      os::temporary_directory(), "sinter_tensorboard_" + std::to_string(os::process_id()));
  {
    TensorBoardLogger logger(folder);
    const MetricInfo metrics[] = {{.name = "loss"}, {.name = "accuracy"}};
    const double batch[] = {0.5, 75}, epoch[] = {0.25, 80};
    logger.step({.step = 300,
                 .learning_rate = 0.125,
                 .metrics = metrics,
                 .batch_values = batch,
                 .values = {}});
    logger.step({.split = Split::valid, .metrics = metrics, .batch_values = batch, .values = {}});
    logger.split_end({.step = 300, .metrics = metrics, .values = epoch});
    logger.split_end({.split = Split::valid, .step = 300, .metrics = metrics, .values = epoch});
  }
  for (const char* split : {"train", "valid"}) {
    SCOPED_TRACE(split);
    const std::string at = os::join_path(folder, split);
    const std::vector<std::string> names = os::list_directory(at);
    ASSERT_EQ(names.size(), 1u);
    EXPECT_TRUE(names[0].starts_with("events.out.tfevents.")) << names[0];
    const std::vector<std::string> list = records(os::read_file(os::join_path(at, names[0])));
    const bool train = split == std::string_view("train");
    ASSERT_EQ(list.size(), train ? 3u : 2u);
    EXPECT_EQ(fields(list[0]).find(3)->second, "brain.Event:2");
    const Scalars last = scalars(list.back());
    EXPECT_EQ(last.step, 300);
    EXPECT_EQ(last.values,
              (std::map<std::string, float>{{"epoch/loss", 0.25f}, {"epoch/accuracy", 80.0f}}));
    if (train) {
      const Scalars step = scalars(list[1]);
      EXPECT_EQ(step.step, 300);
      EXPECT_EQ(step.values.at("step/loss"), 0.5f);
      EXPECT_EQ(step.values.at("step/learning_rate"), 0.125f);
    }
  }
  os::remove_tree(folder);
}

}  // namespace
}  // namespace sinter::train

// SPDX-License-Identifier: MIT OR Apache-2.0
// Event files: protobuf messages by hand, as there are three of them.
#include "sinter/train/tensorboard_logger.hpp"

#include <array>
#include <bit>
#include <concepts>

#include "sinter/base/os/clock.hpp"
#include "sinter/base/os/file.hpp"

namespace sinter::train {

namespace {

template <std::unsigned_integral T>
void append_little_endian(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

// CRC-32C (Castagnoli), reflected.
std::uint32_t crc32c(std::string_view data) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) {
        crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0u);
      }
      entries[i] = crc;
    }
    return entries;
  }();
  std::uint32_t crc = ~0u;
  for (const char c : data) {
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  }
  return ~crc;
}

// As TFRecord stores it, so that a checksum of data that holds checksums is none of a special kind.
std::uint32_t masked_crc(std::string_view data) {
  return std::rotr(crc32c(data), 15) + 0xA282EAD8u;
}

std::string record(std::string_view data) {
  std::string out;
  append_little_endian(out, std::uint64_t{data.size()});
  append_little_endian(out, masked_crc(out));
  out += data;
  append_little_endian(out, masked_crc(data));
  return out;
}

// Fields of a protobuf message: a number and a wire type, then the value.
enum Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  out += static_cast<char>(value);
}
void append_key(std::string& out, int field, Wire wire) {
  append_varint(out, static_cast<std::uint64_t>(field << 3 | wire));
}
void append_bytes(std::string& out, int field, std::string_view value) {
  append_key(out, field, bytes);
  append_varint(out, value.size());
  out += value;
}

// Summary.Value {tag = 1, simple_value = 2}, as an entry of Summary {value = 1}.
void append_scalar(std::string& out, const std::string& tag, double value) {
  std::string message;
  append_bytes(message, 1, tag);
  append_key(message, 2, fixed32);
  append_little_endian(message, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  append_bytes(out, 1, message);
}

// Event {wall_time = 1, step = 2, and file_version = 3 or summary = 5}.
std::string event(std::int64_t step, int field, std::string_view content) {
  std::string out;
  append_key(out, 1, fixed64);
  append_little_endian(out, std::bit_cast<std::uint64_t>(os::wall_seconds()));
  append_key(out, 2, varint);
  append_varint(out, static_cast<std::uint64_t>(step));
  append_bytes(out, field, content);
  return out;
}

}  // namespace

TensorBoardLogger::TensorBoardLogger(std::string folder) : folder_(std::move(folder)) {
  os::create_directories(folder_);
}

void TensorBoardLogger::step(const StepInfo& info) {
  if (info.split != Split::train) {
    return;
  }
  std::string values;
  for (std::size_t i = 0; i < info.batch_values.size(); ++i) {
    append_scalar(values, "step/" + info.metrics[i].name, info.batch_values[i]);
  }
  append_scalar(values, "step/learning_rate", info.learning_rate);
  append_scalar(values, "step/items_per_second", info.items_per_second);
  write(info.split, info.step, values);
}

void TensorBoardLogger::split_end(const SplitInfo& info) {
  std::string values;
  for (std::size_t i = 0; i < info.values.size(); ++i) {
    append_scalar(values, "epoch/" + info.metrics[i].name, info.values[i]);
  }
  write(info.split, info.step, values);
}

void TensorBoardLogger::write(Split split, std::int64_t step, std::string_view values) {
  constexpr int version_field = 3;
  constexpr int summary_field = 5;
  std::string& path = paths_[static_cast<std::size_t>(split)];
  if (path.empty()) {
    const std::string folder = os::join_path(folder_, std::string(split_name(split)));
    os::create_directories(folder);
    const auto second = static_cast<std::int64_t>(os::wall_seconds());
    path = os::join_path(folder, "events.out.tfevents." + std::to_string(second) + ".sinter");
    os::append_file(path, record(event(0, version_field, "brain.Event:2")));
  }
  os::append_file(path, record(event(step, summary_field, values)));
}

}  // namespace sinter::train

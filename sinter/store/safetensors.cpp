// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading, checking and laying out safetensors files.
// Format: https://huggingface.co/docs/safetensors (8 bytes of little-endian header length, the
// header, then the data without holes).
#include "sinter/store/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <unordered_set>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/store/detail/json.hpp"
#include "sinter/store/file_kind.hpp"
#include "sinter/store/text.hpp"

namespace sinter::store {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

constexpr std::string_view metadata_key = "__metadata__";

// In the order of DType.
constexpr std::string_view format_names[dtype_count] = {"F64",     "F32", "F16", "BF16", "F8_E4M3",
                                                        "F8_E5M2", "I64", "I32", "I16",  "I8",
                                                        "U64",     "U32", "U16", "U8",   "BOOL"};

// Receives the header's JSON piece by piece and refuses whatever the format doesn't have, so that
// deep nesting, repeated names or wrong types stop at once and nothing is built from them.
class HeaderReader : public detail::JsonReader {
 public:
  HeaderReader(SafetensorsHeader& out, std::string_view origin) : out_(out), origin_(origin) {}

  bool number(std::uint64_t value) override {
    if (place_ == Place::shape) {
      dims_.push_back(value);
      if (dims_.size() > static_cast<std::size_t>(max_rank)) {
        fail(fmt::format("has more than {} dimensions", max_rank));
      }
      return true;
    }
    if (place_ == Place::offsets) {
      offsets_.push_back(value);
      if (offsets_.size() > 2) {
        fail("has more than two data_offsets");
      }
      return true;
    }
    return wrong("a number");
  }

  bool string(std::string&& value) override {
    if (place_ == Place::metadata) {
      if (!out_.metadata.emplace(std::move(field_), std::move(value)).second) {
        fail("repeats a key");
      }
      return true;
    }
    if (place_ != Place::tensor || field_ != "dtype") {
      return wrong("a string");
    }
    const auto* found = std::find(std::begin(format_names), std::end(format_names), value);
    if (found == std::end(format_names)) {
      fail(
          fmt::format("has dtype `{}`; expected one of F64, F32, F16, BF16, F8_E4M3, F8_E5M2, "
                      "I64, I32, I16, I8, U64, U32, U16, U8, BOOL",
                      clip(value)));
    }
    tensor_.dtype = static_cast<DType>(found - std::begin(format_names));
    return true;
  }

  bool start_object() override {
    if (place_ == Place::nothing) {
      place_ = Place::top;
    } else if (place_ == Place::top) {
      place_ = tensor_.name == metadata_key ? Place::metadata : Place::tensor;
      seen_ = 0;
    } else {
      return wrong("an object");
    }
    return true;
  }

  bool key(std::string&& name) override {
    if (place_ == Place::top) {
      tensor_ = TensorInfo{};
      tensor_.name = std::move(name);
      if (!names_.insert(tensor_.name).second) {
        fail("appears twice");
      }
      return true;
    }
    field_ = std::move(name);
    if (place_ == Place::tensor) {
      see_field();
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      finish_tensor();
    }
    place_ = place_ == Place::top ? Place::done : Place::top;
    return true;
  }

  bool start_array() override {
    if (place_ == Place::tensor && field_ == "shape") {
      place_ = Place::shape;
      dims_.clear();
    } else if (place_ == Place::tensor && field_ == "data_offsets") {
      place_ = Place::offsets;
      offsets_.clear();
    } else {
      return wrong("an array");
    }
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  void damaged(std::size_t position) override {
    throw FormatError(fmt::format(
        "{}: the header is no valid UTF-8 JSON at byte {}; the file is damaged or not safetensors",
        origin_, position));
  }

  bool wrong(std::string_view got) override {
    constexpr std::string_view expected[] = {
        "an object", "an object", "a string",    "dtype, shape and data_offsets",
        "sizes",     "two sizes", "nothing more"};
    std::string field;
    if (place_ >= Place::metadata && place_ <= Place::offsets) {
      field = fmt::format(" in `{}`", clip(field_));
    }
    fail(fmt::format("has {}{}, expected {}", got, field, expected[static_cast<int>(place_)]));
  }

 private:
  enum class Place { nothing, top, metadata, tensor, shape, offsets, done };

  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("{}: {} {}", origin_, where(), what));
  }

  std::string where() const {
    if (place_ == Place::nothing || place_ == Place::done) {
      return "the header";
    }
    return tensor_.name == metadata_key ? std::string(metadata_key)
                                        : fmt::format("tensor `{}`", clip(tensor_.name));
  }

  void see_field() {
    const unsigned bit = field_ == "dtype"          ? 1u
                         : field_ == "shape"        ? 2u
                         : field_ == "data_offsets" ? 4u
                                                    : 0u;
    if (bit == 0) {
      fail(fmt::format("has an unknown field `{}`; expected dtype, shape and data_offsets",
                       clip(field_)));
    }
    if (seen_ & bit) {
      fail(fmt::format("has `{}` twice", field_));
    }
    seen_ |= bit;
  }

  void finish_tensor() {
    if (seen_ != 7) {
      fail(fmt::format("lacks {}", !(seen_ & 1)   ? "dtype"
                                   : !(seen_ & 2) ? "shape"
                                                  : "data_offsets"));
    }
    if (offsets_.size() != 2) {
      fail("lacks an end in data_offsets");
    }
    if (offsets_[0] > offsets_[1]) {
      fail(fmt::format("ends at {} before it starts at {}", offsets_[1], offsets_[0]));
    }
    tensor_.offset = offsets_[0];
    tensor_.bytes = offsets_[1] - offsets_[0];
    check_size();
    out_.tensors.push_back(std::move(tensor_));
  }

  // The product of shape and element size must be the number of bytes; a size of 0 anywhere makes
  // it 0, but each product before it must fit all the same.
  void check_size() {
    std::uint64_t count = 1;
    std::uint64_t bytes = 0;
    bool fits = true;
    for (const std::uint64_t dim : dims_) {
      fits = fits && dim <= static_cast<std::uint64_t>(INT64_MAX) &&
             !__builtin_mul_overflow(count, dim, &count) &&
             count <= static_cast<std::uint64_t>(INT64_MAX);
      tensor_.shape.push_back(static_cast<std::int64_t>(dim));
    }
    fits = fits && !__builtin_mul_overflow(count, size_of(tensor_.dtype), &bytes);
    if (!fits) {
      fail(fmt::format("has sizes [{}] whose product doesn't fit 63 bits", fmt::join(dims_, ", ")));
    }
    if (bytes != tensor_.bytes) {
      fail(fmt::format("of dtype {} and shape {} needs {} bytes, its data_offsets give {}",
                       safetensors_name(tensor_.dtype), tensor_.shape.str(), bytes, tensor_.bytes));
    }
  }

  SafetensorsHeader& out_;
  std::string_view origin_;
  Place place_ = Place::nothing;
  TensorInfo tensor_;
  std::string field_;
  unsigned seen_ = 0;
  std::vector<std::uint64_t> dims_;
  std::vector<std::uint64_t> offsets_;
  std::unordered_set<std::string> names_;
};

// The tensors must cover the data exactly: no hole, no overlap, no rest.
void check_cover(const SafetensorsHeader& header, std::uint64_t data_size,
                 std::string_view origin) {
  std::vector<const TensorInfo*> order;
  for (const TensorInfo& tensor : header.tensors) {
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const TensorInfo* a, const TensorInfo* b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  std::uint64_t end = 0;
  for (const TensorInfo* tensor : order) {
    if (tensor->offset != end) {
      throw FormatError(
          fmt::format("{}: tensor `{}` starts at byte {} of the data, expected {}: tensors {}",
                      origin, clip(tensor->name), tensor->offset, end,
                      tensor->offset < end ? "overlap" : "leave a hole"));
    }
    if (tensor->bytes > data_size - end) {
      throw FormatError(fmt::format(
          "{}: tensor `{}` ends at byte {} of the data, but the file has only {}; it is truncated",
          origin, clip(tensor->name), tensor->offset + tensor->bytes, data_size));
    }
    end += tensor->bytes;
  }
  if (end != data_size) {
    throw FormatError(
        fmt::format("{}: the file has {} bytes of data, its header describes {}; {} are too many",
                    origin, data_size, end, data_size - end));
  }
}

[[noreturn]] void not_safetensors(std::span<const std::byte> file, std::string_view origin,
                                  const std::string& why) {
  if (const std::string_view kind = file_kind(file); !kind.empty()) {
    throw FormatError(fmt::format("{}: expected a safetensors file, got {}", origin, kind));
  }
  throw FormatError(fmt::format("{}: expected a safetensors file, {}", origin, why));
}

// Appends `text` as a JSON string; `what` names it in the error.
void append_text(std::string& out, std::string_view what, std::string_view text) {
  if (!detail::append_json(out, text)) {
    throw ArgumentError(
        fmt::format("safetensors: {} `{}` is not valid UTF-8; rename it", what, clip(text)));
  }
}

void append_metadata(std::string& out, const Metadata& metadata) {
  append_text(out, "the name", metadata_key);
  char before = '{';
  out += ':';
  for (const auto& [key, value] : metadata) {
    out += before;
    append_text(out, "the metadata key", key);
    out += ':';
    append_text(out, "the metadata value", value);
    before = ',';
  }
  out += '}';
}

// The header, padded so that the data starts at a multiple of 8.
std::string header_text(std::span<const TensorView> tensors, std::span<const std::uint64_t> offsets,
                        const Metadata& metadata) {
  std::unordered_set<std::string_view> names{metadata_key};
  std::string text = "{";
  if (!metadata.empty()) {
    append_metadata(text, metadata);
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& tensor = tensors[i];
    if (text.size() > 1) {
      text += ',';
    }
    append_text(text, "the tensor name", tensor.name);
    if (!names.insert(tensor.name).second) {
      throw ArgumentError(fmt::format("safetensors: the name `{}` is {}", clip(tensor.name),
                                      tensor.name == metadata_key ? "reserved" : "used twice"));
    }
    text += fmt::format(R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        safetensors_name(tensor.dtype), fmt::join(tensor.shape, ","), offsets[i],
                        offsets[i] + tensor.bytes.size());
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > max_header_bytes) {
    throw ArgumentError(
        fmt::format("safetensors: a header of {} bytes is too long; at most {} can "
                    "be read back",
                    text.size(), max_header_bytes));
  }
  return text;
}

}  // namespace

std::string_view safetensors_name(DType dtype) { return format_names[static_cast<int>(dtype)]; }

SafetensorsHeader parse_safetensors(std::span<const std::byte> file, std::string_view origin) {
  if (file.size() < 8) {
    not_safetensors(file, origin, fmt::format("which has at least 8 bytes; got {}", file.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  if (length > max_header_bytes) {
    not_safetensors(file, origin,
                    fmt::format("got a header length of {} bytes; at most {} are "
                                "read",
                                length, max_header_bytes));
  }
  if (length > file.size() - 8) {
    not_safetensors(file, origin,
                    fmt::format("got a header length of {} bytes in a file of {}; it "
                                "is truncated or another format",
                                length, file.size()));
  }
  const auto* text = reinterpret_cast<const char*>(file.data()) + 8;
  if (length < 2 || text[0] != '{') {
    not_safetensors(file, origin, "but its header doesn't start with `{`");
  }
  SafetensorsHeader header;
  header.data_start = 8 + length;
  HeaderReader reader(header, origin);
  // The reader throws at the first fault, so the result says nothing more.
  detail::read_json({text, length}, reader);
  check_cover(header, file.size() - header.data_start, origin);
  return header;
}

SafetensorsLayout layout_safetensors(std::span<const TensorView> tensors,
                                     const Metadata& metadata) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return size_of(tensors[a].dtype) > size_of(tensors[b].dtype);
  });
  SafetensorsLayout layout;
  std::vector<std::uint64_t> offsets(tensors.size());
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    const TensorView& tensor = tensors[i];
    const auto expected =
        static_cast<std::uint64_t>(num_elements(tensor.shape)) * size_of(tensor.dtype);
    if (tensor.bytes.size() != expected) {
      throw ShapeError(
          fmt::format("safetensors: tensor `{}` of shape {} and dtype {} needs {} "
                      "bytes, got {}",
                      clip(tensor.name), tensor.shape.str(), name_of(tensor.dtype), expected,
                      tensor.bytes.size()));
    }
    offsets[i] = end;
    end += expected;
    layout.pieces.push_back(tensor.bytes);
  }
  const std::string text = header_text(tensors, offsets, metadata);
  const std::uint64_t length = text.size();
  layout.head.assign(reinterpret_cast<const char*>(&length), sizeof length);
  layout.head += text;
  return layout;
}

void write_layout(const std::string& path, const SafetensorsLayout& layout) {
  os::AtomicFile file(path);
  file.write(layout.head.data(), layout.head.size());
  for (const auto piece : layout.pieces) {
    file.write(piece.data(), piece.size());
  }
  file.commit();
}

void write_safetensors(const std::string& path, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  write_layout(path, layout_safetensors(tensors, metadata));
}

}  // namespace sinter::store

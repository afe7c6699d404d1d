// SPDX-License-Identifier: MIT OR Apache-2.0
// Row copies: the inner loops of collation.
#include "sinter/data/rows.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sinter/base/error.hpp"

namespace sinter::data {
namespace {

Shape row_shape(const HostData& source) {
  if (source.shape().rank() == 0) {
    throw ShapeError("rows: a scalar has no rows; expected shape [n, …]");
  }
  Shape shape = source.shape();
  shape.erase(0);
  return shape;
}

std::size_t row_bytes(const HostData& source) {
  return static_cast<std::size_t>(num_elements(row_shape(source))) * size_of(source.dtype());
}

void normalize(const std::uint8_t* __restrict in, std::int64_t count, float scale, float shift,
               float* __restrict out) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(in[i]) * scale + shift;
  }
}

}  // namespace

void check_index(std::int64_t i, std::int64_t size, const char* what) {
  if (i < 0 || i >= size) {
    throw IndexError(fmt::format("{}: index {} is outside [0, {})", what, i, size));
  }
}

HostData row(const HostData& source, std::int64_t i) {
  HostData out(row_shape(source), source.dtype());
  check_index(i, source.shape()[0], "row");
  const std::size_t bytes = out.bytes().size();
  if (bytes != 0) {
    std::memcpy(out.bytes().data(), source.bytes().data() + static_cast<std::size_t>(i) * bytes,
                bytes);
  }
  return out;
}

HostData gather_rows(const HostData& source, std::span<const std::int64_t> indices) {
  const std::size_t bytes = row_bytes(source);
  Shape shape = source.shape();
  shape[0] = static_cast<std::int64_t>(indices.size());
  HostData out(shape, source.dtype());
  const std::byte* from = source.bytes().data();
  std::byte* to = out.bytes().data();
  for (const std::int64_t i : indices) {
    check_index(i, source.shape()[0], "gather_rows");
    if (bytes != 0) {
      std::memcpy(to, from + static_cast<std::size_t>(i) * bytes, bytes);
      to += bytes;
    }
  }
  return out;
}

HostData stack_rows(std::span<const HostData> items) {
  if (items.empty()) {
    throw ArgumentError("stack_rows: there are no items, so the shape of a batch is unknown");
  }
  const HostData& first = items[0];
  Shape shape = first.shape();
  shape.insert(0, static_cast<std::int64_t>(items.size()));
  HostData out(shape, first.dtype());
  const std::size_t bytes = first.bytes().size();
  std::byte* to = out.bytes().data();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].dtype() != first.dtype()) {
      throw DTypeError(fmt::format("stack_rows: item {} is {}, item 0 is {}; cast them first", i,
                                   name_of(items[i].dtype()), name_of(first.dtype())));
    }
    if (items[i].shape() != first.shape()) {
      throw ShapeError(
          fmt::format("stack_rows: item {} has shape {}, item 0 has {}; pad or crop "
                      "them first",
                      i, items[i].shape().str(), first.shape().str()));
    }
    if (bytes != 0) {
      std::memcpy(to, items[i].bytes().data(), bytes);
      to += bytes;
    }
  }
  return out;
}

void gather_normalized(const HostData& source, std::span<const std::int64_t> indices,
                       std::span<const float> scale, std::span<const float> shift, float* out) {
  const Shape& shape = source.shape();
  if (shape.rank() != 4 || static_cast<std::size_t>(shape[1]) != scale.size() ||
      scale.size() != shift.size()) {
    throw ShapeError(fmt::format("gather_normalized: expected images [n, {}, h, w], got {}",
                                 scale.size(), shape.str()));
  }
  const std::uint8_t* pixels = source.as<std::uint8_t>().data();
  const std::int64_t plane = shape[2] * shape[3];
  for (const std::int64_t i : indices) {
    check_index(i, shape[0], "gather_normalized");
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      normalize(pixels + (i * shape[1] + c) * plane, plane, scale[static_cast<std::size_t>(c)],
                shift[static_cast<std::size_t>(c)], out);
      out += plane;
    }
  }
}

}  // namespace sinter::data

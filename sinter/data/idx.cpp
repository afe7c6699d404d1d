// SPDX-License-Identifier: MIT OR Apache-2.0
// IDX: two zero bytes, a type code, the rank, big-endian sizes, big-endian elements.
// Source: http://yann.lecun.com/exdb/mnist/ ("the IDX file format").
#include "sinter/data/idx.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"

namespace sinter::data {
namespace {

class Source {
 public:
  virtual ~Source() = default;
  /// Reads up to `out.size()` bytes; fewer only at the end.
  virtual std::size_t read(std::span<std::byte> out) = 0;
  /// The most bytes that can still come.
  virtual std::uint64_t most_left() const = 0;
};

class PlainSource final : public Source {
 public:
  explicit PlainSource(std::span<const std::byte> file) : rest_(file) {}

  std::size_t read(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), count, out.begin());
    rest_ = rest_.subspan(count);
    return count;
  }
  std::uint64_t most_left() const override { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

class GzipSource final : public Source {
 public:
  GzipSource(std::span<const std::byte> file, std::string_view origin)
      : rest_(file), origin_(origin) {
    // 15 window bits, and 16 for the gzip wrapper with its checksum.
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) {
      throw OutOfMemoryError(fmt::format("{}: no memory to decompress", origin));
    }
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<std::byte> out) override {
    std::size_t done = 0;
    while (done < out.size() && !ended_) {
      done += step(out.subspan(done));
    }
    return done;
  }

  // Deflate makes at most 1032 bytes of one.
  std::uint64_t most_left() const override {
    return (rest_.size() + stream_.avail_in + 64) * std::uint64_t{1032};
  }

 private:
  std::size_t step(std::span<std::byte> out) {
    if (stream_.avail_in == 0) {
      const std::size_t chunk = std::min<std::size_t>(rest_.size(), INT_MAX);
      // zlib reads only; its interface predates const.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
      stream_.avail_in = static_cast<uInt>(chunk);
      rest_ = rest_.subspan(chunk);
    }
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size(), INT_MAX));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t made = room - stream_.avail_out;
    if (result == Z_STREAM_END) {
      // A gzip file may have several members; whatever else follows is damage.
      if (stream_.avail_in == 0 && rest_.empty()) {
        ended_ = true;
      } else if (inflateReset(&stream_) != Z_OK) {
        fail("could not go on after its first part");
      }
    } else if (result == Z_BUF_ERROR ||
               (result == Z_OK && made == 0 && stream_.avail_in == 0 && rest_.empty())) {
      fail("is truncated");
    } else if (result != Z_OK) {
      fail(stream_.msg ? stream_.msg : "is damaged");
    }
    return made;
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw FormatError(fmt::format("{}: the gzip data is damaged: {}", origin_, what));
  }

  z_stream stream_{};
  std::span<const std::byte> rest_;
  std::string_view origin_;
  bool ended_ = false;
};

DType dtype_of_code(unsigned code, std::string_view origin) {
  switch (code) {
    case 0x08:
      return DType::u8;
    case 0x09:
      return DType::i8;
    case 0x0b:
      return DType::i16;
    case 0x0c:
      return DType::i32;
    case 0x0d:
      return DType::f32;
    case 0x0e:
      return DType::f64;
    default:
      throw FormatError(
          fmt::format("{}: expected an IDX type code of 0x08, 0x09, 0x0b, 0x0c, 0x0d "
                      "or 0x0e, got {:#04x}",
                      origin, code));
  }
}

void to_native(std::span<std::byte> bytes, std::size_t size) {
  if (size > 1) {
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
    }
  }
}

struct Head {
  DType dtype;
  Shape shape;
  std::uint64_t bytes = 0;
};

Head read_head(Source& source, std::string_view origin) {
  std::byte magic[4] = {};
  const std::size_t bytes = source.read(magic);
  if (bytes < 4) {
    throw FormatError(
        fmt::format("{}: expected an IDX file, which starts with two zero bytes, a "
                    "type and a rank; got {} bytes in all",
                    origin, bytes));
  }
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0}) {
    throw FormatError(
        fmt::format("{}: expected an IDX file, which starts with two zero bytes, a "
                    "type and a rank; got {:02x} {:02x} {:02x} {:02x}",
                    origin, std::to_integer<int>(magic[0]), std::to_integer<int>(magic[1]),
                    std::to_integer<int>(magic[2]), std::to_integer<int>(magic[3])));
  }
  Head head{dtype_of_code(std::to_integer<unsigned>(magic[2]), origin), {}};
  const int rank = std::to_integer<int>(magic[3]);
  if (rank < 1 || rank > max_rank) {
    throw FormatError(
        fmt::format("{}: expected 1 to {} dimensions, got {}", origin, max_rank, rank));
  }
  std::uint64_t count = 1;
  bool fits = true;
  for (int i = 0; i < rank; ++i) {
    std::byte field[4];
    if (source.read(field) != 4) {
      throw FormatError(
          fmt::format("{}: the file ends in its header, before size {} of {}", origin, i, rank));
    }
    std::uint32_t size = 0;
    for (const std::byte byte : field) {
      size = size << 8 | std::to_integer<std::uint32_t>(byte);
    }
    fits = fits && !__builtin_mul_overflow(count, std::uint64_t{size}, &count) &&
           count <= static_cast<std::uint64_t>(INT64_MAX);
    head.shape.push_back(size);
  }
  fits = fits && !__builtin_mul_overflow(count, size_of(head.dtype), &head.bytes);
  if (!fits) {
    throw FormatError(fmt::format("{}: the product of the sizes {} doesn't fit 63 bits", origin,
                                  head.shape.str()));
  }
  return head;
}

HostData read_all(Source& source, std::string_view origin) {
  const Head head = read_head(source, origin);
  const auto truncated = [&](std::string_view got) {
    return FormatError(
        fmt::format("{}: sizes {} of {} promise {} bytes, the file holds {}; it is "
                    "truncated",
                    origin, head.shape.str(), name_of(head.dtype), head.bytes, got));
  };
  if (head.bytes > source.most_left()) {
    throw truncated(fmt::format("at most {}", source.most_left()));
  }
  // Memory grows with what really comes, not with what the header promises.
  constexpr std::uint64_t step = std::uint64_t{64} << 20;
  std::vector<std::byte> bytes;
  while (bytes.size() < head.bytes) {
    const std::uint64_t had = bytes.size();
    bytes.resize(std::min(head.bytes, std::max(step, 2 * had)));
    const std::size_t got = source.read(std::span(bytes).subspan(had));
    if (had + got < bytes.size()) {
      throw truncated(fmt::format("{}", had + got));
    }
  }
  std::byte extra[1];
  if (source.read(extra) != 0) {
    throw FormatError(
        fmt::format("{}: the file goes on after the {} bytes that sizes {} of {} "
                    "promise",
                    origin, head.bytes, head.shape.str(), name_of(head.dtype)));
  }
  to_native(bytes, size_of(head.dtype));
  return HostData(head.shape, head.dtype, std::move(bytes));
}

}  // namespace

HostData parse_idx(std::span<const std::byte> file, std::string_view origin) {
  if (file.size() >= 2 && file[0] == std::byte{0x1f} && file[1] == std::byte{0x8b}) {
    GzipSource source(file, origin);
    return read_all(source, origin);
  }
  PlainSource source(file);
  return read_all(source, origin);
}

HostData read_idx(const std::string& path) {
  const os::MappedFile file(path);
  return parse_idx(file.bytes(), path);
}

}  // namespace sinter::data

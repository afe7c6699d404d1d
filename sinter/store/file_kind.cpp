// SPDX-License-Identifier: MIT OR Apache-2.0
// File types recognised by their first bytes.
#include "sinter/store/file_kind.hpp"

#include <algorithm>

namespace sinter::store {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  std::string_view kind;
};

constexpr Magic magics[] = {
    {"GGUF"sv, "a GGUF file"},
    {"ggjt"sv, "a GGML file"},
    {"\x93NUMPY"sv, "a NumPy .npy file"},
    {"\x1f\x8b"sv, "a gzip file; decompress it first"},
    {"\x28\xb5\x2f\xfd"sv, "a zstd file; decompress it first"},
    {"\xfd"
     "7zXZ"sv,
     "an xz file; decompress it first"},
    {"BZh"sv, "a bzip2 file; decompress it first"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file"},
    {"\x89PNG"sv, "a PNG image"},
    {"\xff\xd8\xff"sv, "a JPEG image"},
    {"SQLite format 3"sv, "an SQLite database"},
    {"PAR1"sv, "a Parquet file"},
    {"\x7f"
     "ELF"sv,
     "an ELF program or library"},
    {"version https://git-lfs"sv, "a Git LFS pointer; fetch the real file with `git lfs pull`"},
    {"<!DOCTYPE"sv, "an HTML page (a failed download?)"},
    {"<html"sv, "an HTML page (a failed download?)"},
};

// A zip's first local header holds the first member's name at byte 30.
std::string_view zip_kind(std::string_view head) {
  std::string_view name;
  if (head.size() > 30) {
    const std::size_t length =
        static_cast<unsigned char>(head[26]) + 256u * static_cast<unsigned char>(head[27]);
    name = head.substr(30, length);
  }
  if (name.ends_with(".npy")) {
    return "a NumPy .npz file (zip)";
  }
  if (name.ends_with("data.pkl") || name.find("/data/") != name.npos ||
      name.ends_with("/version")) {
    return "a PyTorch .pt file (zip)";
  }
  return "a zip archive (perhaps a PyTorch .pt or NumPy .npz file)";
}

}  // namespace

std::string_view file_kind(std::span<const std::byte> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min<std::size_t>(bytes.size(), 1024));
  if (head.starts_with("PK\x03\x04"sv) || head.starts_with("PK\x05\x06"sv)) {
    return zip_kind(head);
  }
  for (const Magic& magic : magics) {
    if (head.starts_with(magic.bytes)) {
      return magic.kind;
    }
  }
  // Pickle protocol 2 to 5: PROTO, version, then an opcode.
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return "a pickle (perhaps an old PyTorch .pt file)";
  }
  if (head.size() > 262 && head.substr(257, 5) == "ustar") {
    return "a tar archive";
  }
  if (head.starts_with("\x08"sv) && head.size() > 2 && head[1] > 0 && head[1] < 32 &&
      (head[2] == '\x12' || head[2] == '\x3a')) {
    return "an ONNX model (protobuf)";
  }
  // IDX: two zero bytes, a type code, the number of dimensions.
  if (head.size() > 4 && head[0] == 0 && head[1] == 0 && head[2] >= 8 && head[2] <= 14 &&
      head[3] > 0 && head[3] <= 8) {
    return "an IDX file";
  }
  if (head.starts_with("{"sv) || head.starts_with("["sv)) {
    return "a JSON text";
  }
  return {};
}

}  // namespace sinter::store

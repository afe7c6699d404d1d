// SPDX-License-Identifier: MIT OR Apache-2.0
// Finding and checking the files of Fashion-MNIST.
#include "sinter/data/fashion_mnist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/data/idx.hpp"

namespace sinter::data {
namespace {

constexpr std::string_view classes[] = {"T-shirt/top", "Trouser",   "Pullover", "Dress",
                                        "Coat",        "Sandal",    "Shirt",    "Sneaker",
                                        "Bag",         "Ankle boot"};

// The file `stem` in `folder`, gzipped or not; empty when there is none.
std::string find_in(const std::string& folder, const std::string& stem) {
  for (const char* ending : {".gz", ""}) {
    const std::string path = os::join_path(folder, stem + ending);
    if (os::path_exists(path)) {
      return path;
    }
  }
  return "";
}

std::string find_folder(const std::string& asked, const std::string& stem) {
  std::vector<std::string> folders;
  if (!asked.empty()) {
    folders = {asked};
  } else {
    if (const auto data = os::environment("SINTER_DATA"); data && !data->empty()) {
      folders = {os::join_path(*data, "fashion-mnist"), *data};
    }
    folders.emplace_back("/usr/share/datasets/fashion-mnist");
  }
  std::string tried;
  for (const std::string& folder : folders) {
    if (!find_in(folder, stem).empty()) {
      return folder;
    }
    tried += (tried.empty() ? "" : ", ") + folder;
  }
  throw IoError(
      fmt::format("Fashion-MNIST: there is no {}[.gz] in {}; install it with `apt-get "
                  "install dataset-fashion-mnist`, or name its folder in SINTER_DATA",
                  stem, tried));
}

HostData read_in(const std::string& folder, const std::string& stem) {
  const std::string path = find_in(folder, stem);
  if (path.empty()) {
    throw IoError(
        fmt::format("Fashion-MNIST: {} lacks {}[.gz]; reinstall it with `apt-get install "
                    "--reinstall dataset-fashion-mnist`",
                    folder, stem));
  }
  return read_idx(path);
}

}  // namespace

std::span<const std::string_view> fashion_mnist_classes() { return classes; }

LabelledImages load_fashion_mnist(Split split, const std::string& asked) {
  const std::string part = split == Split::train ? "train" : "t10k";
  const std::string image_stem = part + "-images-idx3-ubyte";
  const std::string folder = find_folder(asked, image_stem);
  LabelledImages out{read_in(folder, image_stem), read_in(folder, part + "-labels-idx1-ubyte")};
  const Shape& shape = out.images.shape();
  const Shape& labels = out.labels.shape();
  if (out.images.dtype() != DType::u8 || shape.rank() != 3 || shape[1] != 28 || shape[2] != 28 ||
      out.labels.dtype() != DType::u8 || labels.rank() != 1 || labels[0] != shape[0]) {
    throw FormatError(
        fmt::format("{}: expected images u8 [n, 28, 28] and labels u8 [n], got {} {} "
                    "and {} {}",
                    folder, name_of(out.images.dtype()), shape.str(), name_of(out.labels.dtype()),
                    labels.str()));
  }
  const auto values = out.labels.as<std::uint8_t>();
  const auto wrong = std::find_if(values.begin(), values.end(),
                                  [](std::uint8_t label) { return label >= std::size(classes); });
  if (wrong != values.end()) {
    throw FormatError(
        fmt::format("{}: label {} is {}, expected 0 to 9", folder, wrong - values.begin(), *wrong));
  }
  return out;
}

ImageDataset fashion_mnist(Split split, const std::string& folder) {
  LabelledImages found = load_fashion_mnist(split, folder);
  return ImageDataset(std::move(found.images), std::move(found.labels),
                      {.mean = {fashion_mnist_mean}, .std = {fashion_mnist_std}});
}

}  // namespace sinter::data

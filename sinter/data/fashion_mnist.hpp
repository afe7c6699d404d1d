// SPDX-License-Identifier: MIT OR Apache-2.0
// Fashion-MNIST (Xiao, Rasul, Vollgraf 2017): 70 000 images of clothes in ten classes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sinter/data/images.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::data {

/// train: 60 000 images; test: 10 000.
enum class Split : std::uint8_t { train, test };

/// u8 [n, 28, 28] and u8 [n], each label below 10.
struct LabelledImages {
  HostData images;
  HostData labels;
};

/// Mean and standard deviation of the training pixels.
inline constexpr float fashion_mnist_mean = 0.2860f;
inline constexpr float fashion_mnist_std = 0.3530f;

/// The names of the classes, by label.
[[nodiscard]] std::span<const std::string_view> fashion_mnist_classes();

/// Reads four files named as MNIST's ("train-images-idx3-ubyte.gz" …; also without ".gz") from
/// `folder`. Without one, from $SINTER_DATA or its folder fashion-mnist, then from where Debian's
/// package puts them. Throws IoError naming that package when there are none, FormatError when
/// their content isn't as above.
[[nodiscard]] LabelledImages load_fashion_mnist(Split split, const std::string& folder = "");

/// The same as a normalised dataset.
[[nodiscard]] ImageDataset fashion_mnist(Split split, const std::string& folder = "");

}  // namespace sinter::data

// SPDX-License-Identifier: MIT OR Apache-2.0
// Images with their predicted and true classes, as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/types/host_data.hpp"

namespace sinter::apps {

struct Prediction {
  std::string_view predicted;
  std::string_view truth;
  double probability = 0;  ///< that the model gives its prediction
};

/// f32 logits [n, classes] and i64 labels [n].
std::vector<Prediction> predictions_of(const HostData& logits, const HostData& labels,
                                       std::span<const std::string_view> classes);

/// u8 pixels [n, 1, h, w]; the first images, one for each prediction, three beside each other.
std::string side_by_side(const HostData& pixels, std::span<const Prediction> predictions);

}  // namespace sinter::apps

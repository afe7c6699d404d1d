// SPDX-License-Identifier: MIT OR Apache-2.0
// Labelled images in memory, normalised straight into the batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sinter/types/host_data.hpp"

namespace sinter::data {

/// One normalised image: f32 [c, h, w].
struct ImageItem {
  HostData image;
  std::int64_t label = 0;
};

/// images f32 [b, c, h, w], labels i64 [b].
struct ImageBatch {
  HostData images;
  HostData labels;
  std::int64_t size() const { return labels.num_elements(); }
};

/// Stacks images, for datasets that pass each through a transform.
ImageBatch collate(std::span<const ImageItem> items);

/// Pixels become (pixel / 255 - mean) / std; one value for all channels, or one for each.
struct Normalization {
  std::vector<float> mean = {0.0f};
  std::vector<float> std = {1.0f};
};

/// u8 images with labels. Copies share the pixels.
class ImageDataset {
 public:
  /// images u8 [n, h, w] or [n, c, h, w], labels of any integer dtype [n]. Throws DTypeError,
  /// ShapeError, or ArgumentError for a normalisation that doesn't fit the channels.
  ImageDataset(HostData images, HostData labels, const Normalization& normalization = {});

  std::int64_t size() const;
  ImageItem get(std::int64_t i) const;
  ImageBatch batch(std::span<const std::int64_t> indices) const;
  /// u8 [n, c, h, w].
  const HostData& pixels() const;
  /// i64 [n].
  const HostData& labels() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace sinter::data

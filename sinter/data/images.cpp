// SPDX-License-Identifier: MIT OR Apache-2.0
// Labelled images: checks, and batches without a copy in between.
#include "sinter/data/images.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/data/rows.hpp"

namespace sinter::data {

struct ImageDataset::State {
  HostData pixels;
  HostData labels;
  std::vector<float> scale;
  std::vector<float> shift;
};

ImageBatch collate(std::span<const ImageItem> items) {
  std::vector<HostData> images;
  std::vector<std::int64_t> labels;
  for (const ImageItem& item : items) {
    images.push_back(item.image);
    labels.push_back(item.label);
  }
  return {stack_rows(images), HostData({static_cast<std::int64_t>(items.size())},
                                       std::span<const std::int64_t>(labels))};
}

ImageDataset::ImageDataset(HostData images, HostData labels, const Normalization& normalization) {
  Shape shape = images.shape();
  if (shape.rank() == 3) {
    shape.insert(1, 1);
    images = images.reshaped(shape);
  }
  if (images.dtype() != DType::u8 || !is_integer(labels.dtype())) {
    throw DTypeError(
        fmt::format("ImageDataset: expected u8 images and integer labels, got {} and "
                    "{}",
                    name_of(images.dtype()), name_of(labels.dtype())));
  }
  if (shape.rank() != 4 || labels.shape().rank() != 1 || labels.shape()[0] != shape[0]) {
    throw ShapeError(
        fmt::format("ImageDataset: expected images [n, h, w] or [n, c, h, w] and "
                    "labels [n], got {} and {}",
                    shape.str(), labels.shape().str()));
  }
  auto state = std::make_shared<State>();
  const auto channels = static_cast<std::size_t>(shape[1]);
  const auto pick = [&](const std::vector<float>& values, std::size_t c) {
    if (values.size() != 1 && values.size() != channels) {
      throw ArgumentError(
          fmt::format("ImageDataset: expected 1 or {} numbers for mean and std, got "
                      "{}",
                      channels, values.size()));
    }
    return values[values.size() == 1 ? 0 : c];
  };
  for (std::size_t c = 0; c < channels; ++c) {
    const float mean = pick(normalization.mean, c);
    const float std = pick(normalization.std, c);
    if (!(std > 0)) {
      throw ArgumentError(fmt::format("ImageDataset: std must be above 0, got {}", std));
    }
    state->scale.push_back(1.0f / (255.0f * std));
    state->shift.push_back(-mean / std);
  }
  state->pixels = std::move(images);
  state->labels = labels.cast(DType::i64);
  state_ = std::move(state);
}

std::int64_t ImageDataset::size() const { return state_->pixels.shape()[0]; }
const HostData& ImageDataset::pixels() const { return state_->pixels; }
const HostData& ImageDataset::labels() const { return state_->labels; }

ImageItem ImageDataset::get(std::int64_t i) const {
  const std::int64_t indices[] = {i};
  ImageBatch one = batch(indices);
  Shape shape = one.images.shape();
  shape.erase(0);
  return {one.images.reshaped(shape), one.labels.as<std::int64_t>()[0]};
}

ImageBatch ImageDataset::batch(std::span<const std::int64_t> indices) const {
  Shape shape = state_->pixels.shape();
  shape[0] = static_cast<std::int64_t>(indices.size());
  ImageBatch out{HostData(shape, DType::f32), gather_rows(state_->labels, indices)};
  gather_normalized(state_->pixels, indices, state_->scale, state_->shift,
                    out.images.as<float>().data());
  return out;
}

}  // namespace sinter::data

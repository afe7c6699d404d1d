// SPDX-License-Identifier: MIT OR Apache-2.0
// Datasets of tensor columns.
#include "sinter/data/dataset.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"

namespace sinter::data {

ColumnDataset::ColumnDataset(std::vector<HostData> columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Shape& shape = columns[i].shape();
    if (shape.rank() == 0 || shape[0] != columns[0].shape()[0]) {
      throw ShapeError(
          fmt::format("ColumnDataset: column {} has shape {}, column 0 has {}; their "
                      "first sizes must be equal",
                      i, shape.str(), columns[0].shape().str()));
    }
  }
  size_ = columns.empty() ? 0 : columns[0].shape()[0];
  columns_ = std::make_shared<const std::vector<HostData>>(std::move(columns));
}

Sample ColumnDataset::get(std::int64_t i) const {
  Sample sample;
  for (const HostData& column : *columns_) {
    sample.push_back(row(column, i));
  }
  return sample;
}

std::vector<HostData> ColumnDataset::batch(std::span<const std::int64_t> indices) const {
  std::vector<HostData> fields;
  for (const HostData& column : *columns_) {
    fields.push_back(gather_rows(column, indices));
  }
  return fields;
}

}  // namespace sinter::data

// SPDX-License-Identifier: MIT OR Apache-2.0
// Collation of items with several fields.
#include "sinter/data/collate.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"

namespace sinter::data {

std::vector<HostData> Collate<std::vector<HostData>>::operator()(
    std::span<const std::vector<HostData>> items) const {
  std::vector<HostData> batch;
  std::vector<HostData> column;
  for (std::size_t field = 0; !items.empty() && field < items[0].size(); ++field) {
    column.clear();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].size() != items[0].size()) {
        throw ShapeError(fmt::format("collate: item {} has {} fields, item 0 has {}", i,
                                     items[i].size(), items[0].size()));
      }
      column.push_back(items[i][field]);
    }
    batch.push_back(stack_rows(column));
  }
  return batch;
}

}  // namespace sinter::data

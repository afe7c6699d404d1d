// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors as text: nested brackets, long dims abridged.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sinter/tensor/detail/core.hpp"

namespace sinter::detail {
namespace {

constexpr std::int64_t summary_above = 1000;  // elements
constexpr std::int64_t edge_items = 3;

// How all elements of one tensor are written, so that columns line up.
struct Format {
  bool scientific = false;
  int precision = 4;
  int width = 0;
};

class Printer {
 public:
  explicit Printer(const HostData& data)
      : data_(data), abridged_(data.num_elements() > summary_above) {
    collect(0, 0);
    if (is_floating(data.dtype())) {
      choose_float_format();
    }
    for (const std::int64_t i : shown_) {
      format_.width = std::max(format_.width, static_cast<int>(text(i).size()));
    }
  }

  std::string print() {
    std::string out;
    append(out, 0, 0, 0);
    return out;
  }

 private:
  // Rows of a dim that are shown; -1 stands for the gap.
  std::vector<std::int64_t> rows(int dim) const {
    const std::int64_t size = data_.shape()[dim];
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < size; ++i) {
      if (abridged_ && size > 2 * edge_items && i == edge_items) {
        out.push_back(-1);
        i = size - edge_items;
      }
      out.push_back(i);
    }
    return out;
  }

  void collect(int dim, std::int64_t base) {
    if (dim == data_.shape().rank()) {
      shown_.push_back(base);
      return;
    }
    for (const std::int64_t i : rows(dim)) {
      if (i >= 0) {
        collect(dim + 1, base * data_.shape()[dim] + i);
      }
    }
  }

  void choose_float_format() {
    double largest = 0;
    double smallest = INFINITY;
    bool whole = true;
    for (const std::int64_t i : shown_) {
      const double x = std::fabs(data_.at(i));
      if (std::isfinite(x) && x != 0) {
        largest = std::max(largest, x);
        smallest = std::min(smallest, x);
        whole = whole && x == std::floor(x);
      }
    }
    format_.scientific =
        largest >= 1e8 || (largest > 0 && smallest < 1e-4 && largest / smallest > 1e4);
    format_.precision = whole && !format_.scientific ? 1 : 4;
  }

  std::string text(std::int64_t i) const {
    if (data_.dtype() == DType::boolean) {
      return data_.at(i) != 0 ? "true" : "false";
    }
    if (data_.dtype() == DType::u64) {
      return fmt::format("{}", static_cast<std::uint64_t>(data_.int_at(i)));
    }
    if (!is_floating(data_.dtype())) {
      return fmt::format("{}", data_.int_at(i));
    }
    const double x = data_.at(i);
    if (std::isnan(x)) {
      return "nan";  // its sign, which fmt would write, means nothing
    }
    return format_.scientific ? fmt::format("{:.{}e}", x, format_.precision)
                              : fmt::format("{:.{}f}", x, format_.precision);
  }

  void append(std::string& out, int dim, std::int64_t base, int indent) {
    if (dim == data_.shape().rank()) {
      out += fmt::format("{:>{}}", text(base), dim == 0 ? 0 : format_.width);
      return;
    }
    const bool innermost = dim == data_.shape().rank() - 1;
    out += '[';
    bool first = true;
    for (const std::int64_t i : rows(dim)) {
      if (!first) {
        out += innermost ? ", " : ",\n" + std::string(static_cast<std::size_t>(indent) + 1, ' ');
      }
      first = false;
      if (i < 0) {
        out += "…";
      } else {
        append(out, dim + 1, base * data_.shape()[dim] + i, indent + 1);
      }
    }
    out += ']';
  }

  const HostData& data_;
  bool abridged_;
  std::vector<std::int64_t> shown_;
  Format format_;
};

}  // namespace

std::string print(const Value& value) {
  if (!value) {
    return "Tensor(unset)";
  }
  const HostData data = read(value);
  return fmt::format("{}\nTensor(shape={}, dtype={}, device={})", Printer(data).print(),
                     data.shape().str(), name_of(data.dtype()), value.backend().name());
}

}  // namespace sinter::detail

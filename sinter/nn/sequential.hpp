// SPDX-License-Identifier: MIT OR Apache-2.0
// Layers one after another.
#pragma once

#include <string_view>
#include <tuple>
#include <utility>

#include "sinter/nn/visit.hpp"

namespace sinter::nn {

/// Calls each layer's `forward` with the result of the one before; ranks may change on the way, and
/// a layer's further arguments take their defaults. Layers may be movable only. Paths are indices:
/// `0.weight`.
///
///     nn::Sequential net{nn::Linear{{.in = 784, .out = 128}, device}, nn::Relu{},
///                        nn::Linear{{.in = 128, .out = 10}, device}};
template <class... Layers>
class Sequential {
 public:
  Sequential()
    requires(sizeof...(Layers) > 0)
  = default;
  explicit Sequential(Layers... layers) : layers_(std::move(layers)...) {}

  template <class X>
  auto forward(const X& x) const {
    return run<0>(x);
  }
  template <int index>
  auto& get() {
    return std::get<static_cast<std::size_t>(index)>(layers_);
  }
  template <int index>
  const auto& get() const {
    return std::get<static_cast<std::size_t>(index)>(layers_);
  }
  static constexpr int size() { return static_cast<int>(sizeof...(Layers)); }

  /// For `visit`.
  template <class Self, class Visitor>
  static void sinter_children(Self& self, Visitor&& visitor) {
    std::size_t index = 0;
    std::apply([&](auto&... layer) { (visitor(std::to_string(index++), layer), ...); },
               self.layers_);
  }

 private:
  template <std::size_t index, class X>
  auto run(const X& x) const {
    if constexpr (index == sizeof...(Layers)) {
      return x;
    } else {
      return run<index + 1>(std::get<index>(layers_).forward(x));
    }
  }

  std::tuple<Layers...> layers_;
};

}  // namespace sinter::nn

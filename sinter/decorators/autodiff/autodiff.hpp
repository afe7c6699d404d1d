// SPDX-License-Identifier: MIT OR Apache-2.0
// The autodiff decorator: records how tracked values came to be, and walks that back for gradients.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "sinter/graph/backend.hpp"

namespace sinter {

/// Reverse-mode differentiation over another backend. A node is owned by the values that need it: a graph
/// dies with its last value, there is no tape and no lock. Stack two for gradients of gradients.
std::unique_ptr<Backend> make_autodiff(Backend& inner);

/// `backend` is an autodiff decorator (the outermost one).
[[nodiscard]] bool is_autodiff(const Backend& backend);

/// Gradients of leaves, as values of the backend under the autodiff that computed them.
class Gradients {
 public:
  Gradients();
  Gradients(Gradients&&) noexcept;
  Gradients& operator=(Gradients&&) noexcept;
  Gradients(const Gradients&);
  Gradients& operator=(const Gradients&);
  ~Gradients();

  /// The gradient of a leaf (or a value with retain_grad); empty if it took no part.
  [[nodiscard]] Value get(const Value& leaf) const;
  /// The same, and forgets it.
  Value remove(const Value& leaf);
  /// Sets it; `gradient` lives on the backend under autodiff.
  void replace(const Value& leaf, Value gradient);
  /// Adds another pass's gradients to these, as for accumulation over micro-batches.
  void accumulate(const Gradients& other);
  [[nodiscard]] std::size_t size() const;

  struct Map;

 private:
  friend class GradientWriter;
  std::unique_ptr<Map> map_;
};

namespace autodiff {

/// A leaf that holds `value`'s elements: gradients are computed for it. `value` lives on an autodiff
/// backend and is floating; GradientError otherwise. On stacked autodiff every level tracks it.
[[nodiscard]] Value require_grad(const Value& value);
/// Operations on `value` are recorded.
[[nodiscard]] bool is_tracked(const Value& value);
[[nodiscard]] bool is_leaf(const Value& value);
/// The same elements, not tracked.
[[nodiscard]] Value detach(const Value& value);
/// Keeps the gradient of a value that is no leaf.
void retain_grad(const Value& value);
/// `hook` sees the gradient of `value` when it is complete, and may return another in its place
/// (an empty value keeps it).
void register_hook(const Value& value, std::function<Value(const Value&)> hook);

/// Gradients of `root` (of one element unless `seed` is given, which has root's shape and lives under
/// autodiff) with respect to all leaves it depends on. Throws GradientError when root isn't tracked.
[[nodiscard]] Gradients backward(const Value& root, Value seed = {});

/// While it lives, this thread records nothing.
class NoGradScope {
 public:
  NoGradScope();
  ~NoGradScope();
  NoGradScope(const NoGradScope&) = delete;
  NoGradScope& operator=(const NoGradScope&) = delete;

 private:
  bool previous_;
};

}  // namespace autodiff
}  // namespace sinter

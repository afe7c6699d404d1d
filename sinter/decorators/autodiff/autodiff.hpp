// SPDX-License-Identifier: MIT OR Apache-2.0
// The autodiff decorator: records how tracked values came to be, and walks that back for gradients.
#pragma once

#include <cstddef>
#include <utility>

#include "sinter/graph/value.hpp"

namespace sinter {

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
  Map* map_;  // owned: a smart pointer's header costs more than all of this one
};

namespace autodiff {

/// A leaf that holds `value`'s elements: gradients are computed for it. `value` lives on an
/// autodiff backend and is floating; GradientError otherwise. On stacked autodiff every level
/// tracks it.
[[nodiscard]] Value require_grad(const Value& value);
/// Operations on `value` are recorded.
[[nodiscard]] bool is_tracked(const Value& value);
[[nodiscard]] bool is_leaf(const Value& value);
/// The same elements, not tracked.
[[nodiscard]] Value detach(const Value& value);
/// Keeps the gradient of a value that is no leaf.
void retain_grad(const Value& value);

/// A function that sees a gradient and may return another in its place; an empty value keeps it.
class Hook : public RefCounted {
 public:
  virtual Value operator()(const Value& gradient) const = 0;
};
/// `hook` is called with the gradient of `value` when it is complete.
void register_hook(const Value& value, Ref<Hook> hook);
/// The same with a callable `Value(const Value&)`.
template <class F>
  requires requires(F& f, const Value& gradient) { Value(f(gradient)); }
void register_hook(const Value& value, F function) {
  class Holder final : public Hook {
   public:
    explicit Holder(F f) : function_(std::move(f)) {}
    Value operator()(const Value& gradient) const override { return function_(gradient); }

   private:
    mutable F function_;
  };
  register_hook(value, Ref<Hook>(new Holder(std::move(function))));
}

/// Gradients of `root` (of one element unless `seed` is given, which has root's shape and lives
/// under autodiff) with respect to all leaves it depends on. Throws GradientError when root isn't
/// tracked.
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

// SPDX-License-Identifier: MIT OR Apache-2.0
// Parameters and buffers: the tensors that a module owns.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/ref.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/nn/initializer.hpp"
#include "sinter/nn/reflect.hpp"
#include "sinter/tensor/tensor.hpp"

namespace sinter::nn {

struct ParamState;

/// What a parameter is made from, until its first use.
struct ParamSpec {
  Shape shape = {};
  Initializer initializer = {};
  Fans fans = {};
  DType dtype = DType::f32;
  /// Records hold the transpose of a matrix (a weight kept in another layout than its file's).
  bool transposed_in_records = false;
};

/// A parameter or buffer without its rank: a handle. Copies share the tensor and the id; `fork`
/// makes a separate one. Reading from several threads is safe; so is the first use, which draws the
/// values.
class ParamBase {
 public:
  /// Empty: reading it is an ArgumentError.
  ParamBase() = default;

  bool empty() const { return !state_; }
  /// Stays the same for the parameter's life, over steps, devices and dtypes; 0 when empty.
  std::uint64_t id() const;
  const Shape& shape() const;
  DType dtype() const;
  Device device() const;
  /// The values were drawn, loaded or set.
  bool initialized() const;
  bool is_buffer() const;
  /// A gradient is computed for it where its device has autodiff.
  bool is_require_grad() const;
  void set_require_grad(bool require);
  /// The shape that records hold it in.
  Shape record_shape() const;
  /// A tensor of the parameter's shape in the form of records, dense; or the other way round.
  Value turned_for_records(const Value& value) const;

  /// The tensor; draws it at first use. On an autodiff device a parameter's is a leaf.
  Value value() const;
  /// Replaces the tensor in all copies of this handle. It becomes a leaf: history is dropped.
  /// ShapeError for another shape; it may bring another dtype or device.
  void set(const Value& value);

  /// A separate parameter with the same values, even if they are not drawn yet, and an id of its
  /// own.
  ParamBase fork() const;
  /// The same id and values on another device, as a separate handle.
  ParamBase to_device(const Device& device) const;
  /// The same id and values on the device under autodiff (or its own, without one).
  ParamBase valid() const;
  /// The same id and values in another dtype.
  ParamBase to_dtype(DType dtype) const;
  /// The same id and values, without gradient.
  ParamBase no_grad() const;
  /// The same id, as a separate handle that holds `value`.
  ParamBase with_value(const Value& value) const;

  /// For optimizers: takes the plain tensor out, under all autodiff, so that it can be updated in
  /// place; `put` must follow.
  Value take();
  /// Puts a plain tensor back, as a leaf on the parameter's device.
  void put(Value plain);

  bool operator==(const ParamBase&) const = default;

 protected:
  ParamBase(const ParamSpec& spec, const Device& device, bool buffer, int rank);
  ParamBase(const Value& value, bool buffer);
  /// Replaces the value by `next(value)` with the cell locked.
  template <class F>
  void update_locked(F&& next) const {
    auto call = [](void* function, const Value& value) {
      return (*static_cast<std::remove_reference_t<F>*>(function))(value);
    };
    update_erased(call, &next);
  }

 private:
  explicit ParamBase(Ref<RefCounted> state) : state_(std::move(state)) {}
  ParamState& state() const;
  void update_erased(Value (*next)(void*, const Value&), void* function) const;

  Ref<RefCounted> state_;  // a ParamState
};

/// A trainable tensor of rank `D`.
///
///     struct Scale {
///       nn::Param<1> gain{{.shape = {64}, .initializer = nn::Initializer::ones()}};
///       Tensor<2> forward(const Tensor<2>& x) const { return x * gain.tensor(); }
///     };
template <int D>
class Param : public ParamBase {
 public:
  Param() = default;
  /// Drawn at first use; the place in the device's random stream is taken now.
  explicit Param(const ParamSpec& spec, const Device& device = {})
      : ParamBase(spec, device, false, D) {}
  explicit Param(const Tensor<D>& tensor) : ParamBase(tensor.value(), false) {}
  Tensor<D> tensor() const { return Tensor<D>(value()); }
  void set(const Tensor<D>& tensor) { ParamBase::set(tensor.value()); }
  /// The gradient that `gradients` holds; nullopt if the parameter took no part.
  std::optional<Tensor<D>> grad(const Gradients& gradients) const {
    return tensor().grad(gradients);
  }
};

/// A tensor that belongs to a module's state and is not trained: running statistics. Its updates
/// are locked, and follow the order in which they are recorded.
template <int D, class K = Float>
class Buffer : public ParamBase {
 public:
  Buffer() = default;
  explicit Buffer(const ParamSpec& spec, const Device& device = {})
      : ParamBase(spec, device, true, D) {}
  explicit Buffer(const Tensor<D, K>& tensor) : ParamBase(tensor.value(), true) {}
  Tensor<D, K> tensor() const { return Tensor<D, K>(value()); }
  void set(const Tensor<D, K>& tensor) { ParamBase::set(tensor.value()); }
  /// Replaces the value by `next(value)`; no gradient flows. Other copies of the handle see it.
  template <class F>
  void update(F&& next) const {
    update_locked([&](const Value& value) { return next(Tensor<D, K>(value)).value(); });
  }
};

template <int D>
inline constexpr bool is_leaf<Param<D>> = true;
template <int D, class K>
inline constexpr bool is_leaf<Buffer<D, K>> = true;
template <int D, class K>
inline constexpr bool is_leaf<Tensor<D, K>> = true;

}  // namespace sinter::nn

// SPDX-License-Identifier: MIT OR Apache-2.0
// The shared state behind parameters and buffers.
#include "sinter/nn/param.hpp"

#include <fmt/format.h>

#include <atomic>
#include <mutex>

#include "sinter/base/error.hpp"
#include "sinter/decorators/autodiff/node.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::nn {

struct ParamState final : RefCounted {
  mutable std::mutex mutex;
  std::atomic<bool> ready{false};  // `value` is set
  Value value;
  ParamSpec spec;
  Device device;
  RandomKey key;
  std::uint64_t id = 0;
  bool buffer = false;
  bool require_grad = true;

  explicit ParamState(const Device& on) : device(on) {}
};

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Under all levels of autodiff.
Value plain(Value value) {
  while (is_autodiff(value.backend())) {
    value = value.backend().unwrap(value);
  }
  return value;
}

// Brings a value of a backend under `target` up to it.
Value lift(Value value, Backend& target) {
  if (&value.backend() == &target) {
    return value;
  }
  Backend* inner = target.inner();
  SINTER_ASSERT(inner != nullptr);
  return target.wrap(lift(std::move(value), *inner));
}

// `value` as the state holds it: a leaf, or untracked.
Value dressed(const ParamState& state, const Value& value) {
  Value untracked = autodiff::detach(value);
  const bool track = state.require_grad && !state.buffer && is_floating(value.dtype()) &&
                     is_autodiff(value.backend());
  return track ? autodiff::require_grad(untracked) : untracked;
}

// With the mutex held.
void draw(ParamState& state) {
  if (!state.ready.load(std::memory_order_relaxed)) {
    const ParamSpec& spec = state.spec;
    state.value = dressed(state, initialize(spec.initializer, spec.shape, spec.fans, state.key,
                                            state.device, spec.dtype));
    state.ready.store(true, std::memory_order_release);
  }
}

// A state with the same recipe, and the same values if there are any.
Ref<ParamState> copy_of(const ParamState& from, const Device& device) {
  Ref<ParamState> to = make_ref<ParamState>(device);
  const std::lock_guard lock(from.mutex);
  to->spec = from.spec;
  to->key = from.key;
  to->id = from.id;
  to->buffer = from.buffer;
  to->require_grad = from.require_grad;
  if (from.ready.load(std::memory_order_relaxed)) {
    to->value = from.value;
    to->ready.store(true, std::memory_order_relaxed);
  }
  return to;
}

}  // namespace

ParamBase::ParamBase(const ParamSpec& spec, const Device& device, bool buffer, int rank)
    : state_(make_ref<ParamState>(device)) {
  if (spec.shape.rank() != rank) {
    throw ShapeError(
        fmt::format("a parameter of rank {} can't have shape {}", rank, spec.shape.str()));
  }
  ParamState& s = state();
  s.spec = spec;
  s.buffer = buffer;
  s.id = next_id();
  if (const std::uint64_t count = random_count(spec.initializer, spec.shape)) {
    s.key = current_generator(device.backend()).take(count);
  }
}

ParamBase::ParamBase(const Value& value, bool buffer)
    : state_(make_ref<ParamState>(Device(value.backend()))) {
  ParamState& s = state();
  s.spec.shape = value.shape();
  s.spec.dtype = value.dtype();
  s.buffer = buffer;
  s.id = next_id();
  s.value = dressed(s, value);
  s.ready.store(true, std::memory_order_release);
}

ParamState& ParamBase::state() const {
  if (!state_) {
    throw ArgumentError(
        "a parameter was used that was never made: build its layer from a config, as "
        "nn::Linear{{.in = 784, .out = 128}, device}");
  }
  return static_cast<ParamState&>(*state_);
}

std::uint64_t ParamBase::id() const { return state_ ? state().id : 0; }
const Shape& ParamBase::shape() const { return state().spec.shape; }
DType ParamBase::dtype() const { return state().spec.dtype; }
Device ParamBase::device() const { return state().device; }
bool ParamBase::initialized() const {
  return state_ && state().ready.load(std::memory_order_acquire);
}
bool ParamBase::is_buffer() const { return state().buffer; }
bool ParamBase::is_require_grad() const { return state().require_grad && !state().buffer; }
Shape ParamBase::record_shape() const {
  Shape shape = this->shape();
  if (state().spec.transposed_in_records) {
    std::swap(shape[shape.rank() - 2], shape[shape.rank() - 1]);
  }
  return shape;
}
Value ParamBase::turned_for_records(const Value& value) const {
  return state().spec.transposed_in_records ? ops::contiguous(ops::transpose(value)) : value;
}

void ParamBase::set_require_grad(bool require) {
  ParamState& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.require_grad != require) {
    s.require_grad = require;
    if (s.ready.load(std::memory_order_relaxed)) {
      s.value = dressed(s, s.value);
    }
  }
}

Value ParamBase::value() const {
  ParamState& s = state();
  // A parameter changes only when its owner steps or sets it; a buffer changes during forward
  // passes.
  if (!s.buffer && s.ready.load(std::memory_order_acquire)) {
    return s.value;
  }
  const std::lock_guard lock(s.mutex);
  draw(s);
  return s.value;
}

void ParamBase::set(const Value& value) {
  ParamState& s = state();
  if (!(value.shape() == s.spec.shape)) {
    throw ShapeError(fmt::format("a parameter of shape {} can't be set to a tensor of shape {}",
                                 s.spec.shape.str(), value.shape().str()));
  }
  const std::lock_guard lock(s.mutex);
  s.value = dressed(s, value);
  s.spec.dtype = value.dtype();
  s.device = Device(value.backend());
  s.ready.store(true, std::memory_order_release);
}

void ParamBase::update_erased(Value (*next)(void*, const Value&), void* function) const {
  ParamState& s = state();
  const std::lock_guard lock(s.mutex);
  draw(s);
  Value current = s.value;
  Value updated = autodiff::detach(next(function, current));
  if (!(updated.shape() == s.spec.shape)) {
    throw ShapeError(fmt::format("a buffer of shape {} can't be set to a tensor of shape {}",
                                 s.spec.shape.str(), updated.shape().str()));
  }
  s.value = std::move(updated);
}

ParamBase ParamBase::with_value(const Value& value) const {
  auto copy = copy_of(state(), Device(value.backend()));
  copy->spec.shape = value.shape();
  copy->spec.dtype = value.dtype();
  copy->value = dressed(*copy, value);
  copy->ready.store(true, std::memory_order_release);
  return ParamBase(std::move(copy));
}

ParamBase ParamBase::fork() const {
  auto copy = copy_of(state(), state().device);
  copy->id = next_id();
  if (copy->value) {
    // Values are copied on write, so a handle of its own is storage of its own.
    copy->value = dressed(*copy, copy->value);
  }
  return ParamBase(std::move(copy));
}

ParamBase ParamBase::to_device(const Device& device) const {
  auto copy = copy_of(state(), device);
  if (copy->value) {
    Value value = autodiff::detach(copy->value);
    if (!(Device(value.backend()) == device)) {
      value = plain(std::move(value));
      Device leaf = device;
      while (leaf.is_autodiff()) {
        leaf = leaf.inner();
      }
      if (!(Device(value.backend()) == leaf)) {
        value = to_backend(value, leaf.backend());
      }
      value = lift(std::move(value), device.backend());
    }
    copy->value = dressed(*copy, value);
  }
  return ParamBase(std::move(copy));
}

ParamBase ParamBase::no_grad() const {
  auto copy = copy_of(state(), state().device);
  copy->require_grad = false;
  if (copy->value) {
    copy->value = dressed(*copy, copy->value);
  }
  return ParamBase(std::move(copy));
}

ParamBase ParamBase::to_dtype(DType dtype) const {
  return with_value(ops::cast(autodiff::detach(value()), dtype));
}

ParamBase ParamBase::valid() const {
  const Device device = state().device;
  return to_device(device.is_autodiff() ? device.inner() : device);
}

Value ParamBase::take() {
  ParamState& s = state();
  const std::lock_guard lock(s.mutex);
  draw(s);
  Value inner = plain(s.value);
  // From here on the plain tensor has no other owner, unless a graph or a reader still holds it.
  s.value = Value();
  s.ready.store(false, std::memory_order_relaxed);
  return inner;
}

void ParamBase::put(Value plain_value) {
  ParamState& s = state();
  const std::lock_guard lock(s.mutex);
  s.spec.dtype = plain_value.dtype();
  s.value = dressed(s, lift(std::move(plain_value), s.device.backend()));
  s.ready.store(true, std::memory_order_release);
}

}  // namespace sinter::nn

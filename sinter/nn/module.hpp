// SPDX-License-Identifier: MIT OR Apache-2.0
// What can be done with any module: list, count, copy, move, freeze, print.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sinter/nn/param.hpp"
#include "sinter/nn/summary.hpp"
#include "sinter/nn/visit.hpp"

namespace sinter::nn {

/// A parameter or buffer with its dotted path: `encoder.layers.0.weight`.
struct NamedParam {
  std::string name;
  ParamBase param;
};

namespace detail {

// Compiled once, as what stands in a header is compiled for each of its readers.
void append(std::vector<NamedParam>& list, const std::string& path, const ParamBase& param);

template <class T>
inline constexpr bool is_param = std::is_base_of_v<ParamBase, T>;

/// Calls `f(path, param)` for each parameter and buffer that exists; a reference into the module.
template <class M, class F>
void visit_params(M& module, F&& f) {
  visit(module, "", [&](const std::string& path, auto& leaf) {
    if constexpr (is_param<std::remove_cvref_t<decltype(leaf)>>) {
      if (!leaf.empty()) {
        f(path, leaf);
      }
    }
  });
}

/// Gives handles new states; those that were tied stay tied.
class Rebinder {
 public:
  Rebinder();
  ~Rebinder();
  Rebinder(const Rebinder&) = delete;
  Rebinder& operator=(const Rebinder&) = delete;

  template <class F>
  void rebind(ParamBase& param, F&& make) {
    if (!reuse(param)) {
      const std::uint64_t id = param.id();
      param = make(static_cast<const ParamBase&>(param));
      keep(id, param);
    }
  }

 private:
  struct Made;
  bool reuse(ParamBase& param) const;
  void keep(std::uint64_t id, const ParamBase& made);

  Made* last_ = nullptr;
};

/// A copy of `module` whose parameters are `make(param)` and whose constants are `convert(tensor)`.
template <class M, class Make, class Convert>
M rebuilt(M module, Make make, Convert convert) {
  Rebinder rebinder;
  visit(module, "", [&](const std::string&, auto& leaf) {
    if constexpr (is_param<std::remove_cvref_t<decltype(leaf)>>) {
      if (!leaf.empty()) {
        rebinder.rebind(leaf, make);
      }
    } else if constexpr (requires { convert(leaf); }) {
      if (leaf.is_set()) {
        leaf = convert(leaf);
      }
    }
  });
  return module;
}

struct Keep {
  template <class T>
  T operator()(const T& tensor) const {
    return tensor;
  }
};

}  // namespace detail

/// The module's parameters with their paths, in order of declaration; a tied one stands under each
/// of its names. Buffers are left out.
template <class M>
[[nodiscard]] std::vector<NamedParam> parameters(const M& module) {
  std::vector<NamedParam> list;
  detail::visit_params(module, [&](const std::string& path, const ParamBase& param) {
    if (!param.is_buffer()) {
      detail::append(list, path, param);
    }
  });
  return list;
}

/// Parameters and buffers: all that a record holds.
template <class M>
[[nodiscard]] std::vector<NamedParam> state_entries(const M& module) {
  std::vector<NamedParam> list;
  detail::visit_params(module, [&](const std::string& path, const ParamBase& param) {
    detail::append(list, path, param);
  });
  return list;
}

/// The number of elements of all distinct parameters.
[[nodiscard]] std::int64_t num_params(const std::vector<NamedParam>& params);
template <class M>
[[nodiscard]] std::int64_t num_params(const M& module) {
  return num_params(parameters(module));
}

// The functions below return a module and leave the one given as it is (pass it with std::move if
// it can't be copied). A shared_ptr inside a module is shared by its copies, so it is changed in
// both.

/// Separate parameters with the same values and new ids; tied ones stay tied.
template <class M>
[[nodiscard]] M fork(M module) {
  return detail::rebuilt(
      std::move(module), [](const ParamBase& p) { return p.fork(); }, detail::Keep{});
}

/// The module on another device, with the same ids.
template <class M>
[[nodiscard]] M to_device(M module, const Device& device) {
  return detail::rebuilt(
      std::move(module), [&](const ParamBase& p) { return p.to_device(device); },
      [&](const auto& tensor) { return tensor.to_device(device); });
}

/// The module on the device under autodiff: it evaluates instead of training. Later steps of the
/// trained module don't reach it.
template <class M>
[[nodiscard]] M valid(M module) {
  return detail::rebuilt(
      std::move(module), [](const ParamBase& p) { return p.valid(); },
      [](const auto& tensor) { return tensor.device().is_autodiff() ? tensor.inner() : tensor; });
}

/// Parameters are replaced by `f(path, tensor)`, a DynTensor of any shape and dtype of the
/// parameter's rank.
template <class M, class F>
[[nodiscard]] M map(M module, F&& f) {
  detail::Rebinder rebinder;
  detail::visit_params(module, [&](const std::string& path, ParamBase& param) {
    if (!param.is_buffer()) {
      rebinder.rebind(param, [&](const ParamBase& p) {
        return p.with_value(DynTensor(f(path, DynTensor(p.value()))).value());
      });
    }
  });
  return module;
}

/// Floating parameters and buffers in another floating dtype.
template <class M>
[[nodiscard]] M to_dtype(M module, DType dtype) {
  return detail::rebuilt(
      std::move(module),
      [&](const ParamBase& p) { return is_floating(p.dtype()) ? p.to_dtype(dtype) : p; },
      detail::Keep{});
}

/// A copy without gradients.
template <class M>
[[nodiscard]] M no_grad(M module) {
  return detail::rebuilt(
      std::move(module), [](const ParamBase& p) { return p.no_grad(); }, detail::Keep{});
}

/// Stops training the parameters whose path and tensor `select(const NamedParam&)` accepts, in this
/// module and all its copies.
template <class M, class Select>
void freeze(M& module, Select&& select) {
  detail::visit_params(module, [&](const std::string& path, ParamBase& param) {
    if (!param.is_buffer() && select(NamedParam{path, param})) {
      param.set_require_grad(false);
    }
  });
}
template <class M>
void freeze(M& module) {
  freeze(module, [](const NamedParam&) { return true; });
}
/// Trains all parameters again.
template <class M>
void unfreeze(M& module) {
  detail::visit_params(module, [](const std::string&, ParamBase& param) {
    if (!param.is_buffer()) {
      param.set_require_grad(true);
    }
  });
}

/// Gradients by parameter path. Unlike `Gradients` they fit every fork of the module, so that
/// threads' gradients can be added, and they outlive a step, so that micro-batches can be.
class ModuleGradients {
 public:
  ModuleGradients() = default;
  ModuleGradients(const std::vector<NamedParam>& params, const Gradients& gradients);

  /// On the device under autodiff; empty if the parameter took no part.
  [[nodiscard]] Value get(std::string_view name) const;
  /// Adds what `other` holds. Gradients must live on one device.
  void accumulate(const ModuleGradients& other);
  /// Multiplies all: 1 / n after n micro-batches.
  void scale(double factor);
  /// In the order of the parameters that had one.
  const std::vector<std::pair<std::string, Value>>& entries() const { return entries_; }
  std::vector<std::pair<std::string, Value>>& entries() { return entries_; }

 private:
  void add(const std::string& name, Value gradient);
  // The place of `name` in `sorted_`, or where it belongs.
  std::vector<std::size_t>::const_iterator lower_bound(std::string_view name) const;

  std::vector<std::pair<std::string, Value>> entries_;
  std::vector<std::size_t> sorted_;  // places in `entries_` by name
};

template <class M>
[[nodiscard]] ModuleGradients gradients_of(const M& module, const Gradients& gradients) {
  return ModuleGradients(parameters(module), gradients);
}

/// The module as a tree: types, hyper-parameters, parameters with shapes, and counts.
///
///     Net  101770 params
///       fc1: Linear  100480 params
///         weight: [784, 128] f32
template <class M>
[[nodiscard]] std::string str(const M& module) {
  return detail::summarise(module);
}

}  // namespace sinter::nn

// SPDX-License-Identifier: MIT OR Apache-2.0
// Attributes of ops seen through `fields()`: cloning and printing without knowing the type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "sinter/graph/op_call.hpp"
#include "sinter/types/scalar.hpp"

namespace sinter {

/// Appends ", name=value" to a description.
class AttributePrinter {
 public:
  explicit AttributePrinter(std::string& out) : out_(out) {}
  void operator()(std::string_view name, std::int64_t value);
  void operator()(std::string_view name, std::uint64_t value);
  void operator()(std::string_view name, int value) { (*this)(name, std::int64_t{value}); }
  void operator()(std::string_view name, bool value);
  void operator()(std::string_view name, double value);
  void operator()(std::string_view name, const Dims& value);
  void operator()(std::string_view name, DType value);
  void operator()(std::string_view name, Scalar value);
  template <class E>
    requires std::is_enum_v<E>
  void operator()(std::string_view name, E value) {
    (*this)(name, static_cast<std::int64_t>(value));
  }

 private:
  std::string& out_;
};

/// The row of an op struct; empty structs have no attributes.
template <class Op>
constexpr AttributeRow attribute_row() {
  if constexpr (std::is_empty_v<Op>) {
    return {};
  } else {
    AttributeRow row;
    row.clone = [](const void* op) -> const void* { return new Op(*static_cast<const Op*>(op)); };
    row.destroy = [](const void* op) { delete static_cast<const Op*>(op); };
    if constexpr (requires(const Op& op, AttributePrinter p) { Op::fields(op, p); }) {
      row.print = [](const void* op, std::string& out) {
        Op::fields(*static_cast<const Op*>(op), AttributePrinter(out));
      };
    }
    return row;
  }
}

/// A copy of a call's attributes that outlives the call.
class OwnedAttributes {
 public:
  OwnedAttributes() = default;
  OwnedAttributes(const OpDef& def, const void* attributes)
      : def_(&def),
        attributes_(def.attributes.clone ? def.attributes.clone(attributes) : nullptr) {}
  OwnedAttributes(OwnedAttributes&& other) noexcept
      : def_(other.def_), attributes_(std::exchange(other.attributes_, nullptr)) {}
  OwnedAttributes& operator=(OwnedAttributes&& other) noexcept {
    std::swap(def_, other.def_);
    std::swap(attributes_, other.attributes_);
    return *this;
  }
  ~OwnedAttributes() {
    if (attributes_) {
      def_->attributes.destroy(attributes_);
    }
  }
  const void* get() const { return attributes_; }

 private:
  const OpDef* def_ = nullptr;
  const void* attributes_ = nullptr;
};

}  // namespace sinter

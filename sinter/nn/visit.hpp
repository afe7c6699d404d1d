// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks a struct of structs down to its leaves, with a dotted path for each: `layers.0.weight`.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "sinter/nn/reflect.hpp"

namespace sinter::nn {

namespace detail {

// Library types are recognised by what they offer, so that no module pays for headers that it
// doesn't use.
template <class T>
concept Text =
    requires { typename T::traits_type; } && std::is_convertible_v<const T&, std::string_view>;

template <class T>
concept Sequence = !Text<T> && requires(T& x) {
  typename T::value_type;
  x.begin();
  x.end();
  x.size();
} && !requires { typename T::key_type; };

template <class T>
concept NamedMap = requires(T& x) {
  typename T::mapped_type;
  x.begin();
} && std::is_convertible_v<const typename T::key_type&, std::string_view>;

template <class T>
concept OptionalLike = requires(T& x) {
  typename T::value_type;
  x.has_value();
  *x;
  x.reset();
};

template <class T>
concept OwningPointer = requires(T& x) {
  typename T::element_type;
  x.get();
  x.reset();
  *x;
} && !std::is_array_v<typename T::element_type>;

template <class T>
concept VariantLike = requires(const T& x) {
  x.index();
  x.valueless_by_exception();
};

template <class T>
constexpr bool holds_hyper() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || Text<T>) {
    return true;
  } else if constexpr (OptionalLike<T> || Sequence<T>) {
    return holds_hyper<std::remove_cv_t<typename T::value_type>>();
  } else {
    return false;
  }
}

struct IgnoreChild {
  template <class T>
  void operator()(std::string_view, T&) const {}
};

/// A container that names its children itself: `T::sinter_children(object, visitor)` calls
/// `visitor(name, child)` for each.
template <class T>
concept NamesChildren = requires(T& x) { T::sinter_children(x, IgnoreChild{}); };

struct IgnoreHyper {
  template <class T>
  void operator()(const std::string&, T&) const {}
};

inline std::string join(const std::string& path, std::string_view name) {
  std::string joined;
  joined.reserve(path.size() + 1 + name.size());
  joined += path;
  if (!path.empty()) {
    joined += '.';
  }
  joined += name;
  return joined;
}

/// `pointee` seen as const when its owner is: a const module has const parameters.
template <class Owner, class T>
constexpr auto& like(T& pointee) {
  if constexpr (std::is_const_v<Owner>) {
    return const_cast<const T&>(pointee);
  } else {
    return pointee;
  }
}

}  // namespace detail

/// True for plain data: numbers, enums, strings, and sequences or optionals of them.
template <class T>
inline constexpr bool is_hyper = detail::holds_hyper<T>();

/// Walks `object` depth first in order of declaration and calls `leaf(path, value)` at each type
/// with `is_leaf`, and `hyper(path, value)` at plain data (`is_hyper`); the path is a
/// `const std::string&`, the value a reference, const when the object is.
///
/// Structs (see `Reflectable`) add their field's name to the path, sequences the index,
/// string-keyed maps the key; optionals, owning pointers and variants add nothing and are skipped
/// when empty. Types with `is_opaque` are skipped. Any other type doesn't compile, so that no
/// parameter is lost in silence.
template <class T, class Leaf, class Hyper = detail::IgnoreHyper>
void visit(T& object, const std::string& path, Leaf&& leaf, Hyper&& hyper = {}) {
  using Plain = std::remove_cv_t<T>;
  if constexpr (is_leaf<Plain>) {
    leaf(path, object);
  } else if constexpr (is_opaque<Plain>) {
    return;
  } else if constexpr (is_hyper<Plain>) {
    hyper(path, object);
  } else if constexpr (detail::NamesChildren<Plain>) {
    Plain::sinter_children(object, [&](std::string_view name, auto& child) {
      visit(child, detail::join(path, name), leaf, hyper);
    });
  } else if constexpr (detail::Sequence<Plain>) {
    std::size_t index = 0;
    for (auto& element : object) {
      visit(element, detail::join(path, std::to_string(index++)), leaf, hyper);
    }
  } else if constexpr (detail::NamedMap<Plain>) {
    for (auto& [key, value] : object) {
      visit(value, detail::join(path, key), leaf, hyper);
    }
  } else if constexpr (detail::OptionalLike<Plain> || detail::OwningPointer<Plain>) {
    if (object) {
      visit(detail::like<T>(*object), path, leaf, hyper);
    }
  } else if constexpr (detail::VariantLike<Plain>) {
    if (!object.valueless_by_exception()) {
      // Found beside the variant by its argument: std::visit without its header.
      visit([&](auto& alternative) { nn::visit(alternative, path, leaf, hyper); }, object);
    }
  } else {
    static_assert(Reflectable<Plain>,
                  "a module can't hold this type: it is no aggregate; list its fields with "
                  "SINTER_FIELDS(a, b), or specialise sinter::nn::is_opaque to pass over it");
    if constexpr (Reflectable<Plain>) {
      for_each_field(object, [&](std::string_view name, auto& field) {
        visit(field, detail::join(path, name), leaf, hyper);
      });
    }
  }
}

}  // namespace sinter::nn

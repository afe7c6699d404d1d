// SPDX-License-Identifier: MIT OR Apache-2.0
// Compile-time reflection of plain structs: their fields, the fields' names, and nested traversal.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "sinter/nn/reflect_bindings.hpp"
#include "sinter/nn/type_name.hpp"

/// Lists the fields of a type that reflection can't read by itself: a class with constructors,
/// private members, bases, references or C arrays. Write it once, in any section of the class:
///
///     class Counter { int calls_ = 0; Linear layer_; SINTER_FIELDS(layer_) ... };
///
/// Only the listed fields are visited, under the names written here.
#define SINTER_FIELDS(...)                                                         \
  friend struct ::sinter::nn::detail::FieldAccess;                                 \
  static constexpr const char* sinter_field_names() { return #__VA_ARGS__; }       \
  constexpr auto sinter_fields() {                                                 \
    return [&](auto&& visitor) -> decltype(auto) { return visitor(__VA_ARGS__); }; \
  }                                                                                \
  constexpr auto sinter_fields() const {                                           \
    return [&](auto&& visitor) -> decltype(auto) { return visitor(__VA_ARGS__); }; \
  }

namespace sinter::nn {

/// True for the types at which `visit` stops and calls its leaf visitor (parameters, buffers,
/// tensors). Specialise it for a type of your own.
template <class T>
inline constexpr bool is_leaf = false;

/// True for types that `visit` passes over: they hold nothing to train, save or print.
template <class T>
inline constexpr bool is_opaque =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;

namespace detail {

/// Reaches what SINTER_FIELDS adds to a class, whatever section it stands in.
struct FieldAccess {
  template <class T>
  static constexpr bool listed = requires { T::sinter_field_names(); };
  template <class T>
  static constexpr const char* names() {
    return T::sinter_field_names();
  }
  template <class T, class Visitor>
  static constexpr decltype(auto) apply(T& object, Visitor&& visitor) {
    return object.sinter_fields()(visitor);
  }
};

/// Stands for one initialiser of any type but `Owner` itself. Never evaluated.
template <class Owner>
struct AnyValue {
  template <class T>
    requires(!std::is_same_v<T, Owner>)
  operator T() const {
    __builtin_unreachable();
  }
};

/// Stands for an initialiser of a base class of `Owner`.
template <class Owner>
struct AnyBase {
  template <class T>
    requires(!std::is_same_v<T, Owner> && std::is_base_of_v<T, Owner>)
  operator T() const {
    __builtin_unreachable();
  }
};

template <int... I>
struct Indices {};
#if defined(__clang__)
template <class, int... I>
using IndicesOf = Indices<I...>;
template <int n>
using MakeIndices = __make_integer_seq<IndicesOf, int, n>;
#else
template <int n>
using MakeIndices = Indices<__integer_pack(n)...>;
#endif

template <class T, int>
using AnyValueAt = AnyValue<T>;

template <class T, int... I>
constexpr bool takes(Indices<I...>) {
  return requires { T{AnyValueAt<T, I>{}...}; };
}

/// The `{}` between the values initialises one whole field, even a C array.
template <class T, int... Before, int... After>
constexpr bool takes_braces(Indices<Before...>, Indices<After...>) {
  return requires { T{AnyValueAt<T, Before>{}..., {}, AnyValueAt<T, After>{}...}; };
}

/// The most initialisers that `T{...}` accepts, or -1 when it accepts no number of them.
template <class T, int n = max_fields + 1>
constexpr int count_initialisers() {
  if constexpr (takes<T>(MakeIndices<n>{})) {
    return n;
  } else if constexpr (n == 0) {
    return -1;
  } else {
    return count_initialisers<T, n - 1>();
  }
}

/// True when field `at` swallows several of the `count` initialisers, as only a C array does.
template <class T, int count, int at>
constexpr bool is_c_array() {
  using Before = MakeIndices<at>;
  using Rest = MakeIndices<count - at - 1>;
  return takes_braces<T>(Before{}, Indices<>{}) && !takes_braces<T>(Before{}, Rest{});
}

template <class T, int count, int... I>
constexpr bool has_c_array(Indices<I...>) {
  return (is_c_array<T, count, I>() || ...);
}

constexpr int count_names(std::string_view names) {
  int count = names.empty() ? 0 : 1;
  for (char c : names) {
    count += c == ',';
  }
  return count;
}

template <class T>
constexpr int aggregate_field_count() {
  static_assert(std::is_aggregate_v<T>,
                "this type is no aggregate: list the fields to visit with SINTER_FIELDS(a, b)");
  if constexpr (std::is_empty_v<T> && takes<T>(Indices<>{}) && !takes<T>(Indices<0>{})) {
    static_assert(
        !requires { T{AnyBase<T>{}}; },
        "a reflected struct can't have a base class: make it a field, or list the "
        "fields to visit with SINTER_FIELDS(a, b)");
    return 0;
  } else {
    constexpr int count = count_initialisers<T>();
    static_assert(
        !requires { T{AnyBase<T>{}}; },
        "a reflected struct can't have a base class: make it a field, or list the "
        "fields to visit with SINTER_FIELDS(a, b)");
    static_assert(count >= 0,
                  "the fields of this struct can't be counted (a reference?): list the fields to "
                  "visit with SINTER_FIELDS(a, b)");
    if constexpr (count > 0) {
      static_assert(!has_c_array<T, count>(MakeIndices<count>{}),
                    "a reflected struct can't hold C arrays: use std::array, or list the fields "
                    "to visit with SINTER_FIELDS(a, b)");
    }
    static_assert(count <= max_fields,
                  "a reflected struct has at most 32 fields: group them in smaller structs, or "
                  "list the fields to visit with SINTER_FIELDS(a, b)");
    return count;
  }
}

}  // namespace detail

/// A type whose fields can be visited: an aggregate, or a class that says SINTER_FIELDS.
template <class T>
concept Reflectable =
    std::is_class_v<std::remove_cv_t<T>> &&
    (detail::FieldAccess::listed<std::remove_cv_t<T>> || std::is_aggregate_v<std::remove_cv_t<T>>);

/// The number of fields that `for_each_field` visits. A struct that can't be reflected (C arrays,
/// bases, references, more than 32 fields) doesn't compile, and the message says what to do.
template <Reflectable T>
constexpr int field_count() {
  using Plain = std::remove_cv_t<T>;
  if constexpr (detail::FieldAccess::listed<Plain>) {
    return detail::count_names(detail::FieldAccess::names<Plain>());
  } else {
    constexpr int count = detail::aggregate_field_count<Plain>();
    return count;
  }
}

namespace detail {

template <class T, class Visitor>
constexpr decltype(auto) apply_fields(T& object, Visitor&& visitor) {
  if constexpr (FieldAccess::listed<std::remove_cv_t<T>>) {
    return FieldAccess::apply(object, visitor);
  } else {
    return bind_fields<field_count<T>()>(object, visitor);
  }
}

/// An object that exists only for the addresses of its fields.
template <class T>
union Unborn {
  char nothing;
  T value;
  constexpr Unborn() : nothing{} {}
  constexpr ~Unborn() {}
};
template <class T>
inline Unborn<T> unborn{};

template <int index, class Field, class... Fields>
constexpr auto* address_at(Field& first, Fields&... rest) {
  if constexpr (index == 0) {
    return __builtin_addressof(first);
  } else {
    return address_at<index - 1>(rest...);
  }
}

template <class T, int index>
constexpr auto* field_address() {
  return apply_fields(unborn<T>.value,
                      [](auto&... fields) { return address_at<index>(fields...); });
}

/// Cuts the member's name off the end of "... &unborn<T>.Unborn<T>::value.T::name]".
constexpr std::string_view member_name(std::string_view function) {
  std::size_t end = function.size();
  const auto is_name = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 128;
  };
  while (end > 0 && !is_name(function[end - 1])) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_name(function[begin - 1])) {
    --begin;
  }
  return function.substr(begin, end - begin);
}

template <auto address>
constexpr const char* spell_address() {
  return __PRETTY_FUNCTION__;
}

constexpr std::string_view listed_name(std::string_view names, int index) {
  for (; index > 0; --index) {
    names.remove_prefix(names.find(',') + 1);
  }
  names = names.substr(0, names.find(','));
  while (!names.empty() && names.front() == ' ') {
    names.remove_prefix(1);
  }
  while (!names.empty() && names.back() == ' ') {
    names.remove_suffix(1);
  }
  return names;
}

}  // namespace detail

/// The name of the field with this index, as written in the source.
template <Reflectable T, int index>
constexpr std::string_view field_name() {
  using Plain = std::remove_cv_t<T>;
  static_assert(index >= 0 && index < field_count<Plain>(), "no field has this index");
  if constexpr (detail::FieldAccess::listed<Plain>) {
    return detail::listed_name(detail::FieldAccess::names<Plain>(), index);
  } else {
    return detail::member_name(detail::spell_address<detail::field_address<Plain, index>()>());
  }
}

namespace detail {

template <class T, class Visitor, int... I, class... Fields>
constexpr void call_each(Visitor& visitor, Indices<I...>, Fields&... fields) {
  (static_cast<void>(visitor(field_name<T, I>(), fields)), ...);
}

}  // namespace detail

/// Calls `visitor(std::string_view name, field)` for each field in the order of declaration; the
/// field is a reference, const when the object is.
template <Reflectable T, class Visitor>
constexpr void for_each_field(T& object, Visitor&& visitor) {
  detail::apply_fields(object, [&](auto&... fields) {
    detail::call_each<T>(visitor, detail::MakeIndices<sizeof...(fields)>{}, fields...);
  });
}

}  // namespace sinter::nn

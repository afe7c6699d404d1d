// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules as text: a tree with parameter counts.
#pragma once

#include <string>
#include <vector>

#include "sinter/nn/param.hpp"
#include "sinter/nn/type_name.hpp"
#include "sinter/nn/visit.hpp"

namespace sinter::nn::detail {

/// A line of the tree and what stands below it. Its copies and vectors are compiled once, with the
/// functions below: here they would be compiled for each reader of this header.
struct SummaryNode {
  SummaryNode(std::string_view name, std::string_view type);
  SummaryNode(SummaryNode&&) noexcept;
  SummaryNode& operator=(SummaryNode&&) noexcept;
  ~SummaryNode();

  std::string name;
  std::string type;
  std::string attributes;  ///< "eps=1e-05, momentum=0.1"
  std::vector<ParamBase> params;
  std::vector<SummaryNode> children;
};

void add_attribute(SummaryNode& node, std::string_view name, std::string_view text);
void add_param(SummaryNode& parent, std::string_view name, const ParamBase& param);
void add_constant(SummaryNode& parent, std::string_view name);
/// Takes in what a struct named `name` holds; options become attributes of the parent's.
void add_child(SummaryNode& parent, SummaryNode& node);
std::string number_text(double value);
std::string print_summary(const SummaryNode& root);

template <class T>
std::string hyper_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return number_text(static_cast<double>(static_cast<long long>(value)));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return number_text(static_cast<double>(value));
  } else if constexpr (Text<T>) {
    return std::string(std::string_view(value));
  } else if constexpr (OptionalLike<T>) {
    return value.has_value() ? hyper_text(*value) : "none";
  } else {
    std::string text = "[";
    for (const auto& element : value) {
      text += text.size() > 1 ? ", " : "";
      text += hyper_text(static_cast<const typename T::value_type&>(element));
    }
    return text + "]";
  }
}

template <class T>
void summarise_into(SummaryNode& parent, std::string_view name, const T& object);

/// The fields of `object` become children of `node`.
template <class T>
void summarise_children(SummaryNode& node, const T& object) {
  if constexpr (NamesChildren<T>) {
    T::sinter_children(object, [&](std::string_view name, const auto& child) {
      summarise_into(node, name, child);
    });
  } else if constexpr (Sequence<T>) {
    std::size_t index = 0;
    for (const auto& element : object) {
      summarise_into(node, std::to_string(index++), element);
    }
  } else if constexpr (NamedMap<T>) {
    for (const auto& [key, value] : object) {
      summarise_into(node, key, value);
    }
  } else {
    for_each_field(object, [&](std::string_view name, const auto& field) {
      summarise_into(node, name, field);
    });
  }
}

template <class T>
void summarise_into(SummaryNode& parent, std::string_view name, const T& object) {
  if constexpr (std::is_base_of_v<ParamBase, T>) {
    if (!object.empty()) {
      add_param(parent, name, object);
    }
  } else if constexpr (is_leaf<T>) {
    add_constant(parent, name);
  } else if constexpr (is_opaque<T>) {
    return;
  } else if constexpr (is_hyper<T>) {
    add_attribute(parent, name, hyper_text(object));
  } else if constexpr (OptionalLike<T> || OwningPointer<T>) {
    if (object) {
      summarise_into(parent, name, *object);
    }
  } else if constexpr (VariantLike<T>) {
    if (!object.valueless_by_exception()) {
      visit([&](const auto& alternative) { summarise_into(parent, name, alternative); }, object);
    }
  } else {
    SummaryNode node(name, type_name<T>());
    summarise_children(node, object);
    add_child(parent, node);
  }
}

template <class M>
std::string summarise(const M& module) {
  SummaryNode root("", "");
  summarise_into(root, "", module);
  return print_summary(root);
}

}  // namespace sinter::nn::detail

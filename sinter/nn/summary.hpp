// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules as text: a tree with parameter counts.
#pragma once

#include <string>
#include <vector>

#include "sinter/nn/param.hpp"
#include "sinter/nn/type_name.hpp"
#include "sinter/nn/visit.hpp"

namespace sinter::nn::detail {

/// A line of the tree and what stands below it.
struct SummaryNode {
  std::string name;
  std::string type;
  std::string attributes;  ///< "eps=1e-05, momentum=0.1"
  std::vector<ParamBase> params;
  std::vector<SummaryNode> children;
};

void add_attribute(SummaryNode& node, std::string_view name, std::string_view text);
std::string number_text(double value);
std::string print_summary(const SummaryNode& root);
/// A parameter's shape and dtype, with what is special about it.
std::string param_text(const ParamBase& param);

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
      parent.children.push_back({std::string(name), param_text(object), {}, {object}, {}});
    }
  } else if constexpr (is_leaf<T>) {
    parent.children.push_back({std::string(name), "constant", {}, {}, {}});
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
    std::string_view type = type_name<T>();
    SummaryNode node{std::string(name), std::string(type.substr(0, type.find('<'))), {}, {}, {}};
    summarise_children(node, object);
    if (name == "config" && node.children.empty()) {
      // A layer's options read as its own.
      if (!node.attributes.empty()) {
        parent.attributes += (parent.attributes.empty() ? "" : ", ") + node.attributes;
      }
      return;
    }
    parent.children.push_back(std::move(node));
  }
}

template <class M>
std::string summarise(const M& module) {
  SummaryNode root;
  summarise_into(root, "", module);
  return print_summary(root.children.empty() ? root : root.children.front());
}

}  // namespace sinter::nn::detail

// SPDX-License-Identifier: MIT OR Apache-2.0
// The compiled parts of module functions.
#include "sinter/nn/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/optim/optim.hpp"

namespace sinter::nn {

std::int64_t num_params(const std::vector<NamedParam>& params) {
  std::unordered_set<std::uint64_t> seen;
  std::int64_t count = 0;
  for (const NamedParam& named : params) {
    if (seen.insert(named.param.id()).second) {
      count += num_elements(named.param.shape());
    }
  }
  return count;
}

ModuleGradients::ModuleGradients(const std::vector<NamedParam>& params,
                                 const Gradients& gradients) {
  std::unordered_set<std::uint64_t> seen;
  for (const NamedParam& named : params) {
    // A tied parameter's gradient is one, under its first name.
    if (!named.param.initialized() || !seen.insert(named.param.id()).second) {
      continue;
    }
    if (Value gradient = gradients.get(named.param.value())) {
      add(named.name, std::move(gradient));
    }
  }
}

std::vector<std::size_t>::const_iterator ModuleGradients::lower_bound(std::string_view name) const {
  return std::lower_bound(
      sorted_.begin(), sorted_.end(), name,
      [&](std::size_t place, std::string_view other) { return entries_[place].first < other; });
}

void ModuleGradients::add(const std::string& name, Value gradient) {
  sorted_.insert(lower_bound(name), entries_.size());
  entries_.emplace_back(name, std::move(gradient));
}

Value ModuleGradients::get(std::string_view name) const {
  const auto place = lower_bound(name);
  const bool found = place != sorted_.end() && entries_[*place].first == name;
  return found ? entries_[*place].second : Value();
}

void ModuleGradients::accumulate(const ModuleGradients& other) {
  for (const auto& [name, gradient] : other.entries_) {
    const auto place = lower_bound(name);
    if (place != sorted_.end() && entries_[*place].first == name) {
      Value& mine = entries_[*place].second;
      mine = ops::add(mine, gradient);
    } else {
      add(name, gradient);
    }
  }
}

void ModuleGradients::scale(double factor) {
  for (auto& [name, gradient] : entries_) {
    gradient = ops::mul(gradient, ops::scalar_like(gradient, factor));
  }
}

namespace detail {

void append(std::vector<NamedParam>& list, const std::string& path, const ParamBase& param) {
  list.push_back({path, param});
}

struct Rebinder::Made {
  std::uint64_t from;
  ParamBase to;
  Made* before;
};

Rebinder::Rebinder() = default;

Rebinder::~Rebinder() {
  while (last_) {
    delete std::exchange(last_, last_->before);
  }
}

bool Rebinder::reuse(ParamBase& param) const {
  const std::uint64_t id = param.id();
  for (const Made* made = last_; made; made = made->before) {
    if (made->from == id) {
      param = made->to;
      return true;
    }
  }
  return false;
}

void Rebinder::keep(std::uint64_t id, const ParamBase& made) { last_ = new Made{id, made, last_}; }

SummaryNode::SummaryNode(std::string_view node_name, std::string_view node_type)
    : name(node_name), type(node_type.substr(0, node_type.find('<'))) {}
SummaryNode::SummaryNode(SummaryNode&&) noexcept = default;
SummaryNode& SummaryNode::operator=(SummaryNode&&) noexcept = default;
SummaryNode::~SummaryNode() = default;

namespace {

/// A parameter's shape and dtype, with what is special about it.
std::string param_text(const ParamBase& param) {
  return fmt::format("{} {}{}", param.shape().str(), name_of(param.dtype()),
                     param.is_buffer()          ? " buffer"
                     : !param.is_require_grad() ? " frozen"
                                                : "");
}

void collect(const SummaryNode& node, std::vector<ParamBase>& params) {
  params.insert(params.end(), node.params.begin(), node.params.end());
  for (const SummaryNode& child : node.children) {
    collect(child, params);
  }
}

std::int64_t count_params(const SummaryNode& node) {
  std::vector<ParamBase> params;
  collect(node, params);
  std::unordered_set<std::uint64_t> seen;
  std::int64_t count = 0;
  for (const ParamBase& param : params) {
    if (!param.is_buffer() && seen.insert(param.id()).second) {
      count += num_elements(param.shape());
    }
  }
  return count;
}

void print(const SummaryNode& node, int depth, std::string& out) {
  out.append(static_cast<std::size_t>(depth) * 2, ' ');
  if (!node.name.empty()) {
    out += node.name + ": ";
  }
  out += node.type;
  if (!node.attributes.empty()) {
    out += " {" + node.attributes + "}";
  }
  if (node.params.empty()) {
    if (const std::int64_t count = count_params(node)) {
      out += fmt::format("  {} params", count);
    }
  }
  out += '\n';
  for (const SummaryNode& child : node.children) {
    print(child, depth + 1, out);
  }
}

}  // namespace

void add_attribute(SummaryNode& node, std::string_view name, std::string_view text) {
  node.attributes += fmt::format("{}{}={}", node.attributes.empty() ? "" : ", ", name, text);
}

std::string number_text(double value) { return fmt::format("{:g}", value); }

void add_param(SummaryNode& parent, std::string_view name, const ParamBase& param) {
  SummaryNode& node = parent.children.emplace_back(name, "");
  node.type = param_text(param);
  node.params.push_back(param);
}

void add_constant(SummaryNode& parent, std::string_view name) {
  parent.children.emplace_back(name, "constant");
}

void add_child(SummaryNode& parent, SummaryNode& node) {
  if (node.name == "config" && node.children.empty()) {
    if (!node.attributes.empty()) {
      parent.attributes += (parent.attributes.empty() ? "" : ", ") + node.attributes;
    }
    return;
  }
  parent.children.push_back(std::move(node));
}

std::string print_summary(const SummaryNode& root) {
  std::string out;
  print(root.children.empty() ? root : root.children.front(), 0, out);
  return out;
}

}  // namespace detail
}  // namespace sinter::nn

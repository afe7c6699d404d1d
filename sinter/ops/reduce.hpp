// SPDX-License-Identifier: MIT OR Apache-2.0
// Reductions: dims folded by one formula. Over no elements sum is 0, prod 1, any false, all true,
// mean NaN; max and min are a ShapeError.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// Small integers and bool give i64.
struct Sum : ReduceDims {
  static constexpr OpInfo info{.name = "sum", .domain = Domain::any, .cheap = false};
  template <class T>
  static T init() {
    return T(0);
  }
  template <class T>
  static T combine(T acc, T x) {
    return acc + x;
  }
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
};

/// Small integers and bool give i64. The gradient is right at zeros too.
struct Prod : ReduceDims {
  static constexpr OpInfo info{.name = "prod",
                               .domain = Domain::any,
                               .saves = {.inputs = 1},
                               .cheap = false,
                               .tolerance = 1e-5};
  template <class T>
  static T init() {
    return T(1);
  }
  template <class T>
  static T combine(T acc, T x) {
    return acc * x;
  }
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
};

struct Mean : ReduceDims {
  static constexpr OpInfo info{.name = "mean", .domain = Domain::floating, .cheap = false};
  template <class T>
  static T init() {
    return T(0);
  }
  template <class T>
  static T combine(T acc, T x) {
    return acc + x;
  }
  template <class T>
  static T finish(T acc, std::int64_t count) {
    return acc / static_cast<T>(count);
  }
  static void backward(GradCall& call);
};

/// NaN if any element is NaN; of bool what any gives. Elements that share the maximum share the
/// gradient equally.
struct Max : ReduceDims {
  static constexpr OpInfo info{.name = "max",
                               .domain = Domain::any,
                               .saves = {.inputs = 1, .outputs = 1},
                               .cheap = false,
                               .tolerance = 0};
  template <class T>
  static T init() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  template <class T>
  static T combine(T acc, T x) {
    return acc != acc || acc > x ? acc : x;
  }
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
};

/// NaN if any element is NaN; of bool what all gives. Elements that share the minimum share the
/// gradient equally.
struct Min : ReduceDims {
  static constexpr OpInfo info{.name = "min",
                               .domain = Domain::any,
                               .saves = {.inputs = 1, .outputs = 1},
                               .cheap = false,
                               .tolerance = 0};
  template <class T>
  static T init() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::max();
  }
  template <class T>
  static T combine(T acc, T x) {
    return acc != acc || acc < x ? acc : x;
  }
  static void infer(const OpCall& call, Specs& outputs);
  static void backward(GradCall& call);
};

/// True where some element is not 0; NaN counts as true, -0.0 as false. Gives bool.
struct Any : ReduceDims {
  static constexpr OpInfo info{
      .name = "any", .domain = Domain::any, .cheap = false, .tolerance = 0};
  template <class T>
  static T init() {
    return T(0);
  }
  template <class T>
  static T combine(T acc, T x) {
    return acc != T(0) || x != T(0) ? T(1) : T(0);
  }
  static void infer(const OpCall& call, Specs& outputs);
};

/// True where no element is 0. Gives bool.
struct All : ReduceDims {
  static constexpr OpInfo info{
      .name = "all", .domain = Domain::any, .cheap = false, .tolerance = 0};
  template <class T>
  static T init() {
    return T(1);
  }
  template <class T>
  static T combine(T acc, T x) {
    return acc != T(0) && x != T(0) ? T(1) : T(0);
  }
  static void infer(const OpCall& call, Specs& outputs);
};

}  // namespace sinter::ops

// SPDX-License-Identifier: MIT OR Apache-2.0
// A kernel of one's own, with its gradient: written once, compiled for the device at hand.
#include <cmath>
#include <cstdio>

#include "sinter/kernel.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::dsl;

// x * sigmoid(beta * x). One struct is the whole op: shapes, kernel, gradient.
struct Swish {
  static constexpr OpInfo info{.name = "swish", .domain = Domain::floating, .saves = {.inputs = 1}};
  float beta = 1;

  static void infer(const OpCall& call, Specs& outputs) {
    outputs.push_back({call.inputs[0].shape(), call.inputs[0].dtype()});
  }
  static void kernel(const OpCall& call, sinter::kernel::LaunchPlan& plan) {
    plan.elements(call.inputs[0].num_elements(), 256);
    plan.scalar(call.as<Swish>().beta);
    plan.record = [] {
      return record("swish", {.cube = {256}}, [] {
        const Buffer<float> x("x", ir::Access::read), y("y", ir::Access::write);
        const Expr<float> beta = scalar<float>("beta");
        const Index i = absolute_pos();
        KERNEL_IF (i < x.length()) {
          const Expr<float> v = x[i];
          y[i] = v / (exp(-(beta * v)) + 1.0f);
        }
      });
    };
  }
  static void backward(GradCall& call);
};

// g * (s + beta * x * s * (1 - s)), s = sigmoid(beta * x).
struct SwishGrad {
  static constexpr OpInfo info{.name = "swish_grad", .domain = Domain::floating};
  float beta = 1;

  static void infer(const OpCall& call, Specs& outputs) { Swish::infer(call, outputs); }
  static void kernel(const OpCall& call, sinter::kernel::LaunchPlan& plan) {
    plan.elements(call.inputs[0].num_elements(), 256);
    plan.scalar(call.as<SwishGrad>().beta);
    plan.record = [] {
      return record("swish_grad", {.cube = {256}}, [] {
        const Buffer<float> x("x", ir::Access::read), g("g", ir::Access::read);
        const Buffer<float> dx("dx", ir::Access::write);
        const Expr<float> beta = scalar<float>("beta");
        const Index i = absolute_pos();
        KERNEL_IF (i < x.length()) {
          const Expr<float> v = x[i], s = 1.0f / (exp(-(beta * v)) + 1.0f);
          dx[i] = g[i].value() * (s + beta * v * s * (1.0f - s));
        }
      });
    };
  }
};

void Swish::backward(GradCall& call) {
  call.set(0, apply(SwishGrad{call.op<Swish>().beta}, {call.input(0), call.grad()}));
}

int main() {
  const auto x = Tensor<2>::random({64, 100}, Distribution::uniform(-2, 2), Device().autodiff())
                     .require_grad();
  const Tensor<2> y(apply(Swish{1.5f}, {x.value()}));
  const Tensor<2> expected = x * (x * 1.5f).sigmoid();
  const double error = (y - expected).abs().max().item<double>();
  const Gradients mine = (y * y).sum().backward();
  const Gradients theirs = (expected * expected).sum().backward();
  const double gradient_error = (*x.grad(mine) - *x.grad(theirs)).abs().max().item<double>();
  std::printf("swish on %s: error %.1e, gradient error %.1e\n", x.device().name().c_str(), error,
              gradient_error);
  return error < 1e-5 && gradient_error < 1e-4 ? 0 : 1;
}

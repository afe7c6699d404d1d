// SPDX-License-Identifier: MIT OR Apache-2.0
// Gradients: a line is fitted to points by following them, and a second derivative is taken.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

using namespace sinter;

int main() {
  // Gradients are a property of the device: the same code without autodiff() records nothing.
  const Device device = Device::best().autodiff();
  const DefaultDeviceScope scope(device);

  const auto x = Tensor<1>::linspace(-1, 1, 50);
  const auto y = x * 3 + 0.5;
  auto slope = Tensor<0>::from(0).require_grad();
  auto offset = Tensor<0>::from(0).require_grad();
  for (int step = 0; step < 200; ++step) {
    const Tensor<0> loss = (x * slope + offset - y).square().mean();
    const Gradients grads = loss.backward();
    // Gradients live on the device under autodiff; a step is plain arithmetic there.
    const auto follow = [&](const Tensor<0>& parameter) {
      const Tensor<0> next = parameter.inner() - *parameter.grad(grads) * 0.3;
      return Tensor<0>::from_inner(next, device).require_grad();
    };
    slope = follow(slope);
    offset = follow(offset);
  }
  std::printf("y = %.3f x + %.3f\n", slope.item(), offset.item());

  // Two layers of autodiff give gradients of gradients: x^3 has 3 x^2 and 6 x.
  const auto at = Tensor<0>::from(2, device.autodiff()).require_grad();
  const Tensor<0> first = *at.grad((at * at * at).backward());
  const Tensor<0> second = *at.inner().grad(first.backward());
  std::printf("x^3 at 2: first derivative %g, second %g\n", first.item(), second.item());

  const bool right = std::abs(slope.item() - 3) < 1e-3 && std::abs(offset.item() - 0.5) < 1e-3 &&
                     std::abs(second.item() - 12) < 1e-4;
  return right ? 0 : 1;
}

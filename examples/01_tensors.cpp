// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors: making them, computing with them, slicing them, reading them.
#include <cstdio>
#include <sinter/sinter.hpp>

using namespace sinter;

int main() {
  // A tensor's rank and kind are in its type; its shape and dtype are known at run time.
  const auto a = Tensor<2>::from({{1, 2, 3}, {4, 5, 6}});
  const auto b = Tensor<2>::ones({3, 2}) * 0.5;
  std::printf("a is %s\n", a.str().c_str());

  // Sizes come out with structured bindings.
  const auto [rows, columns] = a.dims();
  std::printf("%lld rows, %lld columns\n", static_cast<long long>(rows),
              static_cast<long long>(columns));

  // Operators broadcast. A temporary is computed in place; a tensor that you still hold is never
  // changed.
  const auto c = (a.matmul(b) + 1).exp().log();
  std::printf("a b + 1 is %s\n", c.str().c_str());

  // Reductions drop their dim, or keep it with size 1.
  const Tensor<1> sums = a.sum(1);
  const Tensor<2> centered = a - a.mean(1, keep_dim);
  std::printf("sums %s, centered %s\n", sums.str().c_str(), centered.str().c_str());

  // Python's slices: an integer drops its dim.
  const Tensor<1> last_column = a.slice(all, -1);
  const Tensor<2> reversed = a.slice(all, range(none, none, -1));
  std::printf("last column %s, reversed %s\n", last_column.str().c_str(), reversed.str().c_str());

  // Comparisons give bool tensors, which choose elements.
  const auto large = a.mask_select(a > 2.5);
  std::printf("%lld elements above 2.5, the greatest is %g\n",
              static_cast<long long>(large.size(0)), large.max().item());

  // Order, with the place of each element.
  const auto [best, where] = a.topk_with_indices(2);
  std::printf("best %s at %s\n", best.str().c_str(), where.str().c_str());

  // Mistakes say what was asked for, what came, and where.
  try {
    (void)a.matmul(a);
  } catch (const ShapeError& error) {
    std::printf("as expected: %s\n", error.what());
  }
  return 0;
}

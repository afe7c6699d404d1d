// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules that must not compile, one per value of CASE; 0 is the control. See reflect_errors.cmake.
#include <mutex>
#include <string>

#include "sinter/nn/visit.hpp"

struct Base {
  int inherited;
};
struct NoDefault {
  explicit NoDefault(int);
};

#if CASE == 0
struct Module {
  int a;
  std::string b;
};
#elif CASE == 1  // a C array
struct Module {
  int a;
  float weights[3];
  int b;
};
#elif CASE == 2  // a base class
struct Module : Base {
  int a;
};
#elif CASE == 3  // a reference
struct Module {
  int a;
  int& b;
};
#elif CASE == 4  // a const reference
struct Module {
  const std::string& a;
  int b;
};
#elif CASE == 5  // an empty base class
struct Nothing {};
struct Module : Nothing {
  int a;
};
#elif CASE == 6  // no aggregate, inside a module
class Hidden {
 public:
  explicit Hidden(int a) : a_(a) {}

 private:
  int a_;
};
struct Module {
  Hidden hidden;
};
#elif CASE == 7  // 33 fields
struct Module {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
  int r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg;
};
#endif

void walk(Module& module) {
  sinter::nn::visit(module, "", [](const std::string&, auto&) {});
}

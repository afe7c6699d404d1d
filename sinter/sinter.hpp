// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything a user of Sinter includes. It may follow headers that define Bool, None, Status, True,
// min, max and the like as macros (X11, windows.h, glog): they are hidden while it is read, and
// defined again after it. Where such a macro stays defined, write `Boolean` for `Bool`, and
// `(x.max)(1)` for a method named like a macro with arguments.
#pragma once

#include "sinter/base/detail/macros_begin.hpp"

#include "sinter/base/error.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/fwd.hpp"
#include "sinter/nn/nn.hpp"
#include "sinter/optim/optim.hpp"
#include "sinter/tensor/combine.hpp"
#include "sinter/tensor/device.hpp"
#include "sinter/tensor/functional.hpp"
#include "sinter/tensor/tensor.hpp"

namespace sinter {
using Boolean = Bool;
}

#include "sinter/base/detail/macros_end.hpp"

// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernel language in one include: for those who write kernels of their own (docs/kernels.md).
#pragma once

#include "sinter/kernel/dsl/control.hpp"
#include "sinter/kernel/ir/text.hpp"
#include "sinter/kernel/launch/launch_plan.hpp"
#include "sinter/ops/op.hpp"

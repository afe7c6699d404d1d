// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything a user of Sinter includes.
#pragma once

#include "sinter/base/error.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/fwd.hpp"
#include "sinter/tensor/combine.hpp"
#include "sinter/nn/nn.hpp"
#include "sinter/optim/optim.hpp"
#include "sinter/tensor/device.hpp"
#include "sinter/tensor/functional.hpp"
#include "sinter/tensor/tensor.hpp"

// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything a user of Sinter includes.
#pragma once

#include "sinter/base/error.hpp"
#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/tensor/device.hpp"
#include "sinter/tensor/tensor.hpp"

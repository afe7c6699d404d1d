// SPDX-License-Identifier: MIT OR Apache-2.0
// All of sinter::optim.
#pragma once

#include "sinter/optim/clip.hpp"
#include "sinter/optim/optimizer.hpp"
#include "sinter/optim/scheduler.hpp"

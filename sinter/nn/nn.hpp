// SPDX-License-Identifier: MIT OR Apache-2.0
// All of sinter::nn.
#pragma once

#include "sinter/nn/activation.hpp"
#include "sinter/nn/attention.hpp"
#include "sinter/nn/conv.hpp"
#include "sinter/nn/linear.hpp"
#include "sinter/nn/loss.hpp"
#include "sinter/nn/module.hpp"
#include "sinter/nn/norm.hpp"
#include "sinter/nn/pool.hpp"
#include "sinter/nn/record.hpp"
#include "sinter/nn/rnn.hpp"
#include "sinter/nn/sequential.hpp"

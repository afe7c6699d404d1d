// SPDX-License-Identifier: MIT OR Apache-2.0
// Every op struct: for code that expands ops.def. Heavy; include it in few .cpp files.
#pragma once

#include "sinter/ops/activation.hpp"
#include "sinter/ops/arithmetic.hpp"
#include "sinter/ops/bits.hpp"
#include "sinter/ops/compare.hpp"
#include "sinter/ops/create.hpp"
#include "sinter/ops/exponential.hpp"
#include "sinter/ops/index/index.hpp"
#include "sinter/ops/index/update.hpp"
#include "sinter/ops/join/join.hpp"
#include "sinter/ops/matmul/matmul.hpp"
#include "sinter/ops/random/random.hpp"
#include "sinter/ops/reduce.hpp"
#include "sinter/ops/scan/scan.hpp"
#include "sinter/ops/sort/sort.hpp"
#include "sinter/ops/trigonometry.hpp"
#include "sinter/ops/view.hpp"

// SPDX-License-Identifier: MIT OR Apache-2.0
// All of sinter.hpp, and what training needs beside it: data, records, the learner. A header of its
// own, because programs that only compute should not wait for it.
#pragma once

#include "sinter/sinter.hpp"

#include "sinter/base/detail/macros_begin.hpp"

#include "sinter/data/csv.hpp"
#include "sinter/data/dataset.hpp"
#include "sinter/data/fashion_mnist.hpp"
#include "sinter/data/idx.hpp"
#include "sinter/data/images.hpp"
#include "sinter/data/loader.hpp"
#include "sinter/store/record.hpp"
#include "sinter/train/checkpoint.hpp"
#include "sinter/train/json_logger.hpp"
#include "sinter/train/learner.hpp"
#include "sinter/train/metric.hpp"
#include "sinter/train/plain_renderer.hpp"
#include "sinter/train/tensorboard_logger.hpp"

#include "sinter/base/detail/macros_end.hpp"

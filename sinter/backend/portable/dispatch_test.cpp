// SPDX-License-Identifier: MIT OR Apache-2.0
// The choice of an instruction set.
#include "sinter/backend/portable/dispatch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sinter/backend/registry.hpp"
#include "sinter/base/config.hpp"
#include "sinter/base/error.hpp"

namespace sinter::backend {
namespace {

// The choice is made once in a process, so this needs one of its own.
TEST(PortableDispatch, an_unknown_instruction_set_is_an_error_of_the_device) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        config::set("isa", "pdp11");
        try {
          (void)find("portable").create(0);
        } catch (const ArgumentError& error) {
          const bool named = std::string(error.what()).find("pdp11") != std::string::npos;
          std::exit(named ? 0 : 2);
        }
        std::exit(1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sinter::backend

// SPDX-License-Identifier: MIT OR Apache-2.0
// A forked child computes without its parent's threads, and exits cleanly.
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "sinter/tensor/cases_test.hpp"

namespace sinter::testing {
namespace {

TEST(Process, a_forked_child_computes_and_exits) {
  const DefaultDeviceScope scope(Device::portable());
  const auto x = Tensor<2>::ones({1500, 1500});
  const double expected = (x + 1).mean().item();
  const pid_t child = fork();
  if (child == 0) {
    std::exit((x + 1).mean().item() == expected ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace sinter::testing
#endif

// SPDX-License-Identifier: MIT OR Apache-2.0
// The stub says what is missing, and a registered backend can be found and created.
#include "sinter/backend/stub/stub.hpp"

#include <gtest/gtest.h>

#include "sinter/backend/registry.hpp"
#include "sinter/base/error.hpp"

namespace sinter::backend {
namespace {

TEST(Stub, names_what_is_unimplemented) {
  register_stub();
  const std::unique_ptr<Backend> stub = find("stub").create(0);
  try {
    (void)stub->from_data(HostData(Shape{2}, DType::f32));
    FAIL() << "the stub must throw";
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("Stub::from_data unimplemented"), std::string::npos);
  }
}

TEST(Registry, unknown_names_list_the_known_ones) {
  try {
    (void)find("abacus");
    FAIL() << "there is no such backend";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("portable"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sinter::backend

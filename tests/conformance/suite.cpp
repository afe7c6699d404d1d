// SPDX-License-Identifier: MIT OR Apache-2.0
// Running cases, and the program's entry.
#include "suite.hpp"

#include <cstdio>
#include <cstdlib>

#include "sinter/backend/registry.hpp"
#include "sinter/base/error.hpp"

namespace sinter::conformance {
namespace {

std::int64_t cases = 0;

// The kind of device that is absent, if that is what SINTER_TEST_DEVICE names.
std::string absent_device() {
  const char* name = std::getenv("SINTER_TEST_DEVICE");
  for (const backend::BackendInfo& info : backend::all()) {
    const bool named = name && std::string(name).find(info.name) != std::string::npos;
    if (named && info.device_count() == 0) {
      return std::string(info.name);
    }
  }
  return {};
}

class BodyTest : public testing::Test {
 public:
  explicit BodyTest(std::function<void()> body) : body_(std::move(body)) {}
  void SetUp() override {
    static const std::string absent = absent_device();
    if (!absent.empty()) {
      GTEST_SKIP() << "[SKIP] there is no device of kind " << absent;
    }
  }
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

}  // namespace

Device device_under_test() {
  const char* name = std::getenv("SINTER_TEST_DEVICE");
  return name && *name ? Device::by_name(name) : Device::portable();
}

bool full_sweep() {
  const char* full = std::getenv("SINTER_TEST_FULL");
  return full && *full;
}

std::vector<const OpDef*> all_ops() {
  std::vector<const OpDef*> ops;
  for (int code = 0; code < op_count; ++code) {
    ops.push_back(&op_def(static_cast<OpCode>(code)));
  }
  return ops;
}

Result run(const Case& c, Backend& backend, const std::vector<Value>& inputs,
           std::uint64_t donated) {
  Result result;
  try {
    const Outputs outputs =
        execute(*c.def, c.attributes.get(), inputs, donated, SourceLoc::current(), &backend);
    for (const Value& output : outputs) {
      result.outputs.push_back(backend.read(output));
    }
  } catch (const UserError& error) {
    result.error = error.what();
  }
  return result;
}

Result run_donated(const Case& c, Backend& backend, const std::vector<HostData>& inputs) {
  std::vector<Value> values;
  for (const HostData& data : inputs) {
    values.push_back(backend.from_data(data));
  }
  return run(c, backend, values, ~std::uint64_t(0));
}

void count_case() { ++cases; }

std::int64_t cases_compared() { return cases; }

void add_test(const std::string& suite, const std::string& name, std::function<void()> body) {
  testing::RegisterTest(
      suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
      [body = std::move(body)]() -> testing::Test* { return new BodyTest(body); });
}

}  // namespace sinter::conformance

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  sinter::conformance::add_value_tests();
  sinter::conformance::add_gradient_tests();
  const int status = RUN_ALL_TESTS();
  std::printf("%lld calls compared (%s)\n",
              static_cast<long long>(sinter::conformance::cases_compared()),
              sinter::conformance::full_sweep() ? "the whole product" : "a cover");
  return status;
}

// SPDX-License-Identifier: MIT OR Apache-2.0
// The null backend: checks shapes and dtypes and computes nothing. Every element reads as zero.
#include "sinter/backend/host/tensor.hpp"
#include "sinter/backend/registry.hpp"

namespace sinter::backend {
namespace {

class NullBackend final : public Backend {
 public:
  std::string name() const override { return "null"; }
  void execute(const OpCall& call, Outputs& outputs) override {
    for (const TensorSpec& spec : call.outputs) {
      outputs.push_back(make(spec.shape, spec.dtype));
    }
  }
  bool supports(const OpDef&, DType) const override { return true; }
  Value from_data(const HostData& data) override { return make(data.shape(), data.dtype()); }
  Value scalar(Scalar, DType dtype) override { return make(Shape{}, dtype); }
  HostData read(const Value& value) override { return HostData(value.shape(), value.dtype()); }

 private:
  Value make(const Shape& shape, DType dtype) {
    return Value(make_ref<HostTensor>(*this, shape, dtype, Ref<Storage>()));
  }
};

}  // namespace

void register_null();
void register_null() {
  add({.name = "null",
       .description = "checks shapes and dtypes, computes nothing",
       .device_count = [] { return 1; },
       .create = [](int) -> std::unique_ptr<Backend> { return std::make_unique<NullBackend>(); }});
}

}  // namespace sinter::backend

// SPDX-License-Identifier: MIT OR Apache-2.0
// Fusion: one execute() for all ops.
#include "sinter/decorators/fusion/fusion.hpp"

#include <utility>

#include "sinter/base/config.hpp"
#include "sinter/decorators/fusion/queue.hpp"

namespace sinter {

namespace {

using fusion::FusedValue;

thread_local FusionInspector* inspector_of_thread = nullptr;

FusedValue& fused(const Value& value) { return value.as<FusedValue>(); }

class FusionBackend final : public Backend {
 public:
  explicit FusionBackend(Backend& inner) : inner_(inner) {}

  std::string name() const override { return "fusion(" + inner_.name() + ")"; }
  Backend* inner() override { return &inner_; }
  Value unwrap(const Value& value) override { return fused(value).inner("a value was unwrapped"); }
  Value wrap(const Value& value) override { return Value(make_ref<FusedValue>(*this, value)); }

  void execute(const OpCall& call, Outputs& outputs) override {
    if (call.outputs.size() == 1 && inner_.joins_groups(call) &&
        config::integer(config::Setting::fusion) != 0) {
      outputs.push_back(Value(fusion::queue_of_thread(inner_)->add(*this, call)));
    } else {
      run_at_once(call, outputs);
    }
  }

  bool supports(const OpDef& def, DType dtype) const override {
    return inner_.supports(def, dtype);
  }
  Value from_data(const HostData& data) override { return wrap(inner_.from_data(data)); }
  Value scalar(Scalar value, DType dtype) override { return wrap(inner_.scalar(value, dtype)); }
  HostData read(const Value& value) override {
    return inner_.read(fused(value).inner("a value was read"));
  }
  void sync() override {
    fusion::close_all(inner_, "the device was synchronised");
    inner_.sync();
  }
  void flush() override {
    fusion::queue_of_thread(inner_)->close("the device was flushed");
    inner_.flush();
  }
  MemoryStats memory() const override { return inner_.memory(); }
  void trim() override { inner_.trim(); }
  Generator& generator() override { return inner_.generator(); }

 private:
  void run_at_once(const OpCall& call, Outputs& outputs) {
    SmallVector<Value, 4> inputs;
    inputs.reserve(call.inputs.size());
    std::uint64_t donated = 0;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      FusedValue& value = fused(call.inputs[i]);
      const bool last = (call.donated >> i & 1) != 0 && call.inputs[i].unique();
      donated |= std::uint64_t{last} << i;
      inputs.push_back(last ? value.take(call.def->name) : value.inner(call.def->name));
    }
    OpCall below = call;
    below.inputs = {inputs.data(), inputs.size()};
    below.donated = donated;
    Outputs results;
    inner_.execute(below, results);
    for (Value& result : results) {
      outputs.push_back(wrap(result));
    }
  }

  Backend& inner_;
};

}  // namespace

std::unique_ptr<Backend> make_fusion(Backend& inner) {
  return std::make_unique<FusionBackend>(inner);
}

FusionInspector::FusionInspector() : previous_(std::exchange(inspector_of_thread, this)) {}
FusionInspector::~FusionInspector() { inspector_of_thread = previous_; }
FusionInspector* FusionInspector::current() { return inspector_of_thread; }

}  // namespace sinter

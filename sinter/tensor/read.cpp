// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading elements later or together.
#include "sinter/tensor/read.hpp"

#include <chrono>
#include <future>
#include <utility>

#include "sinter/base/error.hpp"
#include "sinter/graph/backend.hpp"

namespace sinter {

struct PendingData::State {
  std::future<HostData> future;
};

PendingData::PendingData(Value value)
    : state_(new State{
          std::async(std::launch::async, [backend = &value.backend(), value = std::move(value)] {
            return backend->read(value);
          })}) {}
PendingData::PendingData(PendingData&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)) {}
PendingData& PendingData::operator=(PendingData&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
PendingData::~PendingData() { delete state_; }

bool PendingData::ready() const {
  return !state_ || !state_->future.valid() ||
         state_->future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}
void PendingData::wait() const {
  if (state_ && state_->future.valid()) {
    state_->future.wait();
  }
}
HostData PendingData::get() {
  if (!state_ || !state_->future.valid()) {
    throw ArgumentError("PendingData::get: the elements were taken before; keep the first result");
  }
  return state_->future.get();
}

Transaction& Transaction::add(Value value) {
  values_.push_back(std::move(value));
  return *this;
}

std::vector<HostData> Transaction::execute() {
  for (const Value& value : values_) {
    value.backend().flush();
  }
  std::vector<HostData> data;
  data.reserve(values_.size());
  for (const Value& value : values_) {
    data.push_back(value.backend().read(value));
  }
  values_.clear();
  return data;
}

}  // namespace sinter

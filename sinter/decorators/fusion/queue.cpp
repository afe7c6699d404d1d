// SPDX-License-Identifier: MIT OR Apache-2.0
// Closing a queue: which calls go together, which values are stored.
#include "sinter/decorators/fusion/queue.hpp"

#include <algorithm>

#include "sinter/base/error.hpp"
#include "sinter/decorators/fusion/fusion.hpp"

namespace sinter::fusion {

namespace {

constexpr std::size_t most_waiting = 64;
constexpr std::uint32_t no_value = ~std::uint32_t{0};

// Every queue, for those who want to close all of one backend. Never destroyed: threads may end
// after static objects.
struct Queues {
  std::mutex mutex;
  std::vector<std::pair<Backend*, Ref<Queue>>> all;
};
Queues& queues() {
  static auto* instance = new Queues;
  return *instance;
}

// The queues of one thread; they are closed when it ends.
struct ThreadQueues {
  std::vector<std::pair<Backend*, Ref<Queue>>> own;

  ~ThreadQueues() {
    for (const auto& [below, queue] : own) {
      queue->close("its thread ended");
      const std::lock_guard lock(queues().mutex);
      std::erase_if(queues().all, [&](const auto& entry) { return entry.second == queue; });
    }
  }
};
thread_local ThreadQueues thread_queues;

}  // namespace

// ---- values ----

const Value& FusedValue::inner(std::string_view reason) {
  if (!ready()) {
    queue_->close(reason);
    SINTER_ASSERT(ready());
  }
  if (error_) {
    std::rethrow_exception(error_);
  }
  return inner_;
}

Value FusedValue::take(std::string_view reason) {
  inner(reason);
  return std::move(inner_);
}

void FusedValue::set(Value inner) {
  inner_ = std::move(inner);
  ready_.store(true, std::memory_order_release);
}

void FusedValue::fail(std::exception_ptr error) {
  error_ = std::move(error);
  ready_.store(true, std::memory_order_release);
}

// ---- the queue ----

Ref<FusedValue> Queue::add(Backend& owner, const OpCall& call) {
  SmallVector<Ref<FusedValue>, 4> inputs;
  for (const Value& input : call.inputs) {
    auto& value = input.as<FusedValue>();
    if (!value.ready() && !value.waits_in(this)) {
      value.inner("another thread used a value");
    }
    inputs.push_back(Ref<FusedValue>(&value));
  }
  const std::lock_guard lock(mutex_);
  if (calls_.size() >= most_waiting) {
    close_locked("the queue was full");
  }
  auto output = make_ref<FusedValue>(owner, call.outputs[0], Ref<Queue>(this),
                                     static_cast<std::uint32_t>(calls_.size()));
  calls_.push_back({call.def, OwnedAttributes(*call.def, call.attributes), std::move(inputs),
                    output, call.where});
  return output;
}

void Queue::close(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  close_locked(reason);
}

void Queue::close_locked(std::string_view reason) {
  if (calls_.empty()) {
    return;
  }
  std::vector<std::uint32_t> group_of;
  const std::vector<Members> groups = group_calls(group_of);
  std::vector<bool> needed(calls_.size());
  std::vector<bool> stored(calls_.size());
  find_needs(group_of, needed, stored);
  for (Members members : groups) {
    std::erase_if(members, [&](std::uint32_t call) { return !needed[call]; });
    if (!members.empty()) {
      run_group(members, stored, reason);
    }
  }
  calls_.clear();
}

/// A call joins the last group of its shape unless an input comes from a later group.
std::vector<Queue::Members> Queue::group_calls(std::vector<std::uint32_t>& group_of) const {
  std::vector<Members> groups;
  std::vector<std::pair<const Shape*, std::uint32_t>> last_of_shape;
  for (std::uint32_t c = 0; c < calls_.size(); ++c) {
    std::uint32_t earliest = 0;
    for (const Ref<FusedValue>& input : calls_[c].inputs) {
      if (input->waits_in(this)) {
        earliest = std::max(earliest, group_of[input->place()]);
      }
    }
    const Shape& shape = calls_[c].output->shape();
    auto found = std::find_if(last_of_shape.begin(), last_of_shape.end(),
                              [&](const auto& entry) { return *entry.first == shape; });
    if (found == last_of_shape.end()) {
      found = last_of_shape.insert(found, {&shape, no_value});
    }
    if (found->second == no_value || found->second < earliest) {
      found->second = static_cast<std::uint32_t>(groups.size());
      groups.emplace_back();
    }
    groups[found->second].push_back(c);
    group_of.push_back(found->second);
  }
  return groups;
}

/// Backward: a call is needed if somebody outside holds its value, or a needed call reads it; its
/// value is stored unless all readers are in its group.
void Queue::find_needs(const std::vector<std::uint32_t>& group_of, std::vector<bool>& needed,
                       std::vector<bool>& stored) const {
  std::vector<std::uint32_t> held(calls_.size(), 1);  // by the queue itself
  for (const Waiting& call : calls_) {
    for (const Ref<FusedValue>& input : call.inputs) {
      if (input->waits_in(this)) {
        ++held[input->place()];
      }
    }
  }
  for (std::size_t c = calls_.size(); c-- > 0;) {
    if (calls_[c].output->use_count() > held[c]) {
      needed[c] = stored[c] = true;
    }
    if (!needed[c]) {
      continue;
    }
    for (const Ref<FusedValue>& input : calls_[c].inputs) {
      if (input->waits_in(this)) {
        needed[input->place()] = true;
        if (group_of[input->place()] != group_of[c]) {
          stored[input->place()] = true;
        }
      }
    }
  }
}

void Queue::run_group(const Members& members, const std::vector<bool>& stored,
                      std::string_view reason) {
  Group group;
  std::vector<const FusedValue*> inputs;
  for (const std::uint32_t c : members) {
    for (const Ref<FusedValue>& input : calls_[c].inputs) {
      if (input->ready() && std::find(inputs.begin(), inputs.end(), input.get()) == inputs.end()) {
        inputs.push_back(input.get());
      }
    }
  }
  try {
    for (const FusedValue* input : inputs) {
      group.inputs.push_back(const_cast<FusedValue*>(input)->inner(reason));
    }
    std::vector<std::uint32_t> value_of(calls_.size(), no_value);
    for (std::size_t i = 0; i < members.size(); ++i) {
      value_of[members[i]] = group.value_of(i);
    }
    for (const std::uint32_t c : members) {
      Waiting& call = calls_[c];
      Group::Call made{call.def, call.attributes.get(), {}, call.where};
      for (const Ref<FusedValue>& input : call.inputs) {
        const auto at = std::find(inputs.begin(), inputs.end(), input.get());
        made.args.push_back(at != inputs.end() ? static_cast<std::uint32_t>(at - inputs.begin())
                                               : value_of[input->place()]);
      }
      group.calls.push_back(std::move(made));
      group.specs.push_back({call.output->shape(), call.output->dtype()});
      if (stored[c]) {
        group.results.push_back(value_of[c]);
      }
    }
    for (const std::uint32_t c : members) {
      calls_[c].inputs.clear();  // what nobody else holds may be overwritten
    }
    if (FusionInspector* inspector = FusionInspector::current()) {
      FusionEvent event{{}, static_cast<int>(group.results.size()), std::string(reason)};
      for (const Group::Call& call : group.calls) {
        event.ops.emplace_back(call.def->name);
      }
      inspector->note(std::move(event));
    }
    Outputs results;
    below_.execute_group(group, results);
    std::size_t next = 0;
    for (const std::uint32_t c : members) {
      if (stored[c]) {
        calls_[c].output->set(std::move(results[next++]));
      }
    }
  } catch (...) {
    for (const std::uint32_t c : members) {
      if (stored[c]) {
        calls_[c].output->fail(std::current_exception());
      }
    }
  }
}

Ref<Queue> queue_of_thread(Backend& below) {
  for (const auto& [backend, queue] : thread_queues.own) {
    if (backend == &below) {
      return queue;
    }
  }
  auto queue = make_ref<Queue>(below);
  thread_queues.own.emplace_back(&below, queue);
  const std::lock_guard lock(queues().mutex);
  queues().all.emplace_back(&below, queue);
  return queue;
}

void close_all(Backend& below, std::string_view reason) {
  std::vector<Ref<Queue>> found;
  {
    const std::lock_guard lock(queues().mutex);
    for (const auto& [backend, queue] : queues().all) {
      if (backend == &below) {
        found.push_back(queue);
      }
    }
  }
  for (const Ref<Queue>& queue : found) {
    queue->close(reason);
  }
}

}  // namespace sinter::fusion

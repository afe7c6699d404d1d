// SPDX-License-Identifier: MIT OR Apache-2.0
// The fusion decorator: waits with calls that can meet, and hands them on as groups.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sinter/graph/backend.hpp"

namespace sinter {

/// Fusion over another backend. Calls that the backend can run in groups are queued, a queue for
/// each thread; all others run at once. A queue is closed by a read or another use of one of its
/// values (from any thread), by flush, by its length, and by the end of its thread.
///
/// Calls are grouped in one walk over the queue: a call joins the group of the last call with
/// results of its shape, unless an input of it is made by a later group. Values that nobody holds
/// when the queue is closed are never stored. A group that fails gives its exception to each of its
/// results, which throw it when they are read; other groups go on. Results agree with those without
/// fusion up to the rounding of values that are no longer stored in between (f16, bf16).
///
/// With the setting `fusion` at 0 every call runs at once.
std::unique_ptr<Backend> make_fusion(Backend& inner);

/// What happened when queues were closed, for tests and for the curious.
struct FusionEvent {
  std::vector<std::string> ops;  ///< of the group, in order
  int results = 0;
  std::string reason;  ///< why the queue was closed
};

/// While it lives, groups that this thread closes are noted.
class FusionInspector {
 public:
  FusionInspector();
  FusionInspector(const FusionInspector&) = delete;
  FusionInspector& operator=(const FusionInspector&) = delete;
  ~FusionInspector();

  [[nodiscard]] const std::vector<FusionEvent>& events() const { return events_; }
  void note(FusionEvent event) { events_.push_back(std::move(event)); }
  /// Of this thread; null if there is none.
  static FusionInspector* current();

 private:
  std::vector<FusionEvent> events_;
  FusionInspector* previous_;
};

}  // namespace sinter

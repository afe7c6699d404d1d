// SPDX-License-Identifier: MIT OR Apache-2.0
// The death of graphs.
#include "sinter/decorators/autodiff/node.hpp"

namespace sinter::autodiff {
namespace {

// Nodes of this thread that wait to be deleted; not null while one is being deleted.
thread_local std::vector<const Node*>* dying = nullptr;

}  // namespace

void Node::destroy() const noexcept {
  if (inputs.empty()) {
    delete this;
    return;
  }
  if (dying) {
    dying->push_back(this);
    return;
  }
  std::vector<const Node*> queue;
  dying = &queue;
  delete this;
  while (!queue.empty()) {
    const Node* next = queue.back();
    queue.pop_back();
    delete next;
  }
  dying = nullptr;
}

}  // namespace sinter::autodiff

// SPDX-License-Identifier: MIT OR Apache-2.0
// An intrusive counted pointer: one word wide, one atomic per copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/base/detail/atomic.hpp"

namespace sinter {

/// Base of objects owned by `Ref`. The count starts at zero; the last `Ref` deletes the object.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  void retain() const noexcept { count_.fetch_add_relaxed(1); }
  void release() const noexcept {
    // A sole owner needs no read-modify-write: nobody else can copy what nobody else holds.
    if (count_.load() == 1 || count_.fetch_sub(1) == 1) {
      destroy();
    }
  }
  std::uint32_t use_count() const noexcept { return count_.load(); }

 protected:
  /// Called by the last release; override to recycle memory instead of deleting.
  virtual void destroy() const noexcept { delete this; }

 private:
  template <class T>
  friend class Ref;
  mutable detail::Atomic<std::uint32_t> count_;
};

/// A counted handle to a `RefCounted`; empty by default.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  explicit Ref(T* object) noexcept : object_(object) { retain(); }
  Ref(const Ref& other) noexcept : object_(other.object_) { retain(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(const Ref<U>& other) noexcept : object_(other.get()) {
    retain();
  }
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U>&& other) noexcept : object_(other.detach()) {}
  ~Ref() {
    if (object_) {
      object_->release();
    }
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  /// The first handle to an object that no other thread knows yet: cheaper than counting up.
  static Ref first(T* object) noexcept {
    object->count_.store_relaxed(1);
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  bool operator==(const Ref& other) const noexcept { return object_ == other.object_; }
  bool unique() const noexcept { return object_ && object_->use_count() == 1; }
  /// Gives up ownership without releasing.
  T* detach() noexcept { return std::exchange(object_, nullptr); }
  /// The inverse: a handle that takes over a count which is there already.
  static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

 private:
  void retain() const noexcept {
    if (object_) {
      object_->retain();
    }
  }
  T* object_ = nullptr;
};

/// Makes a counted object.
template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>::first(new T(std::forward<Args>(args)...));
}

}  // namespace sinter

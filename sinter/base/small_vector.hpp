// SPDX-License-Identifier: MIT OR Apache-2.0
// A vector whose first N elements live in place.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <new>
#include <utility>

namespace sinter {

/// A growing list that needs no heap up to `N` elements. Elements must be nothrow-movable.
template <class T, int N>
class SmallVector {
 public:
  SmallVector() noexcept {}
  SmallVector(std::initializer_list<T> items) {
    reserve(items.size());
    for (const T& item : items) {
      push_back(item);
    }
  }
  SmallVector(const SmallVector& other) {
    reserve(other.size_);
    for (const T& item : other) {
      push_back(item);
    }
  }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(SmallVector other) noexcept {
    clear();
    free_heap();
    take(other);
    return *this;
  }
  ~SmallVector() {
    clear();
    free_heap();
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      reserve(2 * capacity_);
    }
    return *new (data_ + size_++) T(std::forward<Args>(args)...);
  }
  void push_back(T item) { emplace_back(std::move(item)); }
  void resize(std::size_t size) {
    while (size_ > size) {
      data_[--size_].~T();
    }
    reserve(size);
    while (size_ < size) {
      emplace_back();
    }
  }
  void clear() noexcept {
    while (size_ > 0) {
      data_[--size_].~T();
    }
  }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) {
      return;
    }
    T* fresh = static_cast<T*>(::operator new(capacity * sizeof(T)));
    for (std::size_t i = 0; i < size_; ++i) {
      new (fresh + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    free_heap();
    data_ = fresh;
    capacity_ = capacity;
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(storage_); }
  void free_heap() noexcept {
    if (data_ != inline_data()) {
      ::operator delete(data_);
    }
    data_ = inline_data();
    capacity_ = N;
  }
  // Empties `other` into this, which holds nothing.
  void take(SmallVector& other) noexcept {
    if (other.data_ != other.inline_data()) {
      data_ = std::exchange(other.data_, other.inline_data());
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
      return;
    }
    for (T& item : other) {
      emplace_back(std::move(item));
    }
    other.clear();
  }

  alignas(T) std::byte storage_[N * sizeof(T)];
  T* data_ = inline_data();
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
};

}  // namespace sinter

// SPDX-License-Identifier: MIT OR Apache-2.0
// A non-owning reference to something callable: two words, no allocation.
#pragma once

#include <type_traits>
#include <utility>

namespace sinter {

template <class Signature>
class FunctionRef;

/// Refers to a callable for the length of a call. Take it by value as a parameter; never keep it.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
             std::is_invocable_r_v<Result, F&, Args...>)
  FunctionRef(F&& function) noexcept {
    using Target = std::remove_reference_t<F>;
    if constexpr (std::is_function_v<Target>) {
      target_ = reinterpret_cast<void*>(&function);
      call_ = [](void* target, Args... args) -> Result {
        return reinterpret_cast<Target*>(target)(std::forward<Args>(args)...);
      };
    } else {
      target_ = const_cast<void*>(static_cast<const void*>(__builtin_addressof(function)));
      call_ = [](void* target, Args... args) -> Result {
        return (*static_cast<Target*>(target))(std::forward<Args>(args)...);
      };
    }
  }

  Result operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }

 private:
  void* target_;
  Result (*call_)(void*, Args...);
};

}  // namespace sinter

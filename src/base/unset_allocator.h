// For buffers that are written whole: elements made without a value stay unset, where std::vector's own allocator would
// clear them first. A page's pixels pass through several such buffers, and clearing each costs as much as a copy.
#pragma once

#include <memory>
#include <new>
#include <utility>

namespace lectern {

template <class T>
struct UnsetAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UnsetAllocator<U>;
  };
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
};

}  // namespace lectern

/// Memory for the big arrays of a run: on huge pages where the system gives them, and on whole cache lines.
///
/// A run touches the state of its ports at random. On a fabric of thousands of hosts that state is tens of
/// megabytes, more than the processor's table of 4 KiB pages covers, and half of the time goes into walking
/// page tables. Small arrays come from the ordinary heap.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace heddle::packet {

inline constexpr std::size_t cache_line = 64;

template <class T>
class HugePages {
 public:
  using value_type = T;

  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>& /*other*/) noexcept {}  // NOLINT(google-explicit-constructor): allocators are

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < page) return static_cast<T*>(::operator new (bytes, std::align_val_t{cache_line}));
    void* const memory = ::operator new (bytes, std::align_val_t{page});
    madvise(memory, bytes / page * page, MADV_HUGEPAGE);  // advice: a refusal costs time and nothing else
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete (memory, std::align_val_t{count * sizeof(T) < page ? cache_line : page});
  }

  friend bool operator==(const HugePages&, const HugePages&) = default;

 private:
  static constexpr std::size_t page = std::size_t{2} << 20U;
};

template <class T>
using Array = std::vector<T, HugePages<T>>;

/// Asks for the cache line of something that is needed soon.
template <class T>
void prefetch(const T& what) {
  // A function that does nothing else has no effect, thinks gcc, and leaves its calls out.
  asm volatile("");
  __builtin_prefetch(&what, 1);
}

}  // namespace heddle::packet

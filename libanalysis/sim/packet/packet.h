/// Messages and packets in flight, in pools: numbers name them, and are used again once they have left the
/// network.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/packet/huge.h"
#include "sim/packet/wheel.h"

namespace heddle::packet {

inline constexpr std::uint32_t nothing = 0xffffffffU;

/// What a host has been asked to send. Lives from its generation until its last packet is delivered or
/// dropped.
struct alignas(cache_line) Message {
  Cycle created = 0;
  Cycle injected = 0;        ///< when the first header entered the network
  std::uint64_t tag = 0;     ///< of whoever asked for it; see Workload
  std::uint32_t source = 0;  ///< host numbers
  std::uint32_t target = 0;
  std::int32_t flits = 0;
  std::int32_t to_send = 0;        ///< flits that are still in the source queue
  std::int32_t outstanding = 0;    ///< flits that are neither delivered nor dropped
  std::uint32_t next = nothing;    ///< in the source queue
  std::uint32_t origin = nothing;  ///< the source that waits until it has left the queue, or its stream's
  std::uint32_t salt = 0;          ///< drawn at creation: random choices along the way depend on nothing else
  std::uint16_t lid = 0;
  std::uint8_t sl = 0;
  bool spoiled = false;  ///< a part of it was dropped
};

struct alignas(cache_line) Packet {
  std::uint32_t next = nothing;  ///< in the queue where it waits
  std::uint32_t message = 0;
  std::uint32_t place = 0;   ///< the input where it is or goes
  std::uint32_t output = 0;  ///< the crossbar output that it asks for
  std::uint32_t port = 0;    ///< the sender of its next link
  std::uint32_t salt = 0;
  std::uint32_t serial = 0;  ///< counts packets made, for their numbers are used again
  std::int32_t flits = 0;
  std::uint16_t lid = 0;
  std::uint8_t sl = 0;
  std::uint8_t vl = 0;       ///< on the link it came by
  std::uint8_t next_vl = 0;  ///< on the link it leaves by
  bool broken = false;       ///< a link was closed under it: travels on, and is thrown away at its target
  bool crossed = false;      ///< the date line of the ring it is in
  std::uint8_t home = 0;     ///< the part of the fabric that has its message
  Cycle injected = 0;
  Cycle sent = 0;  ///< when its header left on the last link
  Cycle tail = 0;  ///< when its last flit arrives over that link
};
static_assert(sizeof(Packet) == cache_line && sizeof(Message) == cache_line);

/// Records with numbers that are used again.
template <class T>
class Slab {
 public:
  std::uint32_t make() {
    if (free_.empty()) {
      items_.emplace_back();
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    items_[id] = T{};
    return id;
  }
  void drop(std::uint32_t id) { free_.push_back(id); }
  [[nodiscard]] std::size_t live() const { return items_.size() - free_.size(); }
  /// The most that ever lived at once.
  [[nodiscard]] std::size_t peak() const { return items_.size(); }
  T& operator[](std::uint32_t id) { return items_[id]; }
  const T& operator[](std::uint32_t id) const { return items_[id]; }

 private:
  Array<T> items_;
  std::vector<std::uint32_t> free_;
};

}  // namespace heddle::packet

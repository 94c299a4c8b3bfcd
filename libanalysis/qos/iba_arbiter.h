/// The two-table arbiter of InfiniBand output ports (IBA 7.6.9), packet by packet. The analyzer answers for
/// this machine; the simulator runs it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "qos/arbiter.h"
#include "qos/tables.h"

namespace heddle::qos {

/// What the low table may send when the high table has reached its limit.
enum class LowGrant : std::uint8_t {
  Entry,   ///< all that its next entry's weight allows (what switches were seen to do)
  Packet,  ///< one packet; the entry keeps what is left (the letter of IBA)
};

/// What an entry may do with a rest of weight that is smaller than the next packet.
enum class Rounding : std::uint8_t {
  Up,       ///< sends one whole packet (the letter of IBA)
  Deficit,  ///< sends it, and the overdraft is taken from the entry's next turn
  Units,    ///< every packet counts as 64 bytes (the thesis' model)
};

/// With nothing high waiting, the low table sends packet by packet. To LowGrant::Packet that is its chance;
/// to LowGrant::Entry it is none, and the bytes counted towards the limit stay.
///
/// A cache line: a simulated fabric has tens of thousands, and waits for memory at each.
///
/// A low grant counts as one selection, also when the same low entry goes on after high packets. A high entry
/// that goes on after a low grant is not selected anew.
class alignas(64) IbaArbiter {
 public:
  IbaArbiter(VlArbitration tables, LowGrant grant, Rounding rounding);

  /// Lanes are VLs. Nothing waits: nothing is selected and nothing changes.
  [[nodiscard]] std::optional<Pick> select(Heads heads) { return select(heads, waiting(heads)); }
  /// Likewise, where the caller knows already which they are.
  [[nodiscard]] std::optional<Pick> select(Heads heads, LaneSet waiting);

  /// Same tables assumed: whether both will answer alike for ever.
  [[nodiscard]] bool same_state(const IbaArbiter& other) const { return state_ == other.state_; }

 private:
  /// What does not change. Copies share it: a simulated switch has one for thousands of ports.
  struct Settings {
    VlArbitration tables;
    LaneSet high = 0;  ///< lanes with an entry there that has a weight
    LaneSet low = 0;   ///< likewise
    LowGrant grant;
    Rounding rounding;
  };
  struct Cursor {
    std::uint8_t entry = 0;
    std::int32_t left = 0;  ///< bytes of weight left for the entry; <= 0 once its turn is over
    friend bool operator==(const Cursor&, const Cursor&) = default;
  };
  struct State {
    Cursor high;
    Cursor low;
    std::uint32_t since_low = 0;  ///< bytes sent from the high table since the last low chance
    bool grant_open = false;      ///< a low entry is in the middle of its grant
    /// By entry, the high table's first; empty but for Rounding::Deficit.
    std::vector<std::int32_t> overdraft;
    friend bool operator==(const State&, const State&) = default;
  };

  Pick serve(Source source, Heads heads, LaneSet waiting);
  [[nodiscard]] bool limit_reached() const;
  /// Bytes that a packet counts for.
  [[nodiscard]] std::uint32_t cost(std::uint32_t bytes) const;

  std::shared_ptr<const Settings> settings_;
  State state_;
};

}  // namespace heddle::qos

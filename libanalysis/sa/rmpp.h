/// Sends answers that are longer than a MAD in segments (RMPP, IBA 13.6), where no kernel does it: some ahead
/// of what the other side has confirmed, as far as it allows; what is not confirmed in time once more, and
/// then not for ever. Who has confirmed nothing may be one that knows no segments (behind ibsim's shim), to
/// whose successor a repetition would come as a surprise: to it the first one goes again when it asks again.
///
/// A state machine without I/O: segments go out through `send`, acknowledgements and time come in. One
/// thread. So many transfers at a time, and no more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "sa/wire.h"

namespace heddle::sa {

struct RmppOptions {
  /// Until what was not acknowledged is sent again.
  FabricClock::duration patience = std::chrono::milliseconds{400};
  unsigned attempts = 8;
  std::size_t transfers = 64;
};

struct RmppStatistics {
  std::uint64_t finished = 0;
  std::uint64_t given_up = 0;  ///< nobody acknowledged, or the other side did not want it
  std::uint64_t repeated = 0;  ///< segments
};

class RmppSender {
 public:
  using Send = std::function<void(const mad::Packet&)>;

  RmppSender(const RmppOptions& options, Send send) : options_{options}, send_{std::move(send)} {}

  /// `head`: address and headers of the answer; its data are `data`. False where too many are under way.
  [[nodiscard]] bool begin(const mad::Packet& head, std::vector<std::uint8_t> data, Instant now);
  /// What came in of this class and is no request: taken if it is of a transfer here.
  void on_packet(const mad::Packet& packet, Instant now);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  void clear() { transfers_.clear(); }
  [[nodiscard]] std::size_t under_way() const { return transfers_.size(); }
  [[nodiscard]] const RmppStatistics& statistics() const { return statistics_; }

 private:
  struct Transfer {
    mad::Packet head;
    std::vector<std::uint8_t> data;
    std::uint32_t segments = 1;
    std::uint32_t acknowledged = 0;
    std::uint32_t window = 1;  ///< the last segment that may be sent
    std::uint32_t sent = 0;
    unsigned attempts = 0;
    Instant due;
  };
  /// Of the other side: its LID and queue pair, and what it calls the transaction.
  using Key = std::tuple<Lid, std::uint32_t, std::uint32_t>;

  static Key key_of(Lid lid, std::uint32_t qp, const mad::Bytes& mad);
  void send_up_to_window(Transfer& transfer);
  void send_segment(const Transfer& transfer, std::uint32_t number);
  void abort(const Transfer& transfer, std::uint8_t status);

  RmppOptions options_;
  Send send_;
  std::map<Key, Transfer> transfers_;
  RmppStatistics statistics_;
};

/// An answer that fits one segment goes that way too: who asked for a table expects it.
[[nodiscard]] constexpr std::uint32_t segments_of(std::size_t bytes) {
  return bytes == 0 ? 1 : static_cast<std::uint32_t>((bytes + data_size - 1) / data_size);
}

}  // namespace heddle::sa

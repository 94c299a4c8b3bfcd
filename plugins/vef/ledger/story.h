/// Reads a rank's log again, and says of each step of its program what it waits for.
///
/// A step waits for the last thing that its task did before: a send, a reception, a collective. When one call
/// ended several receptions, the steps after it wait for one of them each, because a record names only one.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ledger/record.h"

namespace heddle::vef {

/// What the ranks have agreed on, by this rank's own numbers of channels and communicators.
struct Numbers {
  std::vector<std::uint64_t> first_sent;      ///< by channel of sending: ID of its first message
  std::vector<std::uint64_t> first_received;  ///< by channel of receiving
  std::vector<std::uint64_t> sent;            ///< by channel of receiving: messages that its sender sent
  std::vector<std::uint64_t> first_entered;   ///< by communicator: ID of its first collective
};

enum class After : std::uint8_t { Nothing = 0, Send = 1, Reception = 2, Collective = 3 };

/// A message that is sent, or a collective that is entered.
struct Told {
  const Record* record = nullptr;
  std::uint64_t id = 0;
  After after = After::Nothing;
  std::uint64_t ticks = 0;
  std::uint64_t on = 0;  ///< ID of a message or a collective
};

class Story {
 public:
  /// More receptions that one call ended are not remembered.
  static constexpr std::size_t most_pending = 4096;

  explicit Story(const Numbers& numbers);

  /// Whether the record is a step; if so, `told` is it. Throws std::runtime_error when a reception has no
  /// message.
  [[nodiscard]] bool go_on(const Record& record, Told& told);

 private:
  struct Event {
    std::uint64_t id = 0;
    std::uint64_t at = 0;
  };
  void post(const Record& record);
  void receive(const Record& record);
  void step(const Record& record, std::uint64_t id, Told& told);

  const Numbers& numbers_;
  std::vector<std::uint64_t> sent_;                          ///< by channel of sending: messages so far
  std::vector<std::uint64_t> received_;                      ///< by channel of receiving
  std::vector<std::uint64_t> entered_;                       ///< by communicator
  std::unordered_map<std::uint64_t, std::uint64_t> posted_;  ///< receptions under way: ID of their message
  std::uint64_t posts_ = 0;
  std::vector<Event> pending_;
  After last_kind_ = After::Nothing;
  Event last_;
};

}  // namespace heddle::vef

/// A small subnet administrator (IBA 15): what it answers to which request. PathRecord, NodeRecord,
/// PortInfoRecord, MCMemberRecord, InformInfo and ClassPortInfo; everything else is refused with a status.
///
/// Nobody is answered whose LID the survey has not, nor with an SM_Key that is wrong (IBA 15.4.1): neither
/// can be told from an attack. An SM_Key of 0 is not trusted: it speaks for its own port only. Who asks for
/// whole tables more often than he may (pace.h) is told that it is busy.
///
/// A state machine without I/O. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sa/directory.h"
#include "sa/groups.h"
#include "sa/pace.h"
#include "sa/subscriptions.h"

namespace heddle::sa {

struct AdministratorOptions {
  std::uint64_t sm_key = 1;
  Groups::Limits groups{};
  std::size_t subscriptions_per_port = 32;
  std::size_t most_records = 1U << 18U;  ///< of one answer
  PaceOptions pace{};
};

struct AdministratorStatistics {
  std::uint64_t answered = 0;
  std::uint64_t refused = 0;    ///< of these, with a status that is not 0
  std::uint64_t strangers = 0;  ///< requests from LIDs that nobody has
  std::uint64_t wrong_keys = 0;
  std::uint64_t too_often = 0;  ///< tables that were refused because the port had had many
};

struct Reply {
  mad::Packet head;  ///< whole, unless there are segments
  bool in_segments = false;
  std::vector<std::uint8_t> data;  ///< what the segments carry
};

class Administrator {
 public:
  explicit Administrator(const AdministratorOptions& options)
      : options_{options},
        groups_{options.groups},
        subscriptions_{options.subscriptions_per_port},
        pace_{options.pace} {}

  /// Who is there, and by which tables, from here on.
  void use(std::shared_ptr<const Directory> directory) { directory_ = std::move(directory); }
  [[nodiscard]] const std::shared_ptr<const Directory>& directory() const { return directory_; }

  /// The answer to a request of this class; none where there is to be none. Precondition: is_request().
  [[nodiscard]] std::optional<Reply> answer(const mad::Packet& request, Instant now);
  /// Of this class, and neither a part nor an acknowledgement of a transfer in segments.
  [[nodiscard]] static bool is_request(const mad::Packet& packet);

  [[nodiscard]] Groups& groups() { return groups_; }
  [[nodiscard]] const Groups& groups() const { return groups_; }
  [[nodiscard]] Subscriptions& subscriptions() { return subscriptions_; }
  [[nodiscard]] const AdministratorStatistics& statistics() const { return statistics_; }

 private:
  struct Request {
    const mad::Packet& packet;
    mad::Header header;
    Header sa;
    PortIndex from;
    Trust trust;

    [[nodiscard]] std::span<const std::uint8_t> record() const {
      return std::span{packet.mad}.subspan(data_offset);
    }
  };
  [[nodiscard]] Pace::Turn turn_of(const Request& request, Instant now);
  [[nodiscard]] Reply paths(const Request& request) const;
  [[nodiscard]] Reply nodes(const Request& request) const;
  [[nodiscard]] Reply ports(const Request& request) const;
  [[nodiscard]] Reply members(const Request& request);
  [[nodiscard]] Reply inform(const Request& request);

  AdministratorOptions options_;
  std::shared_ptr<const Directory> directory_;
  Groups groups_;
  Subscriptions subscriptions_;
  Pace pace_;
  AdministratorStatistics statistics_;
};

}  // namespace heddle::sa

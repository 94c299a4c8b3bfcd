/// The multicast groups of a fabric: who has joined, and with what settings (IBA 15.2.5.17). Bounded, because
/// every port of the fabric may ask: so many groups, and so many of them for each port. The group of IPoIB's
/// broadcasts is always there, because its members expect to find it (RFC 4391, 5). One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sa/directory.h"
#include "sa/wire.h"

namespace heddle::sa {

/// Who asks: what is not trusted (IBA 15.4.1.2) speaks for its own port only, and is told no members.
enum class Trust : std::uint8_t { No, Yes };

class Groups {
 public:
  struct Limits {
    std::size_t groups = 1024;
    std::size_t per_port = 256;  ///< of these, the groups that one port is a member of
  };
  struct Answer {
    std::uint16_t status = mad::status::ok;
    McMemberRecord record;
  };
  enum class Event : std::uint8_t { Created, Deleted };

  explicit Groups(const Limits& limits);

  /// `port`: whose record it is; `capacity`: of that port. A group that is not there is made, where the
  /// request has all that it takes.
  Answer join(const McMemberRecord& wish, std::uint64_t components, PortGuid port, Capacity capacity);
  /// Takes the states that are named from the port; a group without a full member goes.
  Answer leave(const McMemberRecord& wish, std::uint64_t components, PortGuid port);

  using Record = std::array<std::uint8_t, McMemberRecord::size>;
  /// Trusted: a record a member; else a record a group, without members.
  [[nodiscard]] std::vector<Record> records(std::span<const std::uint8_t> query, std::uint64_t components,
                                            Trust trust) const;

  /// What the forwarding tables must know: by MLID, ports and their join states.
  using Members = std::map<Lid, std::map<PortGuid, std::uint8_t>>;
  [[nodiscard]] Members members() const;
  /// Grows with each change of members().
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  [[nodiscard]] std::size_t size() const { return groups_.size(); }
  /// Groups made and gone since the last call: traps 66 and 67 (IBA 14.4.10).
  [[nodiscard]] std::vector<std::pair<Event, Gid>> take_events() { return std::exchange(events_, {}); }

 private:
  struct Group {
    McMemberRecord settings;
    std::map<PortGuid, McMemberRecord> members;
    bool permanent = false;
  };
  [[nodiscard]] Answer create(const McMemberRecord& wish, std::uint64_t components, PortGuid port,
                              Capacity capacity);
  [[nodiscard]] std::optional<Lid> free_mlid(const Gid& mgid) const;

  Limits limits_;
  std::map<Gid, Group> groups_;
  std::map<Lid, Gid> mlids_;
  std::map<PortGuid, std::size_t> joined_;  ///< how many groups a port is in
  std::uint64_t revision_ = 0;
  std::uint64_t made_ = 0;  ///< groups whose MGID was left to us
  std::vector<std::pair<Event, Gid>> events_;
};

/// ff12:401b:ffff::ffff:ffff: IPv4's broadcasts in the default partition (RFC 4391, 4).
inline constexpr Gid ipoib_broadcast{0xff12401bffff0000, 0x00000000ffffffff};

}  // namespace heddle::sa

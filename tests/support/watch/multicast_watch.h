/// Packets of multicast groups that come to a switch twice, or are sent into a link that was turned off; at
/// rest also members of whom they do not come.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/watch/watched_fabric.h"

namespace heddle::test {

enum class Everybody : std::uint8_t { GetsIt, MayMissIt };

class MulticastWatch {
 public:
  explicit MulticastWatch(const WatchedFabric& watched) : watched_{watched} {}

  /// Tables have changed, or who is dead.
  void forget_members() { members_.reset(); }
  [[nodiscard]] std::vector<std::string> check(Everybody everybody);

 private:
  [[nodiscard]] std::map<Lid, std::vector<LinkEnd>> group_members() const;
  [[nodiscard]] std::set<LinkEnd> send(Lid group, LinkEnd from, std::vector<std::string>& texts) const;

  const WatchedFabric& watched_;
  std::optional<std::map<Lid, std::vector<LinkEnd>>> members_;
};

}  // namespace heddle::test

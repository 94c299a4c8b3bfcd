/// Follows the packets of every multicast group from every switch that has members of it, over all that the
/// tables may hold at this instant: no packet comes to a switch twice (it would multiply), and none is sent
/// into a link that is off. A group is judged from the first instant on at which all was well with it.
#pragma once

#include <map>
#include <vector>

#include "check/report.h"
#include "check/unicast.h"
#include "check/world.h"

namespace wire {

class Multicast {
 public:
  Multicast(const World& world, const Rules& rules, Report& report)
      : world_{world}, rules_{rules}, report_{report} {}

  void check(const Changes& changes, Time now);

 private:
  enum class Standing : std::uint8_t { Never, Established, Broken };
  struct Group {
    Standing standing = Standing::Never;
    bool twice = false;
    bool off = false;
    Time since = 0;
  };
  struct Finding {
    bool has_sender = false;
    bool excused = false;
    std::string twice;  ///< empty: no
    std::string off;
    std::vector<int> nodes;
  };
  struct Out {
    int port;
    Written written;
  };
  [[nodiscard]] std::vector<Out> ports(int switch_number, int group) const;
  void send(int from, int group, Finding& into) const;
  void check_group(int group, Time now);

  const World& world_;
  const Rules& rules_;
  Report& report_;
  std::map<int, Group> groups_;
};

}  // namespace wire

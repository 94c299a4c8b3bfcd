// Which samples say what: loads of links are judged where all of the sample was taken under the tables in
// force.

#include <cmath>
#include <utility>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

using routing::LinkSet;

bool Governor::Impl::traffic_moves() const {
  if (!step_) return false;
  switch (stage) {
    case Stage::Writing:
      return !by_planes();  // else a plane that nobody uses
    case Stage::Migrating:
    case Stage::Mending:
      return true;
    case Stage::Idle:
    case Stage::Rewriting:
    case Stage::Draining:
    case Stage::Closing:
      return false;
  }
  return false;
}

bool Governor::Impl::hosts_send_more() const {
  return sent_by_all(*latest_) > (1 + other_load) * judged_sent_;
}

void Governor::Impl::learn_what_is_unavoidable(const MeasuredLoads& loads, const LinkSet& available) {
  if (!(confirmed == available)) return;
  std::vector<double> shares(loads.hop.size(), 0);
  for (const Trunk& trunk : network->trunks()) {
    for (const LinkIndex link : trunk.links) {
      for (const std::uint32_t hop : {network->up_hop(link), network->down_hop(link)})
        shares[hop] = std::isnan(loads.hop[hop]) ? 0 : loads.hop[hop] / network->capacity(link);
    }
  }
  unavoidable_.measured(plane, std::move(shares), sent_by_all(loads));
}

}  // namespace heddle::regulation

// Which samples say what: loads of links are judged where all of the sample was taken under the tables in
// force.

#include <cmath>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

double sent_by_all(const MeasuredLoads& loads) {
  double sum = 0;
  for (const double sent : loads.sent) sum += std::isnan(sent) ? 0 : sent;
  return sum;
}

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

}  // namespace heddle::regulation

#include "metrics/subnet_manager_families.h"

#include <utility>

#include "metrics/family_maker.h"

namespace heddle::metrics {

void SubnetManagerMetrics::set(SubnetManagerFigures figures) {
  const std::lock_guard lock{mutex_};
  std::swap(figures_, figures);
}

std::vector<prometheus::MetricFamily> SubnetManagerMetrics::Collect() const {
  SubnetManagerFigures figures;
  {
    const std::lock_guard lock{mutex_};
    figures = figures_;
  }
  if (figures.role.empty()) return {};
  std::vector<prometheus::MetricFamily> all;
  const auto role = [&](const char* name) {
    return LabelledValue{{{"role", name}}, figures.role == name ? 1.0 : 0.0};
  };
  all.push_back(family_of(prometheus::MetricType::Gauge, "heddle_sm_role",
                          "What the daemon is to the subnet: its master, an observer, or there is no master",
                          {role("master"), role("observer"), role("none")}));
  all.push_back(counter("heddle_sm_master_changes_total", "Times that mastership moved", figures.moves));
  all.push_back(
      gauge("heddle_sm_master_answers", "1 while the master answers as such", figures.answers ? 1 : 0));
  if (!figures.master) return all;
  const SubnetManagerFigures::Master& master = *figures.master;
  all.push_back(family_of(prometheus::MetricType::Gauge, "heddle_sm_master_info", "1; who is master",
                          {{{{"guid", master.guid}, {"node", master.node}}, 1}}));
  all.push_back(gauge("heddle_sm_master_priority", "Of the master, 0 to 15", master.priority));
  all.push_back(gauge("heddle_sm_master_state",
                      "Of the master: 0 not active, 1 discovering, 2 standby, 3 master", master.state));
  return all;
}

}  // namespace heddle::metrics

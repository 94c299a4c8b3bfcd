#include "metrics/names.h"

#include <array>

#include "base/nearest.h"
#include "metrics/families.h"
#include "metrics/selection.h"

namespace heddle::metrics {
namespace {

/// Of those that prometheus-cpp writes: their makers have them only when there is something to say.
constexpr std::array<std::string_view, 70> of_parts{
    "heddle_sweeps_total",
    "heddle_late_sweeps_total",
    "heddle_readings_total",
    "heddle_failed_readings_total",
    "heddle_saturated_readings_total",
    "heddle_gap_readings_total",
    "heddle_port_resets_total",
    "heddle_failed_port_resets_total",
    "heddle_transaction_duration_seconds",
    "heddle_mads_sent_total",
    "heddle_mads_received_total",
    "heddle_transactions_total",
    "heddle_transaction_retries_total",
    "heddle_transaction_timeouts_total",
    "heddle_odd_mads_total",
    "heddle_send_errors_total",
    "heddle_transaction_window",
    "heddle_fabric_nodes",
    "heddle_fabric_links",
    "heddle_fabric_active_links",
    "heddle_sweep_duration_seconds",
    "heddle_sweep_missing_ports",
    "heddle_fabric_injected_bytes_per_second",
    "heddle_fabric_delivered_bytes_per_second",
    "heddle_fabric_utilization_ratio",
    "heddle_fabric_congestion_ratio",
    "heddle_last_sweep_timestamp_seconds",
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "process_virtual_memory_bytes",
    "process_open_fds",
    "process_max_fds",
    "process_threads",
    "process_start_time_seconds",
    "heddle_opensm_plugin_is_master",
    "heddle_opensm_plan_is_on_disk",
    "heddle_problems",
    "heddle_notify_queued",
    "heddle_notify_sent_total",
    "heddle_notify_failures_total",
    "heddle_notify_dropped_total",
    "heddle_health_findings",
    "heddle_port_bit_error_ratio",
    "heddle_qos_ports",
    "heddle_qos_drift_ports",
    "heddle_qos_silent_ports",
    "heddle_qos_reduced_ports",
    "heddle_qos_reapplied_ports_total",
    "heddle_qos_last_verify_timestamp_seconds",
    "heddle_energy_joules_total",
    "heddle_energy_saved_joules_total",
    "heddle_power_watts",
    "heddle_power_saving_watts",
    "heddle_link_transitions_total",
    "heddle_regulation_mode",
    "heddle_drain_safe",
    "heddle_baseline_differences",
    "heddle_link_power_state",
    "heddle_link_wake_seconds",
    "heddle_slow_links",
    "heddle_switch_energy_joules_total",
    "heddle_switch_energy_saved_joules_total",
    "heddle_link_energy_joules_total",
    "heddle_link_energy_saved_joules_total",
    "heddle_sm_role",
    "heddle_sm_master_changes_total",
    "heddle_sm_master_answers",
    "heddle_sm_master_info",
    "heddle_sm_master_priority",
    "heddle_sm_master_state",
};

}  // namespace

const std::vector<std::string_view>& family_names() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> names{of_parts.begin(), of_parts.end()};
    for (const Family& family : families()) names.push_back(family.name);
    return names;
  }();
  return all;
}

std::string meant_by(std::string_view word) {
  std::vector<std::string> known;
  for (const std::string_view group : family_groups()) known.emplace_back(group);
  for (const std::string_view name : family_names()) {
    known.emplace_back(name);
    for (auto end = name.find('_'); end != std::string_view::npos; end = name.find('_', end + 1))
      known.push_back(std::string{name.substr(0, end + 1)} + '*');
  }
  const auto found = nearest(word, {known.begin(), known.end()});
  return std::string{found.value_or("")};
}

}  // namespace heddle::metrics

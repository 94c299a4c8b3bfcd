// Whether a configuration can be carried out at all.

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "app/config.h"
#include "app/notify_config.h"
#include "control/http.h"
#include "plan/plan.h"

namespace heddle::app {
namespace {

/// Of sampling.timeout: an agent that takes longer is dead for every purpose of ours.
constexpr std::chrono::seconds longest_timeout{10};

Result<void> check_shared_state(const Config& config) {
  if (config.state.backend != StateBackend::Etcd) return {};
  if (auto good = shared::check(etcd_options(config)); !good) return good;
  const auto& etcd = config.state.etcd;
  const bool whole = etcd.lease == std::chrono::floor<std::chrono::seconds>(etcd.lease);
  if (!whole || etcd.lease < std::chrono::seconds{2} || etcd.lease > std::chrono::minutes{1}) {
    return fail(ErrorCode::Invalid, "state.etcd.lease: expected whole seconds, from 2 to 60");
  }
  if (etcd.prefix.empty() || etcd.prefix.ends_with('/')) {
    return fail(ErrorCode::Invalid, "state.etcd.prefix: expected a text that does not end with \"/\"");
  }
  if (!config.opensm.lfts_file.empty()) {
    return fail(ErrorCode::Unsupported,
                "state.backend = \"etcd\" goes with the own subnet manager or opensm.plugin, and not with "
                "opensm.lfts_file");
  }
  return {};
}

}  // namespace

Result<void> check_config(const Config& config) {
  if (config.fabric.backend == BackendKind::Sim && config.fabric.file.empty() &&
      config.fabric.generate.empty()) {
    return fail(
        ErrorCode::Invalid,
        "fabric.backend is \"sim\", but neither fabric.file nor fabric.generate says what to simulate");
  }
  if (!config.fabric.file.empty() && !config.fabric.generate.empty()) {
    return fail(ErrorCode::Invalid, "fabric.file and fabric.generate are both given: take one away");
  }
  if (config.fabric.backend != BackendKind::Sim && !config.fabric.serve.empty()) {
    return fail(ErrorCode::Invalid,
                "fabric.serve needs fabric.backend = \"sim\": only a simulated fabric is served");
  }
  for (const auto* file : {&config.fabric.file, &config.fabric.scenario, &config.fabric.node_names}) {
    std::error_code wrong;
    if (file == &config.fabric.scenario && *file == "demo") continue;  // built in
    if (!file->empty() && !std::filesystem::exists(*file, wrong)) {
      return fail(ErrorCode::NotFound, fmt::format("{}: there is no such file", *file));
    }
  }
  if (auto good = regulation::check(governor_options(config)); !good) {
    return fail("[regulation]", good.error());
  }
  const auto packet_life = config.regulation.governor.packet_life;
  if (packet_life < std::chrono::microseconds{1} && packet_life != packet_life.zero()) {
    return fail(ErrorCode::Invalid, "regulation.packet_life: expected 1us at least");
  }
  if (packet_life > std::chrono::microseconds{plan::most_packet_life_us}) {
    return fail(ErrorCode::Invalid,
                "regulation.packet_life: expected an hour at most: OpenSM's plugin takes no plan with more");
  }
  if (auto good = control::check_socket_path(config.control.socket); !good) {
    return fail("control.socket", good.error());
  }
  if (auto good = control::check_socket_path(config.opensm.socket); config.opensm.plugin && !good) {
    return fail("opensm.socket", good.error());
  }
  if (!config.metrics.listen.empty()) {
    if (auto good = control::check_tcp_address(config.metrics.listen); !good) {
      return fail("metrics.listen", good.error());
    }
  }
  if (auto good = metrics::check_families(config.metrics.selection.families); !good) {
    return fail("metrics.families", good.error());
  }
  const auto& tls = config.metrics.tls;
  if (tls.cert_file.empty() != tls.key_file.empty()) {
    return fail(ErrorCode::Invalid, "metrics.tls.cert_file and metrics.tls.key_file go together");
  }
  if (tls.cert_file.empty() && !tls.client_ca_file.empty()) {
    return fail(ErrorCode::Invalid, "metrics.tls.client_ca_file needs metrics.tls.cert_file");
  }
  if (std::error_code wrong; std::filesystem::is_directory(config.opensm.lfts_file, wrong)) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("opensm.lfts_file: {} is a directory: name the file of `lfts_file` in opensm.conf",
                    config.opensm.lfts_file));
  }
  if (config.opensm.plugin && !config.opensm.lfts_file.empty()) {
    return fail(
        ErrorCode::Invalid,
        "opensm.plugin and opensm.lfts_file exclude each other: OpenSM takes its tables either from the "
        "plugin or from a file (docs/opensm.md says when to use which)");
  }
  if (auto good = check_shared_state(config); !good) return good;
  if (auto good = distinct_destinations(config.notify_entries); !good) return good;
  if (config.sampling.per_agent > config.sampling.window) {
    return fail(ErrorCode::Invalid, "sampling.per_agent is more than sampling.window");
  }
  if (config.sampling.timeout > longest_timeout) {
    return fail(
        ErrorCode::Invalid,
        "sampling.timeout is more than 10s: a node that does not answer would hold up everybody else");
  }
  return {};
}

}  // namespace heddle::app

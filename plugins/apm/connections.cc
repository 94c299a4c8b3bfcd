#include "connections.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace heddle::apm {
namespace {

/// Of one connection at a time: load, migrate, load again, migrate where its directions were in different
/// planes, and load.
constexpr int most_steps = 6;

bool is_connection(const ibv_qp* qp) { return qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_UC; }

Migration state_of(ibv_mig_state state) {
  if (state == IBV_MIG_ARMED) return Migration::Armed;
  return state == IBV_MIG_REARM ? Migration::Rearm : Migration::Migrated;
}

Path path_of(const ibv_ah_attr& address) { return {address.dlid, address.src_path_bits}; }

/// Cut where it is too long; zeros are there already.
template <std::size_t Size>
void put(char (&to)[Size], const std::string& text) {
  std::memcpy(to, text.data(), std::min(text.size(), Size));
}

}  // namespace

// --- what the program did ---

bool Connections::on_modified(ibv_qp* qp, const ibv_qp_attr& attributes, int mask) {
  const std::lock_guard lock{mutex_};
  if ((mask & IBV_QP_STATE) == 0) return false;
  if (attributes.qp_state == IBV_QPS_RESET || attributes.qp_state == IBV_QPS_ERR) {
    pairs_.erase(qp);
    return false;
  }
  Pair& pair = pairs_[qp];
  if ((mask & IBV_QP_PORT) != 0) pair.port = {qp->context->device->name, attributes.port_num};
  if ((mask & IBV_QP_PKEY_INDEX) != 0) pair.pkey_index = attributes.pkey_index;
  if ((mask & IBV_QP_TIMEOUT) != 0) pair.timeout = attributes.timeout;
  if (!is_connection(qp)) {
    pair.kind = Kind::Other;
  } else if ((mask & (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)) != 0) {
    pair.kind = Kind::Unable;  // the program uses alternate paths itself
  } else if (attributes.qp_state == IBV_QPS_RTS && pair.kind == Kind::Fresh) {
    on_ready(qp, pair, mask);
  }
  return attributes.qp_state == IBV_QPS_RTS;
}

void Connections::on_ready(ibv_qp* qp, Pair& pair, int mask) {
  const std::string why = why_not(qp, pair, mask);
  pair.kind = why.empty() ? Kind::Movable : Kind::Unable;
  if (why.empty()) return;
  if (unable_devices_.insert(pair.port.device).second) {
    log_(pair.port.device + ":" + std::to_string(pair.port.port) + ": connections do not migrate: " + why);
  }
}

/// Empty: the connection can migrate.
std::string Connections::why_not(ibv_qp* qp, const Pair& pair, int /*mask*/) {
  auto known = migrates_.find(qp->context);
  if (known == migrates_.end()) {
    ibv_device_attr device{};
    const bool can = verbs_.query_device(qp->context, &device) == 0 &&
                     (device.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG) != 0;
    known = migrates_.emplace(qp->context, can).first;
  }
  if (!known->second) return "the adapter has no automatic path migration";
  ibv_port_attr port{};
  if (verbs_.query_port(qp->context, pair.port.port, &port) != 0) return "the port cannot be asked";
  if (port.link_layer == IBV_LINK_LAYER_ETHERNET) return "the port is Ethernet";
  if (port.lmc == 0) return "the port has one LID (LMC 0)";
  return {};
}

void Connections::on_destroy(const ibv_qp* qp) {
  const std::lock_guard lock{mutex_};
  pairs_.erase(qp);
}

/// It has moved, or its other end: it is to be armed again.
void Connections::on_event(const ibv_async_event& event) {
  if (event.event_type != IBV_EVENT_PATH_MIG && event.event_type != IBV_EVENT_PATH_MIG_ERR) return;
  const std::lock_guard lock{mutex_};
  ++(event.event_type == IBV_EVENT_PATH_MIG ? migrated_ : failed_to_migrate_);
  if (const auto pair = pairs_.find(event.element.qp); pair != pairs_.end()) {
    pair->second.settled = false;
    if (event.event_type == IBV_EVENT_PATH_MIG) pair->second.has_migrated = true;
  }
}

// --- what the agent wants ---

void Connections::move(const PortName& port, unsigned plane, std::uint64_t order, Clock::time_point now) {
  const std::lock_guard lock{mutex_};
  Wish& wish = wishes_[port];
  wish.plane = plane;
  wish.order = order;
  for (auto& [qp, pair] : pairs_) {
    if (pair.port == port) pair.strays = pair.was_there = pair.has_migrated = false;
  }
  want_anew(port, now);
}

void Connections::arm(const PortName& port, Clock::time_point now) {
  const std::lock_guard lock{mutex_};
  want_anew(port, now);
}

void Connections::want_anew(const PortName& port, Clock::time_point now) {
  wishes_[port].trouble.clear();
  for (auto& [qp, pair] : pairs_) {
    if (pair.port != port) continue;
    pair.settled = pair.failed = false;
    pair.wait_until = now + patience;
  }
}

// --- moving ---

bool Connections::work(Clock::time_point now) {
  std::vector<const ibv_qp*> all;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [qp, pair] : pairs_) {
      if (pair.kind == Kind::Movable && !pair.settled) all.push_back(qp);
    }
  }
  bool some_wait = false;
  for (const ibv_qp* qp : all) {
    const std::lock_guard lock{mutex_};
    const auto found = pairs_.find(qp);
    if (found == pairs_.end() || found->second.settled) continue;
    some_wait = advance(const_cast<ibv_qp*>(qp), found->second, now) || some_wait;
  }
  return some_wait;
}

/// True: its other end is waited for, or given time.
bool Connections::advance(ibv_qp* qp, Pair& pair, Clock::time_point now) {
  if (pair.wait_until == Clock::time_point{}) pair.wait_until = now + patience;
  for (int steps = 0; steps < most_steps; ++steps) {
    ibv_qp_attr attributes{};
    if (const int error = look(qp, pair, attributes, now)) {
      fail(qp, pair, "query", error);
      return false;
    }
    const Next next = next_step(pair.seen, target_of(pair));
    int error = 0;
    switch (next.step) {
      case Step::Rest:
        pair.settled = true;
        return false;
      case Step::Wait:
        if (now < pair.wait_until) return true;
        fail(qp, pair, "its other end has not answered, or nothing is sent", 0);
        return false;
      case Step::Load:
        if (now < pair.migrated_since + moment) return true;
        error = load(qp, attributes, next.path);
        if (error != 0) fail(qp, pair, "load the alternate path", error);
        break;
      case Step::Migrate:
        if (now < pair.armed_since + moment) return true;
        error = migrate(qp);
        // The other end may have been faster: then it has moved already.
        if (error == EINVAL && look(qp, pair, attributes, now) == 0 && pair.seen.state == Migration::Migrated)
          error = 0;
        if (error != 0) fail(qp, pair, "migrate", error);
        break;
    }
    if (error != 0) return false;
  }
  fail(qp, pair, "it moves to and fro", 0);
  return false;
}

/// Who has left a plane without being told found no way there, or its other end did: the order that it was
/// told before says nothing of that. An event may also be of a move that is past when the program hears of
/// it.
std::optional<unsigned> Connections::target_of(Pair& pair) {
  const auto target = wishes_[pair.port].plane;
  const bool is_there = target && plane_of(pair.seen.primary) == target;
  if (std::exchange(pair.has_migrated, false) && pair.was_there && !is_there) pair.strays = true;
  pair.was_there = pair.was_there || is_there;
  return pair.strays ? std::nullopt : target;
}

int Connections::look(ibv_qp* qp, Pair& pair, ibv_qp_attr& attributes, Clock::time_point now) {
  ibv_qp_init_attr made{};
  constexpr int mask =
      IBV_QP_STATE | IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_PKEY_INDEX | IBV_QP_TIMEOUT;
  if (const int error = verbs_.query_qp(qp, &attributes, mask, &made)) return error;
  if (attributes.qp_state != IBV_QPS_RTS) return ENOTCONN;
  const Seen seen{state_of(attributes.path_mig_state), path_of(attributes.ah_attr),
                  path_of(attributes.alt_ah_attr)};
  if (pair.known && pair.seen.primary != seen.primary) pair.migrated_since = now;
  const bool was_armed = pair.known && pair.seen.state == Migration::Armed;
  if (seen.state == Migration::Armed && !was_armed) pair.armed_since = now;
  pair.seen = seen;
  pair.known = true;
  return 0;
}

int Connections::load(ibv_qp* qp, const ibv_qp_attr& now, const Path& path) {
  const Pair& pair = pairs_.at(qp);
  ibv_qp_attr change{};
  change.alt_ah_attr = now.ah_attr;
  change.alt_ah_attr.dlid = path.dlid;
  change.alt_ah_attr.src_path_bits = path.source_bits;
  change.alt_port_num = change.alt_ah_attr.port_num = pair.port.port;
  change.alt_pkey_index = pair.pkey_index;
  change.alt_timeout = pair.timeout;
  change.path_mig_state = IBV_MIG_REARM;
  return verbs_.modify_qp(qp, &change, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
}

int Connections::migrate(ibv_qp* qp) {
  ibv_qp_attr change{};
  change.path_mig_state = IBV_MIG_MIGRATED;
  return verbs_.modify_qp(qp, &change, IBV_QP_PATH_MIG_STATE);
}

/// It stays where it is until somebody wants it anew.
void Connections::fail(ibv_qp* qp, Pair& pair, const char* what, int error) {
  pair.settled = pair.failed = true;
  std::string& trouble = wishes_[pair.port].trouble;
  if (!trouble.empty()) return;
  char number[16];
  std::snprintf(number, sizeof number, "qp 0x%06x", qp->qp_num);
  trouble = std::string{number} + ": " + what;
  if (error != 0) trouble += ": " + std::error_code(error, std::generic_category()).message();
}

// --- how things are ---

std::vector<PortName> Connections::ports() const {
  const std::lock_guard lock{mutex_};
  std::set<PortName> ports;
  for (const auto& [qp, pair] : pairs_) ports.insert(pair.port);
  for (const auto& [port, wish] : wishes_) ports.insert(port);
  return {ports.begin(), ports.end()};
}

local::Report Connections::report(const PortName& port) const {
  const std::lock_guard lock{mutex_};
  local::Report report;
  put(report.port.device, port.device);
  report.port.port = port.port;
  const auto wish = wishes_.find(port);
  const bool wanted = wish != wishes_.end();
  if (wanted) {
    report.order = wish->second.order;
    put(report.trouble, wish->second.trouble);
  }
  for (const auto& [qp, pair] : pairs_) {
    if (pair.port != port) continue;
    if (pair.kind == Kind::Unable) ++report.unable;
    if (pair.kind == Kind::Other) ++report.others;
    if (pair.kind != Kind::Movable) continue;
    ++report.connections;
    const auto plane = pair.known ? plane_of(pair.seen.primary) : std::nullopt;
    if (plane) ++report.in_plane[*plane];
    if (pair.known && pair.seen.state == Migration::Armed) ++report.armed;
    if (pair.failed) ++report.failed;
    if (!pair.settled && wanted && wish->second.plane && plane != wish->second.plane) ++report.moving;
  }
  report.migrated = migrated_;
  report.failed_to_migrate = failed_to_migrate_;
  return report;
}

void Connections::forget() {
  pairs_.clear();
  wishes_.clear();
  migrates_.clear();
}

}  // namespace heddle::apm

/// What the control API needs to know of the daemon. Filled by app/ for each request, so that the API neither
/// sees the daemon's parts nor keeps anything.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "base/units.h"
#include "core/cabling_watch.h"
#include "discovery/table_reader.h"
#include "fabric/change.h"
#include "fabric/fabric.h"
#include "fabric/planes.h"
#include "health/bit_errors.h"
#include "health/finding.h"
#include "health/isolation.h"
#include "jobs/report.h"
#include "load/history.h"
#include "load/locality.h"
#include "load/sample.h"
#include "regulate/drain_shown.h"
#include "transport/transactions.h"

namespace heddle::control {

struct SubnetManagerState {
  std::string role;    ///< "master" (the daemon itself), "none", "observer" (another one is master)
  std::string master;  ///< name of the node where the master runs, if known
  Lid master_lid;
  std::optional<PortGuid> master_guid;   ///< as the master says, if it ever did
  std::optional<std::uint8_t> priority;  ///< likewise
  std::string state;                     ///< of SMInfo, likewise; empty if not known
  bool answers = false;                  ///< as master, when it was asked last
  std::uint64_t moves = 0;               ///< times that mastership moved
  std::string stage;                     ///< of a sweep under way, or empty
};

struct SamplingState {
  std::uint64_t sweeps = 0;
  FabricClock::duration last_sweep{};  ///< from first MAD to last
  FabricClock::duration interval{};
  std::uint64_t overruns = 0;  ///< intervals at whose beginning no sweep began
};

/// Somebody who is told of events and problems.
struct NotifyState {
  std::string name;
  std::string what;  ///< kind, and address where that is no secret
  std::uint64_t queued = 0;
  std::uint64_t sent = 0;     ///< since the start
  std::uint64_t dropped = 0;  ///< never to be sent
  std::string trouble;        ///< why nothing is taken; empty where it is
};

/// The jobs that run on the hosts of this fabric.
struct JobsState {
  std::string source;                          ///< who says so; empty: nobody
  std::shared_ptr<const jobs::Report> report;  ///< null before the first answer
  std::optional<FabricClock::duration> age;    ///< of the answer
  std::string trouble;                         ///< why no later one has come; empty where it is well
};

/// Of a daemon that owns its fabric by turns with others.
struct SharedStateShown {
  std::string name;   ///< of this daemon; empty: it is alone
  std::string owner;  ///< empty: nobody, or not known
  bool owns = false;
  FabricClock::duration lease_left{};  ///< where it owns
};

/// What an operator wants of a link, or health; kept until it ends.
struct WishShown {
  LinkRef link;
  std::string wish;
  std::string by;
  std::string reason;
  std::optional<FabricClock::duration> left;  ///< none: until somebody ends it
};

/// How the fabric is to be cabled, and whether it is.
struct BaselineShown {
  regulation::Baseline kept;
  std::shared_ptr<const core::CablingFound> found;  ///< null before it was compared
};

struct DaemonState {
  std::string version;
  std::string backend;  ///< "sim" or "umad"
  std::string source;   ///< file, generator text or device
  FabricClock::duration uptime{};
  std::shared_ptr<const Fabric> fabric;          ///< none before the first sweep
  std::size_t met = 0;                           ///< nodes that the first one has found so far
  std::shared_ptr<const Planes> planes;          ///< of `fabric`; may be null
  std::shared_ptr<const load::Sample> sample;    ///< none before the first sample; of its own snapshot
  std::function<std::string(const Node&)> name;  ///< printable; from the node name map or the description
  const load::History* history = nullptr;
  std::shared_ptr<const load::LocalitySets> sets;  ///< those of the sample, once there is one
  Problems problems;
  std::vector<regulate::DrainShown> drains;
  std::vector<WishShown> wishes;  ///< the first ones
  std::size_t wish_count = 0;     ///< all of them
  std::optional<BaselineShown> baseline;
  SharedStateShown shared_state;
  JobsState jobs;
  std::vector<NotifyState> notify;
  std::shared_ptr<const health::Report> health;  ///< none before the first sample
  /// Of all switches, as they were read back last; null before that.
  std::shared_ptr<const discovery::TablesRead> tables;
  health::Isolate isolate = health::Isolate::Off;
  std::vector<health::IsolationOrder> to_isolate;  ///< advised, or being ordered
  std::vector<health::IsolationOrder> isolated;    ///< out of use by such orders, until when
  /// Of the physical layer of every port that has counters of it; may be null.
  std::shared_ptr<const std::vector<health::PortBitErrors>> bit_errors;
  Instant now{};
  std::string no_regulation;  ///< why there is none; empty where there is
  SubnetManagerState subnet_manager;
  /// Of the last round of light sweeps over all ports of the switches; none where nobody goes at a pace.
  std::optional<FabricClock::duration> light_round;
  std::optional<FabricClock::duration> full_round;  ///< of the last full sweep, likewise
  SamplingState sampling;
  transport::TransactionStatistics transactions;
};

}  // namespace heddle::control

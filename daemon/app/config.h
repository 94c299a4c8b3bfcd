/// The daemon's configuration: one TOML file, every key also as `--set section.key=value`. A list of keys
/// with their documentation is the single source: reading, overriding and the shipped default file all come
/// from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "control/tls.h"
#include "health/isolation.h"
#include "health/options.h"
#include "metrics/selection.h"
#include "power/calibration.h"
#include "power/power_model.h"
#include "power/savings.h"
#include "regulation/governor_options.h"
#include "shared/etcd_store.h"
#include "sim/plane_kind.h"

namespace heddle::app {

enum class StateBackend : unsigned char { Sqlite, Etcd };
enum class BackendKind : unsigned char { Sim, Umad };
/// Whether the daemon may act as the fabric's subnet manager.
enum class SmMode : unsigned char {
  ByBackend,  ///< Auto on a simulated fabric, Off on a real one
  Auto,
  Off,
};
enum class RoutingEngine : unsigned char { UpDown, MinHop };

/// Which models of switches there are besides those of the configuration.
enum class PowerModels : unsigned char { Shipped, Sfs7000d, ByBackend };

/// Of what /metrics tells the energy one by one.
enum class EnergyDetail : unsigned char { Total, Switch, Link };

/// What becomes of links that are off when the daemon is stopped.
enum class OnStop : unsigned char { Restore, Leave };

/// A named set of nodes for locality; patterns are globs over node names.
struct NamedSet {
  std::string name;
  std::vector<std::string> nodes;
};

/// [[notify.destination]], as it stands in the file: notify_config.h makes destinations of these.
struct NotifyEntry {
  std::string place;  ///< file and line, for messages
  std::map<std::string, std::vector<std::string>> values;
  friend bool operator==(const NotifyEntry& a, const NotifyEntry& b) { return a.values == b.values; }
};

/// What a key may be given.
using ConfigValue = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;

struct Config {
  using Seconds = std::chrono::nanoseconds;

  struct {
    BackendKind backend = BackendKind::Umad;
    std::string file;
    std::string generate;
    std::string scenario;
    sim::PlaneKind plane = sim::PlaneKind::Flow;
    double time_scale = 1;
    Seconds training_delay = std::chrono::milliseconds{4500};
    Seconds longest_training = std::chrono::milliseconds{1};
    std::uint64_t seed = 1;
    std::string serve;
    std::string node_names;
    bool partial = false;
    std::string device;
    bool read_only = false;
    std::uint64_t m_key = 0;
  } fabric;

  struct {
    SmMode mode = SmMode::ByBackend;
    std::uint64_t sm_key = 1;
    std::uint64_t lmc = 0;
    RoutingEngine engine = RoutingEngine::UpDown;
    bool administrator = true;
  } sm;

  struct {
    Seconds light_interval = std::chrono::seconds{10};
    Seconds heavy_interval = std::chrono::minutes{10};
    std::uint64_t smps_per_second = 1000;
  } sweep;

  struct {
    Seconds verify_interval = std::chrono::minutes{10};
  } qos;

  struct {
    Seconds interval = std::chrono::seconds{1};
    std::uint64_t window = 64;
    std::uint64_t per_agent = 4;
    Seconds timeout = std::chrono::milliseconds{200};
    std::uint64_t retries = 3;
    std::uint64_t history = 120;
  } sampling;

  struct {
    std::string listen = "127.0.0.1:9683";
    EnergyDetail energy = EnergyDetail::Link;
    heddle::metrics::Selection selection;
    std::string fabric;
    std::string tokens_file;
    control::TlsFiles tls;
  } metrics;

  struct {
    std::string socket = "/run/heddle/control.sock";
    std::string group = "heddle";
    bool others_may_read = false;
    std::vector<std::string> hosts;
  } control;

  struct {
    std::string directory = "/var/lib/heddle";
    StateBackend backend = StateBackend::Sqlite;
    struct {
      std::vector<std::string> endpoints;
      std::string prefix = "/heddle";
      std::string name;
      Seconds lease = std::chrono::seconds{5};
      std::string ca;
      std::string cert;
      std::string key;
    } etcd;
  } state;

  struct {
    regulation::GovernorOptions governor{};
    OnStop on_stop = OnStop::Restore;
    std::vector<std::string> pin;
  } regulation;

  struct {
    std::string key_file;
    Seconds interval = std::chrono::seconds{30};
    Seconds patience = std::chrono::seconds{10};
  } agents;

  power::Tariff tariff;

  struct {
    PowerModels switches = PowerModels::ByBackend;
    power::Unmatched unmatched = power::Unmatched::Unknown;  ///< of switches, with the shipped models
    power::Cable cables = power::Cable::Copper;
    std::vector<power::Reading> measured;
  } power;

  struct {
    bool plugin = false;
    std::string socket = "/run/heddle/opensm.sock";
    std::uint64_t lmc = 0;
    bool reduction = false;
    std::string lfts_file;
    std::string reload;
  } opensm;

  struct {
    std::string source;
    Seconds interval = std::chrono::seconds{30};
  } jobs;

  heddle::health::Options health;
  heddle::health::IsolationOptions isolation;  ///< [health], too

  struct {
    std::string level = "info";
  } log;

  struct {
    std::uint64_t queue = 10'000;
  } notify;

  struct {
    std::uint64_t most = 1'000'000'000;  ///< bytes
  } record;

  std::vector<NamedSet> sets;                    ///< [[locality.set]]
  std::vector<power::DeviceModel> power_models;  ///< [[power.model]]
  std::vector<NotifyEntry> notify_entries;       ///< [[notify.destination]]
  std::map<std::string, ConfigValue> given;      ///< keys that the file or --set named, as they were given
};

/// Reads a file. Errors name the file and the line: syntax, a key that is not known, a value that does not
/// fit.
[[nodiscard]] Result<Config> read_config(const std::string& path);
/// The same from text; `name` stands for the file in messages.
[[nodiscard]] Result<Config> parse_config(std::string_view text, const std::string& name);

/// "sampling.interval=2s", as given with --set.
[[nodiscard]] Result<void> override_config(Config& config, const std::string& assignment);

/// What one key alone cannot tell: the simulator has a fabric to simulate, the paths are there.
[[nodiscard]] Result<void> check_config(const Config& config);

/// What is given of state.etcd.
[[nodiscard]] shared::EtcdOptions etcd_options(const Config& config);
/// Whether this daemon owns the fabric with daemons of other hosts by turns.
[[nodiscard]] bool shares_state(const Config& config);

/// Whether this daemon stands for subnet manager at all.
[[nodiscard]] bool may_manage_subnet(const Config& config);

/// What the regulation is to do, as configured; LID planes are those of whoever writes the tables.
[[nodiscard]] regulation::GovernorOptions governor_options(const Config& config);

/// The default file: every key with its documentation and its default.
[[nodiscard]] std::string default_config_text();

}  // namespace heddle::app

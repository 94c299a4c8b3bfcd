// A port of this host: the first of the configured ones that works, and another one when it does not any
// more.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "app/backend.h"
#include "transport/clock.h"
#include "transport/failover_transport.h"
#include "transport/port_mark.h"
#include "transport/umad_transport.h"

namespace heddle::app {
namespace {

using transport::Access;
using transport::FailoverTransport;
using transport::UmadTransport;

/// "mlx5_0:1, mlx5_1:1"; nothing is one name, the empty one.
std::vector<std::string> names_of(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream in{list};
  for (std::string name; std::getline(in, name, ',');) {
    const std::size_t first = name.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    names.push_back(name.substr(first, name.find_last_not_of(" \t") - first + 1));
  }
  if (names.empty()) names.emplace_back();
  return names;
}

Access access_of(const Config& config) { return config.fabric.read_only ? Access::Read : Access::Write; }

/// Whether ports are Active, looked up in a thread of its own: the driver may take seconds to answer, for
/// instance while it resets its adapter.
class PortWatch {
 public:
  explicit PortWatch(std::vector<std::string> spares) : spares_{std::move(spares)} {}
  ~PortWatch() { thread_.join(); }

  void use(const std::string& name) {
    const std::lock_guard lock{mutex_};
    in_use_ = name;
  }
  [[nodiscard]] std::vector<Backend::Rail> other_rails() const {
    const std::lock_guard lock{mutex_};
    return rails_;
  }

  [[nodiscard]] bool active(const std::string& name) const {
    const std::lock_guard lock{mutex_};
    const auto found = active_.find(name);
    return found != active_.end() && found->second;
  }
  void know(const std::string& name, bool active) {
    const std::lock_guard lock{mutex_};
    active_[name] = active;
  }
  /// For the next question. Nothing happens while an earlier look is under way.
  void look() {
    const std::lock_guard lock{mutex_};
    if (std::exchange(looking_, true)) return;
    std::vector<std::string> names;
    for (const auto& [name, active] : active_) names.push_back(name);
    boost::asio::post(thread_, [this, names = std::move(names)] {
      for (const std::string& name : names) know(name, transport::is_active(name));
      if (looks_++ % looks_for_rails == 0) look_for_rails();
      const std::lock_guard own_lock{mutex_};
      looking_ = false;
    });
  }

 private:
  /// Adapters come and go seldom.
  static constexpr unsigned looks_for_rails = 6;

  void look_for_rails() {
    std::vector<Backend::Rail> rails;
    std::string in_use;
    {
      const std::lock_guard lock{mutex_};
      in_use = in_use_;
    }
    for (const auto& port : transport::other_rails(transport::all_umad_ports(), in_use, spares_)) {
      const std::string name = transport::name_of(port);
      if (!transport::PortMark::is_there(name)) rails.push_back({name, port.guid});
    }
    const std::lock_guard lock{mutex_};
    rails_ = std::move(rails);
  }

  std::vector<std::string> spares_;
  unsigned looks_ = 0;  ///< of the thread
  mutable std::mutex mutex_;
  std::string in_use_;
  std::vector<Backend::Rail> rails_;
  std::map<std::string, bool> active_;
  bool looking_ = false;
  boost::asio::thread_pool thread_{1};
};

class UmadBackend final : public Backend {
 public:
  UmadBackend(boost::asio::io_context& io, const Config& config)
      : io_{io},
        access_{access_of(config)},
        patience_{std::chrono::ceil<std::chrono::milliseconds>(config.sampling.timeout)},
        agents_{!config.agents.key_file.empty()},
        ports_{names_of(config.fabric.device)} {}

  Result<void> open(const Config& config) {
    std::vector<FailoverTransport::Candidate> candidates;
    for (const std::string& name : names_of(config.fabric.device)) {
      // The port that a name once stood for is the one that is asked about and opened again: "the first
      // active port" may be another one by then, in another subnet.
      auto port = std::make_shared<std::string>();
      candidates.push_back({name.empty() ? "first active port" : name,
                            [this, name, port] { return open_port(port->empty() ? name : *port, *port); },
                            [this, name, port] { return is_active(name, *port); }});
    }
    auto opened = FailoverTransport::open(std::move(candidates), [this](const std::string& name) {
      spdlog::warn("the fabric is reached by port {} ({}) from here on", opened_, name);
      ++switches_;
    });
    if (!opened) return fail(opened.error());
    transport_ = *std::move(opened);
    return {};
  }

  [[nodiscard]] transport::Transport& transport() override { return *transport_; }
  [[nodiscard]] const transport::Clock& clock() const override { return clock_; }
  [[nodiscard]] std::string kind() const override { return "umad"; }
  [[nodiscard]] std::string source() const override { return opened_; }
  [[nodiscard]] bool check() override {
    const auto before = switches_;
    if (transport_->gone() && !std::exchange(said_gone_, true)) spdlog::error("{}", *problem());
    transport_->check();
    if (!transport_->gone()) said_gone_ = false;
    ports_.look();
    return switches_ != before;
  }
  [[nodiscard]] std::vector<Rail> other_rails() const override { return ports_.other_rails(); }
  [[nodiscard]] std::optional<std::string> problem() const override {
    if (!transport_->gone()) return std::nullopt;
    return fmt::format(
        "port {} is gone (its adapter was reset, or its driver unloaded): it is opened again when it is back",
        opened_);
  }
  void stop() override {
    if (auto* port = dynamic_cast<UmadTransport*>(&transport_->current())) port->stop();
  }

 private:
  Result<std::unique_ptr<transport::Transport>> open_port(const std::string& name, std::string& found) {
    const auto port = transport::find_umad_port(name);
    if (!port) return fail(port.error());
    auto opened = UmadTransport::open(
        io_, clock_, *port, {.access = access_, .patience = patience_, .speaks_with_agents = agents_});
    if (!opened) return fail(opened.error());
    opened_ = found = transport::name_of(*port);
    mark_.reset();
    mark_.emplace(opened_);
    ports_.use(opened_);
    ports_.know(found, port->active);
    return *std::move(opened);
  }
  [[nodiscard]] bool is_active(const std::string& name, std::string& port) {
    if (port.empty()) {  // while the daemon starts
      const auto found = transport::find_umad_port(name);
      if (!found) return false;
      port = transport::name_of(*found);
      ports_.know(port, found->active);
    }
    return ports_.active(port);
  }

  boost::asio::io_context& io_;
  Access access_;
  std::chrono::milliseconds patience_;
  bool agents_;  ///< of hosts are spoken with
  transport::SteadyClock clock_;
  PortWatch ports_;
  std::string opened_;  ///< "mlx5_0:1"
  std::optional<transport::PortMark> mark_;
  std::size_t switches_ = 0;
  bool said_gone_ = false;
  std::unique_ptr<FailoverTransport> transport_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_umad_backend(boost::asio::io_context& io, const Config& config) {
  auto backend = std::make_unique<UmadBackend>(io, config);
  if (auto opened = backend->open(config); !opened) return fail("fabric.device", opened.error());
  return backend;
}

}  // namespace heddle::app

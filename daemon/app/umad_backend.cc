// A port of this host: the first of the configured ones that works, and another one when it does not any
// more.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <sstream>
#include <utility>
#include <vector>

#include "app/backend.h"
#include "transport/clock.h"
#include "transport/failover_transport.h"
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

Access access_of(const Config& config) {
  if (config.fabric.read_only) return Access::Read;
  return config.sm.mode == SmMode::Off ? Access::Write : Access::Manage;
}

class UmadBackend final : public Backend {
 public:
  UmadBackend(boost::asio::io_context& io, const Config& config) : io_{io}, access_{access_of(config)} {}

  Result<void> open(const Config& config) {
    std::vector<FailoverTransport::Candidate> candidates;
    for (const std::string& name : names_of(config.fabric.device)) {
      candidates.push_back({name.empty() ? "first active port" : name,
                            [this, name] { return open_port(name); },
                            [name] {
                              const auto port = transport::find_umad_port(name);
                              return port && port->active;
                            }});
    }
    auto opened = FailoverTransport::open(std::move(candidates), [](const std::string& name) {
      spdlog::warn("the fabric is reached by port {} from here on", name);
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
    const std::string before = opened_;
    transport_->check();
    return opened_ != before;
  }
  void stop() override {
    if (auto* port = dynamic_cast<UmadTransport*>(&transport_->current())) port->stop();
  }

 private:
  Result<std::unique_ptr<transport::Transport>> open_port(const std::string& name) {
    const auto port = transport::find_umad_port(name);
    if (!port) return fail(port.error());
    transport::UmadOptions options{.access = access_};
    auto opened = UmadTransport::open(io_, clock_, *port, options);
    if (!opened && opened.error().code == ErrorCode::Conflict) {
      spdlog::info("{}; watching without being one", opened.error().message);
      options.access = Access::Write;
      opened = UmadTransport::open(io_, clock_, *port, options);
    }
    if (!opened) return fail(opened.error());
    opened_ = fmt::format("{}:{}", port->device, port->port);
    return *std::move(opened);
  }

  boost::asio::io_context& io_;
  Access access_;
  transport::SteadyClock clock_;
  std::string opened_;  ///< "mlx5_0:1"
  std::unique_ptr<FailoverTransport> transport_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_umad_backend(boost::asio::io_context& io, const Config& config) {
  auto backend = std::make_unique<UmadBackend>(io, config);
  if (auto opened = backend->open(config); !opened) return fail("fabric.device", opened.error());
  return backend;
}

}  // namespace heddle::app

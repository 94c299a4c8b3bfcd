/// heddle-agent as it runs: one thread that waits for MADs, for programs and for signals.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/kernel_pairs.h"
#include "agent/programs.h"
#include "agent/settings.h"
#include "agent/umad_ports.h"
#include "apm/agent.h"

namespace heddle::agent {

/// One port's side of the protocol: its programs, its kernel's count, its number on disk.
class HostPort final : public apm::Host {
 public:
  using Pairs = Result<std::vector<KernelPair>> (*)();

  HostPort(Programs& programs, const Settings& settings, PortName name, PortGuid guid, Pairs pairs);

  /// As an earlier run has kept it; 0: none has. Errors: Io, Invalid for a file that holds something else.
  [[nodiscard]] Result<std::uint64_t> kept() const;

  [[nodiscard]] apm::Standing standing() override;
  void arm() override { programs_.arm(name_); }
  void move(unsigned plane) override { programs_.move(name_, plane); }
  [[nodiscard]] Result<void> keep(std::uint64_t sequence) override;

 private:
  Programs& programs_;
  const Settings& settings_;
  PortName name_;
  std::string file_;
  Pairs pairs_;
};

class Service {
 public:
  /// Errors: those of its parts.
  static Result<std::unique_ptr<Service>> start(const Settings& settings);

  /// Until `stop` (a descriptor) has input. Errors: Io when a port has gone.
  Result<void> run(int stop);
  [[nodiscard]] std::size_t ports() const { return ports_.size(); }

 private:
  struct Port {
    std::unique_ptr<UmadPort> umad;
    std::unique_ptr<HostPort> host;
    std::unique_ptr<apm::Agent> agent;
  };

  explicit Service(const Settings& settings) : settings_{settings} {}
  Result<void> add(const PortName& name, const apm::Key& key);
  Result<void> serve(Port& port);

  Settings settings_;
  std::unique_ptr<Programs> programs_;
  std::vector<Port> ports_;
};

}  // namespace heddle::agent

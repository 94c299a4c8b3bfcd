/// Ports of this host at which agents are asked, through libibumad: requests of the class come here, and
/// answers go back. A port has one owner of the class's requests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/programs.h"
#include "base/ids.h"
#include "base/result.h"
#include "mad/packet.h"

namespace heddle::agent {

class UmadPort {
 public:
  /// Errors: NotFound, Io; Conflict where another program takes the class's requests.
  static Result<std::unique_ptr<UmadPort>> open(const PortName& name);
  ~UmadPort();
  UmadPort(const UmadPort&) = delete;
  UmadPort& operator=(const UmadPort&) = delete;

  [[nodiscard]] const PortName& name() const { return name_; }
  [[nodiscard]] PortGuid guid() const { return guid_; }
  [[nodiscard]] int descriptor() const;
  /// As the port says now: it changes when a subnet manager does.
  [[nodiscard]] Lid sm_lid() const;

  /// What has come in; none: nothing more. Errors: Io when the device has gone.
  [[nodiscard]] Result<std::optional<mad::Packet>> receive();
  Result<void> send(const mad::Packet& packet);

 private:
  explicit UmadPort(PortName name) : name_{std::move(name)} {}
  Result<void> begin();

  PortName name_;
  PortGuid guid_;
  int fd_ = -1;
  int agent_ = -1;
};

/// "mlx5_0:1" and the like; every InfiniBand port of this host where the list is empty. Errors: NotFound,
/// Invalid.
[[nodiscard]] Result<std::vector<PortName>> find_ports(const std::vector<std::string>& names);

}  // namespace heddle::agent

/// Says to other daemons of this host that one looks at the fabric behind a port: a socket with the port's
/// name in the abstract namespace, which the kernel takes away with the process, however it ends.
#pragma once

#include <string>

namespace heddle::transport {

class PortMark {
 public:
  /// "mlx5_0:1". Where another process holds the mark already, or there can be none, nothing is marked.
  explicit PortMark(const std::string& port);
  ~PortMark();
  PortMark(const PortMark&) = delete;
  PortMark& operator=(const PortMark&) = delete;

  /// Whether a process of this host, or container, looks at the fabric behind the port.
  [[nodiscard]] static bool is_there(const std::string& port);

 private:
  int socket_ = -1;
};

}  // namespace heddle::transport

/// The programs of this host that have libheddle-apm.so: who they are, how their connections stand, and what
/// they are told. A Unix socket at which everybody may connect; the kernel says who did (SO_PEERCRED). What a
/// program reports counts for itself, and it is told to move its own connections only, which nobody else can.
///
/// No user has more than his share of the places, so that none keeps others out, and nobody is listened to
/// longer than for a report of each port. One thread; nothing waits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apm/local.h"
#include "apm/message.h"
#include "base/result.h"
#include "files/descriptor.h"

namespace heddle::agent {

/// A port of this host, "mlx5_0" and 1.
using PortName = std::pair<std::string, unsigned>;

class Programs {
 public:
  static constexpr std::size_t most = 4096;      ///< or what the limit of open files leaves room for
  static constexpr std::size_t users = 4;        ///< who could share all places
  static constexpr std::size_t most_ports = 32;  ///< of a program

  /// Errors: Io.
  static Result<std::unique_ptr<Programs>> listen(const std::string& socket);
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  /// What to poll for input.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// Has input, or an end. What more it has is there the next time.
  void on_ready(int descriptor);

  void arm(const PortName& port);
  void move(const PortName& port, unsigned plane);
  /// The connections of all programs, those that they have at this port.
  [[nodiscard]] apm::Standing standing(const PortName& port) const;
  /// How many queue pairs of any kind each process has reported there.
  [[nodiscard]] std::map<pid_t, std::uint32_t> reported(const PortName& port) const;
  [[nodiscard]] std::size_t size() const { return programs_.size(); }

 private:
  struct Program {
    explicit Program(int fd) : socket{fd} {}
    Descriptor socket;
    pid_t process = 0;
    uid_t user = 0;
    std::map<PortName, apm::local::Report> reports{};
    std::map<PortName, std::uint64_t> told{};  ///< the last order
  };
  struct Order {
    std::uint64_t number = 0;
    unsigned plane = 0;
  };

  Programs(int listener, std::string socket);
  void accept_one();
  enum class Said : std::uint8_t { Something, Nothing, Goodbye };
  [[nodiscard]] Said read_report(Program& program);
  void tell_all(const apm::local::Command& command, const PortName& port);
  [[nodiscard]] bool tell(Program& program, apm::local::Command command, const PortName& port);

  Descriptor listener_;
  std::string socket_;
  std::size_t places_;
  std::map<int, Program> programs_;
  std::map<PortName, Order> orders_;
  std::uint64_t last_order_ = 0;
};

}  // namespace heddle::agent

/// The thread of this library: connects to heddle-agent, tells it how the connections of this process stand,
/// and does what it says. Without an agent it tries again now and then, and does nothing.
///
/// The socket is one that root or heddle-agent's user listens at: its directory is writable for its owner
/// only, and SO_PEERCRED says who answers. What comes in can move this process' connections and nothing else.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "connections.h"

namespace heddle::apm {

class AgentLink {
 public:
  AgentLink(Connections& connections, std::string socket);
  /// Ends the thread.
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  /// There is something to do.
  void wake() const;
  /// In a forked child: the thread is the parent's; only what it held open is closed.
  void abandon();

 private:
  void run();
  [[nodiscard]] int connect_to_agent() const;
  void serve();
  [[nodiscard]] bool take_commands(bool& tells_all);
  [[nodiscard]] bool tell(bool all);

  Connections& connections_;
  std::string socket_;
  std::atomic<bool> ends_{false};
  int wake_fd_ = -1;
  std::atomic<int> agent_fd_{-1};
  std::map<PortName, local::Report> told_;
  std::thread thread_;
};

}  // namespace heddle::apm

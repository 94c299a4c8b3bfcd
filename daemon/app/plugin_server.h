/// The Unix socket to which plugins of OpenSM connect: of a master and its standby, or of several OpenSMs on
/// one host. Only root's processes and those of the daemon's own user are let in. One plugin counts, which is
/// the one whose OpenSM is the master; where several say so, the one that said so first. To the callbacks it
/// is the only one: when another one takes its place, it is gone, and the other says hello, with the state
/// and the window that it has by then. The io_context thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "authority/opensm/plugin_event.h"
#include "authority/opensm/plugin_port.h"
#include "base/result.h"

namespace heddle::opensm {

class PluginServer final : public PluginPort {
 public:
  struct Callbacks {
    std::function<void(const PluginEvent&)> event;
    std::function<void()> gone;
    /// What a plugin said that nobody understands; its connection is closed.
    std::function<void(const Error&)> trouble;
  };

  /// `path`: of the socket, "@name" for an abstract one; a socket that an earlier run left is removed.
  /// Errors: Io.
  static Result<std::unique_ptr<PluginServer>> listen(boost::asio::io_context& io, const std::string& path,
                                                      Callbacks callbacks);
  ~PluginServer();
  PluginServer(const PluginServer&) = delete;
  PluginServer& operator=(const PluginServer&) = delete;

  [[nodiscard]] bool connected() const override;
  [[nodiscard]] bool has_others() const override;
  void tell(PluginCommand command) override;
  /// The OpenSM of the plugin that counts is the master.
  [[nodiscard]] bool has_master() const;
  /// Says hello once more to the callbacks, where a plugin has: for who did not listen before.
  void say_hello_again();

 private:
  struct Peer;
  struct State;
  explicit PluginServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace heddle::opensm

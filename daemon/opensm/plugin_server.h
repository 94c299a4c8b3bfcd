/// The Unix socket to which OpenSM's plugin connects. Only root's processes and those of the daemon's own
/// user are listened to; a new plugin takes the place of the one before. The io_context thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "opensm/plugin_event.h"
#include "opensm/plugin_port.h"

namespace heddle::opensm {

class PluginServer final : public PluginPort {
 public:
  struct Callbacks {
    std::function<void(const PluginEvent&)> event;
    std::function<void()> gone;
    /// What a plugin said that nobody understands; the connection is closed.
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
  void tell(PluginCommand command) override;

 private:
  struct State;
  explicit PluginServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace heddle::opensm

/// Where the fabric comes from: a port of this host, or a simulator in this process. Owns everything behind
/// the transport; the rest of the daemon knows the transport and the clock only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "authority/path_migrator.h"
#include "transport/transport.h"

namespace heddle::app {

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual transport::Transport& transport() = 0;
  [[nodiscard]] virtual const transport::Clock& clock() const = 0;
  /// "sim" or "umad".
  [[nodiscard]] virtual std::string kind() const = 0;
  /// The file, generator text or device, for the operator.
  [[nodiscard]] virtual std::string source() const = 0;
  /// Whether the way into the fabric still works; moves to another one if not. True when it moved: everything
  /// looks different from there.
  [[nodiscard]] virtual bool check() { return false; }
  /// What is wrong with the way into the fabric, for the operator.
  [[nodiscard]] virtual std::optional<std::string> problem() const { return std::nullopt; }
  /// Moves connections of hosts between LID planes; null where no host has an agent for that.
  [[nodiscard]] virtual regulate::PathMigrator* migrator() { return nullptr; }
  /// Ports of this host that lead to a fabric, are not this one or its spares, and that no daemon looks at;
  /// which fabrics these are is not known here.
  struct Rail {
    std::string name;
    PortGuid guid;
  };
  [[nodiscard]] virtual std::vector<Rail> other_rails() const { return {}; }
  /// What the description of a simulated fabric lost, sentences for the operator.
  [[nodiscard]] virtual std::vector<std::string> lost() const { return {}; }
  /// No handler of the backend runs any more.
  virtual void stop() = 0;
};

/// Errors name the file and line, or the device and what to do.
[[nodiscard]] Result<std::unique_ptr<Backend>> open_backend(boost::asio::io_context& io,
                                                            const Config& config);

/// One each, called by open_backend.
[[nodiscard]] Result<std::unique_ptr<Backend>> open_sim_backend(boost::asio::io_context& io,
                                                                const Config& config);
[[nodiscard]] Result<std::unique_ptr<Backend>> open_umad_backend(boost::asio::io_context& io,
                                                                 const Config& config);

}  // namespace heddle::app

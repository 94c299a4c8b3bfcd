/// The part of the control API about QoS tables in the fabric: GET /v1/qos, POST /v1/qos/push, /v1/qos/verify
/// and /v1/qos/forget (docs/api.md).
#pragma once

#include <functional>
#include <string>

#include "control/http.h"
#include "vlarb/keeper.h"

namespace heddle::control {

enum class DryRun : unsigned char { No, Yes };

struct QosPush {
  std::string plan;   ///< its text
  std::string name;   ///< of its file
  std::string ports;  ///< filter
  DryRun dry_run = DryRun::No;
};

struct QosPushed {
  vlarb::Outcome outcome;
  /// Not empty: nothing was written to the fabric, for this reason...
  std::string not_written;
  /// ...and this file tells the OpenSM plugin.
  std::string plan_file;
};

/// What the API asks of the daemon. On the io_context thread; callbacks are called once, perhaps from within.
class QosControl {
 public:
  using Pushed = std::function<void(Result<QosPushed>)>;
  using Verified = std::function<void(Result<vlarb::Outcome>)>;
  using Forgotten = std::function<void(const Result<void>&)>;

  virtual void push(const QosPush& push, Pushed done) = 0;
  virtual void verify(Verified done) = 0;
  virtual void forget(Forgotten done) = 0;
  [[nodiscard]] virtual const vlarb::Keeper& keeper() const = 0;
  /// "leaf-1/3".
  [[nodiscard]] virtual std::string name_of(const PortRef& port) const = 0;

 protected:
  ~QosControl() = default;
};

/// Answers what is under /v1/qos. `qos` must outlive the servers.
void answer_qos(QosControl& qos, const Request& request, const Respond& respond);

}  // namespace heddle::control

/// The control API: which path asks for what (docs/api.md). The same handler serves the Unix socket and, for
/// what only reads, TCP.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/answers.h"
#include "control/http.h"
#include "control/qos_api.h"
#include "control/regulation_api.h"
#include "control/state.h"
#include "control/twin_view.h"
#include "sampling/queue_probe.h"

namespace heddle::control {

/// What the API asks of the daemon. Called on the io_context thread.
class Daemon : public RegulationDesk {
 public:
  [[nodiscard]] virtual DaemonState state() const = 0;
  struct Scrape {
    std::string key;  ///< same text, same key
    std::string content_type;
    enum class Kind : std::uint8_t {
      Whole,   ///< what the configuration gives
      Shard,   ///< a part of it by nodes: one of a bounded number
      Chosen,  ///< by any words
    };
    Kind kind = Kind::Whole;
    Answers::Make make;  ///< writes the text; on any thread
  };
  /// What /metrics answers. Errors: Invalid for a query that asks for what there is not.
  [[nodiscard]] virtual Result<Scrape> metrics(const std::map<std::string, std::string>& query,
                                               bool open_metrics) = 0;
  /// Looks into the transmit queues of these ports of state().fabric. Errors: of sampling::QueueProbe,
  /// Unreachable while the fabric is not sampled yet.
  virtual Result<void> look_at_queues(const std::vector<PortIndex>& ports,
                                      sampling::QueueProbe::Done done) = 0;

  /// What a switch forwards through this port, where this daemon writes the tables; none where it does not,
  /// or where the port is not a switch's.
  [[nodiscard]] virtual std::optional<std::vector<Lid>> lids_through(const PortRef& /*port*/) const {
    return std::nullopt;
  }

  /// What a twin of the fabric is made of.
  [[nodiscard]] virtual TwinParts twin() const { return {}; }

  /// Stands for subnet manager anew, past ports that say IsSM and do not answer. The sentence says what
  /// happens. Errors: Refused where the configuration says never.
  virtual Result<std::string> take_subnet(const std::string& /*by*/) {
    return fail(ErrorCode::Unsupported, "this daemon never manages a subnet");
  }

  /// None: there is nothing under /v1/qos.
  virtual QosControl* qos() { return nullptr; }

 protected:
  ~Daemon() = default;
};

/// `daemon` must outlive the servers that use the handler.
[[nodiscard]] Handler api_handler(Daemon& daemon);

}  // namespace heddle::control

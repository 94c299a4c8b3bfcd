/// What operators ask of the regulation, as JSON (docs/api.md): its plan, the links that are off, energy, the
/// log of decisions, and the commands that change them.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "control/answers.h"
#include "control/http.h"
#include "control/regulation_views.h"
#include "core/regulation_control.h"

namespace heddle::control {

/// What the API asks of a daemon that regulates. Called on the io_context thread.
class RegulationDesk {
 public:
  /// Null where this daemon does not regulate.
  [[nodiscard]] virtual core::RegulationControl* regulation() { return nullptr; }
  /// None where nobody speaks with agents of hosts.
  [[nodiscard]] virtual std::optional<HostAgentsShown> host_agents() const { return std::nullopt; }
  /// A sentence, where regulation() is null.
  [[nodiscard]] virtual std::string why_no_regulation() const {
    return "this daemon does not regulate links";
  }
  /// Where large answers are made.
  [[nodiscard]] virtual Answers& answers() = 0;
  /// regulation() was given an order: what was answered before may be out of date.
  virtual void ordered() {}

 protected:
  ~RegulationDesk() = default;
};

/// Answers requests for the regulation's paths; false for all others. `desk` must outlive the answers.
bool answer_regulation(RegulationDesk& desk, const Request& request, const Respond& respond);

}  // namespace heddle::control

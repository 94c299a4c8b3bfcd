/// Who may write this fabric, and how what is decided reaches it. Exactly one is in force as long as the
/// daemon runs: its own subnet manager (own/), OpenSM (opensm/), or nobody here (observer/). app/ chooses it
/// by the configuration; everybody else asks this interface, and never which one it is.
///
/// The transaction engine's thread. The engine must be stopped before it goes away.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/actuator.h"
#include "authority/known_fabric.h"
#include "base/problem.h"
#include "base/result.h"
#include "mad/attributes.h"
#include "mad/packet.h"
#include "mad/survey.h"

namespace heddle::authority {

class Authority {
 public:
  virtual ~Authority() = default;

  /// Why this program writes neither tables nor ports by itself; empty if it does.
  [[nodiscard]] virtual std::string why_not() const = 0;
  [[nodiscard]] bool may_write() const { return why_not().empty(); }
  /// Another subnet manager is master, or may be: this program was one, or wanted to be one, and is none.
  [[nodiscard]] virtual bool yields() const { return false; }
  /// Nobody else manages the fabric, as far as is known, and this program does or will.
  [[nodiscard]] virtual bool owns_fabric() const { return false; }
  /// A daemon of another host does what this one is to do, or will: none of it is missing here.
  [[nodiscard]] virtual bool follows() const { return false; }
  /// Somebody else is master, if anybody is. Not so while this program finds out or configures for the first
  /// time: the ports name it as their master by then, and it does not answer as one yet.
  [[nodiscard]] bool looks_for_master() const { return !may_write() && !owns_fabric(); }
  /// What is decided can be carried out at present, by whomever.
  [[nodiscard]] virtual bool is_ready() const { return may_write(); }
  /// As a subnet manager, 0 to 15, where this program is one.
  [[nodiscard]] virtual std::uint8_t priority() const { return 0; }
  /// A sweep's result is being made true.
  [[nodiscard]] virtual bool is_configuring() const { return false; }
  [[nodiscard]] virtual Problems problems() const { return {}; }
  /// LIDs with routes of an earlier order, which nothing that is safe at every instant leads away from.
  [[nodiscard]] virtual std::vector<Lid> staying() const { return {}; }

  // What happens.
  /// A sweep has found something new. Ends in Seat::use() or adopt(), perhaps later.
  virtual void on_found(std::shared_ptr<const Survey> survey, Instant now) = 0;
  /// A sweep under way has found a switch's port not Active. Whatever else it finds comes with on_found().
  virtual void on_inactive(const PortRef& /*port*/) {}
  /// Likewise, that says that it is.
  virtual void on_active(const PortRef& /*port*/) {}
  /// What nobody asked for. A trap is given back as its notice.
  virtual std::optional<mad::Notice> on_unsolicited(const mad::Packet& /*packet*/, Instant /*now*/) {
    return std::nullopt;
  }
  /// An answer that nobody waits for.
  virtual void on_unmatched(const mad::Packet& /*packet*/, Instant /*now*/) {}
  virtual void on_timer(Instant /*now*/) {}
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const { return std::nullopt; }

  // What is decided.
  /// How tables and links are changed; null where nothing is regulated.
  [[nodiscard]] virtual regulate::Actuator* actuator() { return nullptr; }
  /// Where there is no actuator.
  [[nodiscard]] virtual std::string why_not_regulated() const { return why_not(); }
  /// Who regulates, and what it remembers of a run before. Once, before the first sweep, where there is an
  /// actuator. The listener must outlive the last event.
  virtual void regulate_with(FabricListener& /*listener*/, const Remembered& /*before*/) {}
  /// Why QoS tables reach the fabric neither from here nor by the plan; empty if they do.
  [[nodiscard]] virtual std::string why_no_qos() const { return {}; }
  /// Somebody has written his part of the plan (opensm/plan_store.h).
  virtual void on_plan_written() {}
  /// An operator orders this program to stand for subnet manager, past ports that say IsSM and do not answer,
  /// from the next sweep on. Errors: Refused where the configuration says never.
  virtual Result<void> take_subnet() { return fail(ErrorCode::Refused, why_not()); }

  /// What a switch forwards through this port, where this program writes the tables.
  [[nodiscard]] virtual std::optional<std::vector<Lid>> lids_through(const PortRef& /*port*/) const {
    return std::nullopt;
  }
};

}  // namespace heddle::authority

/// What operators ask for of QoS tables in the fabric, and what it comes to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vlarb/keeper.h"

namespace heddle::core {

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

/// How tables stand: values.
struct QosState {
  std::vector<vlarb::Assignment> assignments;
  std::size_t ports = 0;
  std::optional<Instant> verified;
  std::uint64_t reapplied = 0;
  vlarb::Keeper::Findings drift;
  vlarb::Keeper::Findings silent;
  std::vector<vlarb::Shortfall> shortfalls;
};
[[nodiscard]] inline QosState state_of(const vlarb::Keeper& keeper) {
  return {keeper.assignments(), keeper.ports(),  keeper.verified(),  keeper.reapplied(),
          keeper.drift(),       keeper.silent(), keeper.shortfalls()};
}

/// On the core's thread, within an event; callbacks are called once, perhaps from within.
class QosControl {
 public:
  using Pushed = std::function<void(Result<QosPushed>)>;
  using Verified = std::function<void(Result<vlarb::Outcome>)>;
  using Forgotten = std::function<void(const Result<void>&)>;

  virtual void push(const QosPush& push, Pushed done) = 0;
  virtual void verify(Verified done) = 0;
  virtual void forget(Forgotten done) = 0;
  [[nodiscard]] virtual QosState state() const = 0;
  /// "leaf-1/3".
  [[nodiscard]] virtual std::string name_of(const PortRef& port) const = 0;

 protected:
  ~QosControl() = default;
};

}  // namespace heddle::core

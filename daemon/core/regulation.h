/// The regulation as the core runs it: the regulator with its journal, and what stopping means for links that
/// are off. Everything that decides or acts is in regulate/ and authority/.
#pragma once

#include <memory>
#include <optional>

#include "authority/authority.h"
#include "base/desk.h"
#include "core/event.h"
#include "core/regulation_control.h"
#include "journal/scribe.h"
#include "regulate/regulator.h"
#include "regulation/events.h"

namespace heddle::core {

class Regulation {
 public:
  using Links = regulation::Stopping::Links;

  /// Reads what the journal holds, before the first sweep. `authority` has an actuator. Journal and authority
  /// must outlive it.
  Regulation(const regulate::RegulatorOptions& options, Links on_stop, journal::Journal& journal,
             const Desk& desk, authority::Authority& authority, regulate::Regulator::Log log);
  Regulation(const Regulation&) = delete;
  Regulation& operator=(const Regulation&) = delete;

  /// Brings links back, or leaves them: then nothing is waited for, if somebody takes up what is under way.
  void stop(Changes changes, Instant now);
  /// After stop(): what it waits for has come about, or has taken too long.
  [[nodiscard]] bool has_stopped(Instant now) const;
  /// Nobody waits for it any more. What was counted is on its way to the disk.
  void rest(Instant now);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  [[nodiscard]] regulate::Regulator& regulator() { return regulator_; }
  [[nodiscard]] const regulate::Regulator& regulator() const { return regulator_; }
  [[nodiscard]] const journal::Scribe& scribe() const { return scribe_; }
  [[nodiscard]] RegulationControl& control() { return control_; }

 private:
  [[nodiscard]] bool rests() const;

  Links on_stop_;
  journal::Scribe scribe_;
  regulate::Regulator regulator_;
  RegulatorControl control_;
  std::optional<Instant> stop_by_;  ///< once it is asked to
};

}  // namespace heddle::core

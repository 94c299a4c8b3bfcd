/// What the core tells whoever runs it: app/ around the daemon, or a test. Called from within
/// FabricCore::on(), on its thread; nothing of the core may be destroyed from within.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "journal/journal.h"
#include "load/sample.h"

namespace heddle::core {

enum class Severity : std::uint8_t { Debug, Info, Warning, Error };

class Outside {
 public:
  /// For the log; what fabrics and people named in it is printable.
  virtual void say(Severity severity, const std::string& text) = 0;
  /// FabricCore::survey() is another one.
  virtual void on_survey() {}
  /// Of the counters; all parts have seen it.
  virtual void on_sample(const std::shared_ptr<const load::Sample>& /*sample*/) {}
  /// Links have changed by a decision, or are about to; the journal does not know it yet.
  virtual void on_logged(const journal::Event& /*event*/) {}
  /// FabricCore::qos() has figures that it did not have.
  virtual void on_qos() {}
  /// What a stop waited for is over: nothing is under way, and FabricCore::end() loses nothing.
  virtual void on_rest() {}

 protected:
  ~Outside() = default;
};

using Say = std::function<void(Severity, const std::string&)>;

}  // namespace heddle::core

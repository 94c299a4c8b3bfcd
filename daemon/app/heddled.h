/// The daemon, wired: heddled.cc shows which part feeds which. One io_context, one thread; the text of
/// /metrics is made in a second one from immutable samples.
///
///   backend -> transport -> engine -+-> discovery -> subnet manager
///                                   +-> sampler ---> samples -> metrics, control
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "app/options.h"

namespace heddle::app {

class Heddled {
 public:
  /// Opens the fabric and the sockets, and begins. Errors: a sentence for the operator; nothing is left
  /// behind.
  static Result<std::unique_ptr<Heddled>> start(boost::asio::io_context& io, const ConfigSource& source);
  ~Heddled();
  Heddled(const Heddled&) = delete;
  Heddled& operator=(const Heddled&) = delete;

  /// Takes over what can change while running, or ends in order to be started anew; says in the log what
  /// takes effect at the next start only. A bad file changes nothing.
  void reload();
  /// It has ended because what was reloaded takes a start.
  [[nodiscard]] bool starts_anew() const;
  /// Ends everything in order; the io_context runs out of work.
  void stop();

 private:
  class Parts;
  explicit Heddled(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace heddle::app

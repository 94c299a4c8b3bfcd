/// What a daemon on a simulated fabric sends and receives, written as tests/wire/recorder.cc writes what
/// programs do, so that the watcher of the wire can judge it; and what the world broke meanwhile.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/units.h"
#include "fabric/fabric.h"
#include "mad/packet.h"

namespace heddle::swarm {

/// Nanoseconds, each later than the one before: what happens at one instant of the world has an order all the
/// same.
class RecordingClock {
 public:
  std::uint64_t stamp(Picoseconds now);

 private:
  std::uint64_t last_ = 0;
};

class Recording {
 public:
  /// Of one daemon, which sits at this port. Files of a directory are read together.
  Recording(const std::string& path, RecordingClock& clock, const Fabric& fabric, PortIndex seat,
            Picoseconds now);

  enum class Kind : std::uint8_t { Sent = 1, Received = 2, ControlReceived = 4 };
  void record(Kind kind, const mad::Packet& packet, Picoseconds now);

 private:
  void write(Kind kind, Picoseconds now, std::string_view bytes);

  std::ofstream out_;
  RecordingClock& clock_;
};

/// Lines `BEGIN END WHAT PORT NODE` (tests/wire/check/recording.h).
class Commands {
 public:
  Commands(const std::string& path, RecordingClock& clock) : out_{path}, clock_{clock} {}
  void say(std::string_view what, std::string_view node, PortNum port, Picoseconds now);

 private:
  std::ofstream out_;
  RecordingClock& clock_;
};

}  // namespace heddle::swarm

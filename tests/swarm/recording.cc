#include "swarm/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mad/header.h"
#include "simserve/wire.h"

namespace heddle::swarm {
namespace {

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

std::uint64_t RecordingClock::stamp(Picoseconds now) {
  // It begins later than at 0, which in recordings means never.
  last_ = std::max(last_ + 1, 1'000'000'000U + static_cast<std::uint64_t>(now.count()) / 1000U);
  return last_;
}

Recording::Recording(const std::string& path, RecordingClock& clock, const Fabric& fabric, PortIndex seat,
                     Picoseconds now)
    : out_{path, std::ios::binary}, clock_{clock} {
  // NodeInfo, of which the watcher takes the GUID and the port (IBA 14.2.5.3).
  simserve::ControlMessage told;
  told.type = simserve::ControlType::GetNodeInfo;
  told.length = sizeof told.data;
  const Port& port = fabric.port(seat);
  const std::uint64_t guid = fabric.node(port.node).guid.raw();
  for (unsigned i = 0; i < 8; ++i) told.data[12 + i] = static_cast<std::uint8_t>(guid >> (56U - 8U * i));
  told.data[36] = port.num.raw();
  write(Kind::ControlReceived, now, bytes_of(told));
}

void Recording::record(Kind kind, const mad::Packet& packet, Picoseconds now) {
  if (!mad::is_smp(mad::read_header(packet.mad))) return;
  write(kind, now, bytes_of(simserve::to_wire(packet)));
}

void Recording::write(Kind kind, Picoseconds now, std::string_view bytes) {
  struct Head {
    std::uint64_t time_ns;
    std::uint8_t kind;
    std::uint8_t unused;
    std::uint16_t size;
    std::uint32_t unused_too;
  };
  const Head head{clock_.stamp(now), static_cast<std::uint8_t>(kind), 0,
                  static_cast<std::uint16_t>(bytes.size()), 0};
  out_.write(bytes_of(head).data(), sizeof head);
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void Commands::say(std::string_view what, std::string_view node, PortNum port, Picoseconds now) {
  out_ << fmt::format("{0} {0} {1} {2} {3}\n", clock_.stamp(now), what, port.raw(), node);
}

}  // namespace heddle::swarm

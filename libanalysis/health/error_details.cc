#include "health/error_details.h"

#include <utility>

namespace heddle::health {
namespace {

/// Counters that went back were reset in between.
std::uint64_t since(std::uint64_t last, std::uint64_t first) { return last >= first ? last - first : last; }

ReceiveKinds since(const ReceiveKinds& last, const ReceiveKinds& first) {
  return {since(last.physical, first.physical), since(last.malformed, first.malformed),
          since(last.overruns, first.overruns)};
}
DiscardKinds since(const DiscardKinds& last, const DiscardKinds& first) {
  return {since(last.inactive, first.inactive), since(last.too_large, first.too_large),
          since(last.too_old, first.too_old)};
}

template <class Kinds>
std::optional<Kinds> grown(const std::optional<Kinds>& last, const std::optional<Kinds>& first) {
  if (!last || !first || *last == *first) return last;
  return since(*last, *first);
}

}  // namespace

void ErrorDetails::on_round(const DetailRound& round) {
  std::map<PortRef, Port> ports;
  for (const DetailReading& reading : round.ports) {
    const PortRef ref = round.fabric->ref(reading.port);
    const auto known = ports_.find(ref);
    ports.emplace(ref, Port{known == ports_.end() ? reading : known->second.first, reading});
  }
  ports_ = std::move(ports);
}

std::optional<ReceiveKinds> ErrorDetails::received(const PortRef& port) const {
  const auto it = ports_.find(port);
  if (it == ports_.end()) return std::nullopt;
  return grown(it->second.last.received, it->second.first.received);
}

std::optional<DiscardKinds> ErrorDetails::discarded(const PortRef& port) const {
  const auto it = ports_.find(port);
  if (it == ports_.end()) return std::nullopt;
  return grown(it->second.last.discarded, it->second.first.discarded);
}

}  // namespace heddle::health

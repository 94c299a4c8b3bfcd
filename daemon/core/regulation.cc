#include "core/regulation.h"

#include <chrono>
#include <utility>
#include <vector>

namespace heddle::core {
namespace {

/// How long links that are to come back are waited for when the daemon is stopped.
constexpr FabricClock::duration longest_stop = std::chrono::seconds{60};

/// What cannot be read is a problem that the regulator knows of.
authority::Remembered remembered(const journal::Scribe& scribe) {
  authority::Remembered before;
  if (const auto& ranks = scribe.ranks()) before.ranks = *ranks;
  if (const auto& lids = scribe.lids()) before.lids = *lids;
  if (const auto& cables = scribe.cables()) {
    for (const journal::Cable& each : *cables) before.cables.push_back({{each.link}, each.a, each.b});
  }
  return before;
}

}  // namespace

Regulation::Regulation(const regulate::RegulatorOptions& options, Links on_stop, journal::Journal& journal,
                       const Desk& desk, authority::Authority& authority, regulate::Regulator::Log log)
    : on_stop_{on_stop},
      scribe_{journal, desk},
      regulator_{options, scribe_, *authority.actuator(), std::move(log)},
      control_{regulator_, desk.now} {
  authority.regulate_with(regulator_, remembered(scribe_));
}

void Regulation::stop(Changes changes, Instant now) {
  const bool waits = on_stop_ == Links::ComeBack || changes == Changes::End;
  stop_by_ = waits ? now + longest_stop : now;
  if (waits) regulator_.stop(on_stop_, now);
}

bool Regulation::rests() const { return on_stop_ == Links::Stay ? regulator_.at_rest() : regulator_.idle(); }

bool Regulation::has_stopped(Instant now) const { return rests() || (stop_by_ && *stop_by_ <= now); }

void Regulation::rest(Instant now) {
  stop_by_.reset();
  regulator_.save(now);
}

void Regulation::on_timer(Instant now) {
  if (const auto due = regulator_.next_deadline(); due && *due <= now) regulator_.on_timer(now);
}

std::optional<Instant> Regulation::next_deadline() const {
  const auto next = regulator_.next_deadline();
  return stop_by_ && (!next || *stop_by_ < *next) ? stop_by_ : next;
}

}  // namespace heddle::core

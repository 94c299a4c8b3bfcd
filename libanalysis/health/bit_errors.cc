#include "health/bit_errors.h"

#include <fmt/format.h>

#include <utility>

#include "health/carry.h"
#include "health/poisson.h"

namespace heddle::health {
namespace {

/// So rare that nobody need think of chance.
constexpr double no_chance = 1e-3;
/// One code word is no pattern.
constexpr std::uint64_t least_words = 2;
/// A rate over less than this says more about the moment than about the link.
constexpr FabricClock::duration least_time = std::chrono::seconds{30};

double bits(const Fabric& fabric, PortIndex port, FabricClock::duration time) {
  const heddle::Port& of = fabric.port(port);
  return data_rate(of.width, of.speed).value() * seconds(time);
}

}  // namespace

BitErrorWatch::BitErrorWatch(const Options& options)
    : options_{options},
      clock_{options.window, options.long_window},
      ports_{std::make_shared<const std::vector<PortBitErrors>>()} {}

void BitErrorWatch::take(Port& port, const PhyReading& reading) {
  if (port.read) {
    // What is less than before was set to zero in between.
    const auto grown = [](std::uint64_t before, std::uint64_t now) {
      return now < before ? now : now - before;
    };
    port.windows.add(Corrected, grown(port.corrected, reading.corrected));
    port.windows.add(Uncorrectable, grown(port.uncorrectable, reading.uncorrectable));
  } else {
    port.first = reading.at;
    port.read = true;
  }
  port.last = reading.at;
  port.corrected = reading.corrected;
  port.uncorrectable = reading.uncorrectable;
  port.corrected_full = reading.corrected_full;
  port.uncorrectable_full = reading.uncorrectable_full;
}

PortBitErrors BitErrorWatch::rates_of(const Port& port, PortIndex index) const {
  PortBitErrors rates;
  rates.port = fabric_->ref(index);
  rates.uncorrectable = port.windows.recent(Uncorrectable);
  rates.uncorrectable_long = port.windows.all(Uncorrectable);
  const auto seen = port.last - port.first;
  if (seen < least_time) return rates;
  const auto over = [&](FabricClock::duration window, std::uint64_t corrected, std::uint64_t uncorrectable) {
    const double of = bits(*fabric_, index, std::min(seen, window));
    BitErrorRates known;
    if (of <= 0) return known;
    if (!port.corrected_full) known.raw = static_cast<double>(corrected + uncorrectable) / of;
    if (!port.uncorrectable_full) known.effective = static_cast<double>(uncorrectable) / of;
    return known;
  };
  rates.window = over(options_.window, port.windows.recent(Corrected), rates.uncorrectable);
  rates.long_window = over(options_.long_window, port.windows.all(Corrected), rates.uncorrectable_long);
  return rates;
}

void BitErrorWatch::judge(const PortBitErrors& port, PortIndex index) {
  struct Limit {
    std::uint64_t count;
    FabricClock::duration window;
    double ber;
    std::optional<double> rate;
  };
  for (const Limit& limit :
       {Limit{port.uncorrectable, options_.window, options_.effective_ber, port.window.effective},
        Limit{port.uncorrectable_long, options_.long_window, options_.effective_ber_long,
              port.long_window.effective}}) {
    const double borne = bits(*fabric_, index, limit.window) * limit.ber;
    if (limit.count < least_words || static_cast<double>(limit.count) <= borne || !limit.rate) continue;
    Finding finding;
    finding.rule = Rule::EffectiveBer;
    finding.sureness = chance_of(limit.count, borne) < no_chance ? Sureness::Sure : Sureness::Likely;
    finding.at = port.port;
    const heddle::Port& of = fabric_->port(index);
    if (const auto peer = fabric_->peer({of.node, of.num})) {
      finding.peer = fabric_->ref(*peer);
      finding.blame = finding.peer;
    }
    const std::string raw =
        port.window.raw ? fmt::format("{:.1e}", *port.window.raw) : std::string("not known");
    finding.what = fmt::format(
        "{} code words came in within {:.3g} min that could not be corrected: an effective bit error rate of "
        "{:.1e} "
        "(raw, before correction: {})",
        limit.count, seconds(limit.window) / 60, *limit.rate, raw);
    finding.advice =
        "clean and reseat the plug at the end that sends, then change the cable, then the port that sends";
    findings_.push_back(std::move(finding));
    return;
  }
}

void BitErrorWatch::on_round(const PhyRound& round) {
  if (round.fabric != fabric_) {
    if (fabric_) {
      carry_over(*fabric_, *round.fabric, by_port_);
    } else {
      by_port_.resize(round.fabric->ports().size());
    }
    fabric_ = round.fabric;
  }
  const auto steps = clock_.advance(round.ended);
  if (steps.by > 0 || steps.long_by > 0) {
    for (Port& port : by_port_) {
      if (port.read) port.windows.turn(steps.by, steps.long_by);
    }
  }
  findings_.clear();
  auto ports = std::make_shared<std::vector<PortBitErrors>>();
  ports->reserve(round.ports.size());
  for (const PhyReading& reading : round.ports) {
    Port& port = by_port_[reading.port.raw()];
    take(port, reading);
    ports->push_back(rates_of(port, reading.port));
    judge(ports->back(), reading.port);
    if (port.uncorrectable_full) {
      Finding finding;
      finding.rule = Rule::FullCounters;
      finding.sureness = Sureness::Sure;
      finding.at = fabric_->ref(reading.port);
      finding.what =
          "code words that could not be corrected stand at the largest value: effective bit error rate "
          "unknown";
      finding.advice = "set it to zero (perfquery -T -R LID PORT)";
      findings_.push_back(std::move(finding));
    }
  }
  ports_ = std::move(ports);
}

}  // namespace heddle::health

// Searches for tables whose exact analysis takes long: random and adversarial tables of each class, then
// changes of the slowest one that make it slower still. `qos_worst_bench [seconds a class]`; CPU time of this
// thread.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/random.h"
#include "qos/analyzer.h"

namespace heddle::qos {
namespace {

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

struct Case {
  VlArbitration tables;
  AnalyzerOptions options;
};

enum class Sizes { Default, Mtu, PowersOfTwo, Odd };

struct Class {
  const char* name;
  LowGrant grant;
  Rounding rounding;
  Sizes sizes;
};

constexpr std::array classes{
    Class{"entry, up, 64", LowGrant::Entry, Rounding::Up, Sizes::Default},
    Class{"packet, up, 64", LowGrant::Packet, Rounding::Up, Sizes::Default},
    Class{"entry, up, 4096", LowGrant::Entry, Rounding::Up, Sizes::Mtu},
    Class{"packet, up, 4096", LowGrant::Packet, Rounding::Up, Sizes::Mtu},
    Class{"entry, up, powers of two", LowGrant::Entry, Rounding::Up, Sizes::PowersOfTwo},
    Class{"packet, up, powers of two", LowGrant::Packet, Rounding::Up, Sizes::PowersOfTwo},
    Class{"entry, up, odd", LowGrant::Entry, Rounding::Up, Sizes::Odd},
    Class{"packet, up, odd", LowGrant::Packet, Rounding::Up, Sizes::Odd},
    Class{"entry, deficit, 4096", LowGrant::Entry, Rounding::Deficit, Sizes::Mtu},
    Class{"packet, deficit, 4096", LowGrant::Packet, Rounding::Deficit, Sizes::Mtu},
    Class{"entry, deficit, powers of two", LowGrant::Entry, Rounding::Deficit, Sizes::PowersOfTwo},
    Class{"packet, deficit, powers of two", LowGrant::Packet, Rounding::Deficit, Sizes::PowersOfTwo},
    Class{"entry, deficit, odd", LowGrant::Entry, Rounding::Deficit, Sizes::Odd},
};

std::uint32_t size_of(Random& random, Sizes sizes) {
  switch (sizes) {
    case Sizes::Default:
      return 64;
    case Sizes::Mtu:
      return 4096;
    case Sizes::PowersOfTwo:
      return 64U << random.below(7);
    case Sizes::Odd:
      return static_cast<std::uint32_t>(64 + random.below(4033));
  }
  return 64;
}

/// Weights: all alike, large, of few values, or any.
std::uint8_t weight(Random& random, unsigned kind, std::uint8_t common) {
  if (kind == 0) return common;
  if (kind == 1) return static_cast<std::uint8_t>(255 - random.below(8));
  if (kind == 2) return static_cast<std::uint8_t>(1 + 2 * random.below(3));
  return static_cast<std::uint8_t>(1 + random.below(255));
}

Case random_case(Random& random, const Class& of) {
  Case out;
  const auto lanes = 1 + random.below(max_data_vls);
  const auto kind = static_cast<unsigned>(random.below(4));
  const auto low_kind = static_cast<unsigned>(random.below(4));
  const auto common = static_cast<std::uint8_t>(1 + random.below(255));
  for (std::size_t i = 0; i < max_entries; ++i) {
    out.tables.high.push_back(
        {Vl{static_cast<std::uint8_t>(random.below(lanes))}, weight(random, kind, common)});
    out.tables.low.push_back(
        {Vl{static_cast<std::uint8_t>(random.below(lanes))}, weight(random, low_kind, common)});
  }
  out.tables.limit =
      HighLimit{static_cast<std::uint8_t>(random.chance(0.5) ? random.below(4) : random.below(256))};
  out.options.grant = of.grant;
  out.options.rounding = of.rounding;
  for (auto& mix : out.options.packets) mix = {size_of(random, of.sizes)};
  return out;
}

Case changed(Random& random, const Class& of, Case from) {
  for (auto changes = 1 + random.below(4); changes > 0; --changes) {
    auto& table = random.chance(0.5) ? from.tables.high : from.tables.low;
    auto& entry = table[random.below(table.size())];
    switch (random.below(4)) {
      case 0:
        entry.vl = Vl{static_cast<std::uint8_t>(random.below(max_data_vls))};
        break;
      case 1:
        entry.weight = static_cast<std::uint8_t>(1 + random.below(255));
        break;
      case 2:
        from.tables.limit = HighLimit{static_cast<std::uint8_t>(random.below(256))};
        break;
      default:
        from.options.packets[random.below(max_data_vls)] = {size_of(random, of.sizes)};
    }
  }
  return from;
}

/// Of several runs the shortest: what the tables cost, not what the machine does meanwhile.
double cost(const Case& of, bool& exact) {
  double least = 1e12;
  for (int i = 0; i < 3; ++i) {
    const double from = cpu_us();
    exact = analyze(of.tables, of.options).has_value();
    least = std::min(least, cpu_us() - from);
    if (least > 20'000) break;
  }
  return least;
}

void search(const Class& of, double seconds) {
  Random random{1};
  const double begun = cpu_us();
  Case worst;
  double most = 0;
  double sum = 0;
  std::size_t tried = 0;
  std::size_t refused = 0;
  while (cpu_us() - begun < seconds * 1e6) {
    const bool fresh = cpu_us() - begun < seconds * 0.6e6;
    Case next = fresh ? random_case(random, of) : changed(random, of, worst);
    bool exact = true;
    const double us = cost(next, exact);
    ++tried;
    if (fresh) sum += us;
    refused += exact ? 0 : 1;
    if (us <= most) continue;
    most = us;
    worst = std::move(next);
  }
  fmt::print("{:32} worst {:10.1f} us of {:6} tried, {} refused, limit {}\n", of.name, most, tried, refused,
             worst.tables.limit.raw());
}

}  // namespace
}  // namespace heddle::qos

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  for (const auto& each : heddle::qos::classes) heddle::qos::search(each, seconds);
  return 0;
}

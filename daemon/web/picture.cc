#include "web/picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "web/vlq.h"

namespace heddle::web {
namespace {

std::int64_t thousandths(float ratio) {
  return load::is_known(ratio) ? std::lround(std::clamp(ratio, 0.0F, 1.3F) * 1000) : unknown_ratio;
}

std::int64_t locality_thousandths(float ratio) {
  return load::is_known(ratio) ? std::lround(std::clamp(ratio, -1.9F, 1.0F) * 1000) : unknown_locality;
}

std::int64_t errors_of(const load::PortSample& sample) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < load::counter_count; ++i) {
    const auto counter = static_cast<load::Counter>(i);
    if (counter != load::Counter::XmitWait && (load::error_counters & load::mask(counter)) != 0)
      sum += sample.totals[i];
  }
  constexpr std::uint64_t most = std::uint64_t{1} << 53U;  // what a number of the page holds exactly
  return static_cast<std::int64_t>(std::min(sum, most));
}

/// Differences of a column by size; what they take as text, about.
constexpr std::size_t largest_difference = 64;
using Sizes = std::array<std::size_t, largest_difference + 1>;

void count(Sizes& changed, Sizes& bytes, const Column& shown, const Column& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto size = static_cast<std::uint64_t>(std::abs(to[i] - shown[i]));
    if (size == 0) continue;
    const std::size_t bin = std::min<std::uint64_t>(size, largest_difference);
    ++changed[bin];
    bytes[bin] += vlq_length(zigzag(to[i] - shown[i]));
  }
}

}  // namespace

Picture blank_picture(const load::Sample& like) {
  const std::size_t links = like.fabric->links().size();
  return {Column(2 * links, unknown_ratio), Column(2 * links, unknown_ratio), Column(2 * links, 0),
          Column(links, 0), Column(like.locality.size(), unknown_locality)};
}

Picture picture_of(const load::Sample& sample) {
  Picture picture = blank_picture(sample);
  const Fabric& fabric = *sample.fabric;
  for (std::size_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    const std::array ends{link.a, link.b};
    for (std::size_t e = 0; e < ends.size(); ++e) {
      const load::PortSample& port = sample.port(ends[e]);
      picture.utilization[2 * i + e] = thousandths(port.utilization);
      picture.congestion[2 * i + e] = thousandths(port.congestion);
      picture.errors[2 * i + e] = errors_of(port);
    }
    const auto state = std::min(fabric.port(link.a).state, fabric.port(link.b).state);
    picture.state[i] = static_cast<std::int64_t>(state);
  }
  for (std::size_t i = 0; i < sample.locality.size(); ++i)
    picture.locality[i] = locality_thousandths(sample.locality[i].total);
  return picture;
}

Picture picture_of(const load::Sample& like, const load::History& history, std::size_t place) {
  Picture picture = blank_picture(like);
  const Fabric& fabric = *like.fabric;
  for (std::size_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    const std::array ends{link.a, link.b};
    for (std::size_t e = 0; e < ends.size(); ++e) {
      const load::HistoryPoint point = history.point(place, fabric.port_index(ends[e]));
      picture.utilization[2 * i + e] = thousandths(point.utilization);
      picture.congestion[2 * i + e] = thousandths(point.congestion);
    }
    const auto state = std::min(fabric.port(link.a).state, fabric.port(link.b).state);
    picture.state[i] = static_cast<std::int64_t>(state);
  }
  return picture;
}

std::string difference(Column& shown, const Column& to, std::int64_t least) {
  std::string text;
  std::size_t before = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::int64_t change = to[i] - shown[i];
    if (change == 0 || std::abs(change) < least) continue;
    append_unsigned(text, i - before);
    append_signed(text, change);
    before = i;
    shown[i] = to[i];
  }
  return text;
}

std::int64_t fitting_difference(const Picture& shown, const Picture& to, std::size_t bytes) {
  Sizes changed{};
  Sizes needed{};
  count(changed, needed, shown.utilization, to.utilization);
  count(changed, needed, shown.congestion, to.congestion);
  const std::size_t entries = to.utilization.size() + to.congestion.size();
  std::size_t total = 0;
  std::size_t number = 0;
  for (std::size_t least = largest_difference; least >= 1; --least) {
    total += needed[least];
    number += changed[least];
    const std::size_t gap = number == 0 ? 1 : vlq_length(2 * entries / number);
    if (total + number * gap > bytes)
      return static_cast<std::int64_t>(std::min(least + 1, largest_difference));
  }
  return 1;
}

}  // namespace heddle::web

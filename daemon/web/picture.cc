#include "web/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "web/vlq.h"

namespace heddle::web {
namespace {

std::int64_t thousandths(float ratio) {
  return load::is_known(ratio) ? std::lround(std::clamp(ratio, 0.0F, 1.3F) * 1000) : unknown_ratio;
}

std::int64_t locality_thousandths(float ratio) {
  return load::is_known(ratio) ? std::lround(std::clamp(ratio, -1.9F, 1.0F) * 1000) : unknown_locality;
}

std::int64_t shown_errors(std::uint64_t errors) {
  constexpr std::uint64_t most = std::uint64_t{1} << 53U;  // what a number of the page holds exactly
  return static_cast<std::int64_t>(std::min(errors, most));
}

/// What the rates of the ports were, as far as utilization tells.
std::vector<load::PortSample> rates_of(const Fabric& fabric, const load::History& history,
                                       std::size_t place) {
  std::vector<load::PortSample> ports(fabric.ports().size());
  for (const Link& link : fabric.links()) {
    const double bytes = data_rate(link.width, link.speed).value() / 8;
    for (const auto& [from, to] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
      const PortIndex port = fabric.port_index(from);
      const auto rate = static_cast<float>(history.point(place, port).utilization * bytes);
      ports[port.raw()].xmit_bytes_per_second = rate;
      ports[fabric.port_index(to).raw()].rcv_bytes_per_second = rate;
    }
  }
  return ports;
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
  return {Column(2 * links, unknown_ratio),
          Column(2 * links, unknown_ratio),
          Column(2 * links, 0),
          Column(links, 0),
          Column(like.locality.size(), unknown_locality),
          Column(links, 0),
          Column(2 * links, unknown_drift),
          Column(2 * links, unknown_bits)};
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
      picture.errors[2 * i + e] = shown_errors(load::error_count(port));
    }
    const auto state = std::min(fabric.port(link.a).state, fabric.port(link.b).state);
    picture.state[i] = static_cast<std::int64_t>(state);
  }
  for (std::size_t i = 0; i < sample.locality.size(); ++i)
    picture.locality[i] = locality_thousandths(sample.locality[i].total);
  return picture;
}

Picture picture_of(const load::Sample& like, const load::History& history, std::size_t place,
                   const load::LocalitySets* sets) {
  Picture picture = blank_picture(like);
  const Fabric& fabric = *like.fabric;
  const auto errors = place < history.sweeps() ? history.errors(place) : std::vector<std::uint64_t>{};
  for (std::size_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    const std::array ends{link.a, link.b};
    for (std::size_t e = 0; e < ends.size(); ++e) {
      const load::HistoryPoint point = history.point(place, fabric.port_index(ends[e]));
      picture.utilization[2 * i + e] = thousandths(point.utilization);
      picture.congestion[2 * i + e] = thousandths(point.congestion);
      if (place < history.sweeps())
        picture.errors[2 * i + e] = shown_errors(errors[fabric.port_index(ends[e]).raw()]);
    }
    const auto state = std::min(fabric.port(link.a).state, fabric.port(link.b).state);
    picture.state[i] = static_cast<std::int64_t>(state);
  }
  if (sets != nullptr && place < history.sweeps() && sets->names() == like.set_names) {
    std::vector<load::SetLocality> locality;
    sets->evaluate(fabric, rates_of(fabric, history, place), locality);
    for (std::size_t i = 0; i < locality.size() && i < picture.locality.size(); ++i)
      picture.locality[i] = locality_thousandths(locality[i].total);
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

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fabric/grown_site.h"
#include "fabric/sketch.h"

namespace heddle::sketch {
namespace {

using Place = Site::Place;

/// What was bought and cabled at one time: an island of leaves, and the switches by which the rest of the
/// site reaches it.
struct Island {
  const Generation* generation;
  std::vector<Place> leaves;
  std::vector<Place> tops;
};

/// Shares and sizes are guesses at what published fabrics show; no property of a fabric hangs on one.
class Growth {
 public:
  explicit Growth(const GrownSpec& spec) : random_{spec.seed}, site_{random_} {
    left_ = spec.hosts;
    if (left_ == 0) {  // as many small sites as large ones
      const unsigned octave = 20U << below(8);
      left_ = octave + below(octave);
      if (left_ > most_hosts) left_ = most_hosts - below(most_hosts / 4);
    }
    newest_ = 1 + below(static_cast<unsigned>(generations().size()) - 1);
  }

  Drawing grow() {
    const unsigned above = std::min(left_ - 1, 1 + left_ / 60 + below(3));
    const unsigned managers = left_ < 40 ? 0 : 2 + below(left_ / 40 + 1);
    left_ -= above + managers;
    while (left_ > 0) add_islands();
    join_islands();
    if (managers > 0) add_management(managers);
    hang_hosts_above(above);
    site_.lose_cables(0.01 * below(5));
    if (!site_.join_parts()) return fail(ErrorCode::Invalid, "no port is free to join its parts");
    return site_.finish();
  }

 private:
  static constexpr unsigned most_hosts = 4000;

  unsigned below(std::size_t bound) { return static_cast<unsigned>(random_.below(bound)); }
  unsigned between(unsigned least, unsigned most) { return least + below(std::max(most, least) - least + 1); }
  Place any_of(const std::vector<Place>& places) { return places[below(places.size())]; }

  /// One of the two latest purchases, or now and then something older.
  const Generation& draw_generation() {
    const unsigned age = random_.chance(0.15) ? 2 : below(2);
    return generations()[newest_ - std::min(age, newest_)];
  }

  void add_islands() {
    const double kind = random_.unit();
    if (left_ >= 60 && kind < 0.3) return add_chassis();
    if (left_ >= 64 && kind < 0.5) return add_rails();
    const unsigned share = left_ < 60 ? left_ : between(left_ / 3, left_);
    const Generation& generation = draw_generation();
    add_tree(std::min(share, 16 * generation.radix), generation, fmt::format("node{}-", islands_.size()),
             " HCA-1");
  }

  void add_tree(unsigned hosts, const Generation& generation, const std::string& host,
                const std::string& device);
  void add_rails();
  void add_chassis();
  Island add_one_chassis(const Generation& generation, unsigned lines);
  void join_chassis(const Island& one, const Island& other);
  void join_islands();
  void join_by_cores(unsigned planes);
  void add_management(unsigned hosts);
  void hang_hosts_above(unsigned hosts);

  /// What a switch is called: by place, or as the chip is by all that nobody named.
  std::string name(bool named, const Generation& generation, std::string_view role,
                   std::size_t number) const {
    if (!named) return std::string{generation.chip};
    return fmt::format("MF0;{}{}-{}:M{}/U1", role, islands_.size(), number, generation.radix);
  }
  Place plain_switch(const Generation& generation, std::string text) {
    return site_.add_switch(generation, std::move(text), site_.draw_guid());
  }
  void put_hosts(Place leaf, unsigned count, const Generation& generation, const std::string& host,
                 const std::string& device);
  /// `links` cables from one switch to others in turn, beginning at a place of theirs; full ones are passed.
  void spread(Place from, const std::vector<Place>& to, unsigned links, unsigned first);

  Random random_;
  Site site_;
  unsigned left_ = 0;
  unsigned newest_ = 0;
  unsigned named_hosts_ = 0;
  std::vector<Island> islands_;
  std::vector<Place> cores_;
};

void Growth::put_hosts(Place leaf, unsigned count, const Generation& generation, const std::string& host,
                       const std::string& device) {
  for (unsigned h = 0; h < count; ++h) {
    const std::string text = host.empty() ? std::string{generation.adapter}
                                          : fmt::format("{}{:04}{}", host, named_hosts_++, device);
    if (!site_.cable(leaf, site_.add_host(generation, text))) return;
  }
}

void Growth::spread(Place from, const std::vector<Place>& to, unsigned links, unsigned first) {
  unsigned refused = 0;
  for (unsigned i = first; links > 0 && refused < to.size(); ++i) {
    const Place next = to[i % to.size()];
    const bool done = site_.free_ports(next) > 1 && site_.cable(from, next);  // one port stays free
    refused = done ? 0 : refused + 1;
    links -= done ? 1U : 0U;
  }
}

void Growth::add_tree(unsigned hosts, const Generation& generation, const std::string& host,
                      const std::string& device) {
  const bool named = random_.chance(0.6);
  const bool orderly = random_.chance(0.6);  // every leaf begins at the first spine
  const unsigned radix = generation.radix;
  const unsigned each = between(radix / 4, radix * 2 / 3);
  const unsigned links = between(std::max(2U, each / 3), std::min(each, radix - each));
  left_ -= hosts;
  Island island{&generation, {}, {}};
  while (hosts > 0) {
    const unsigned some = random_.chance(0.2) ? between(1, each) : each;
    const unsigned here = std::min(hosts, some);
    island.leaves.push_back(plain_switch(generation, name(named, generation, "LEAF", island.leaves.size())));
    put_hosts(island.leaves.back(), here, generation, host, device);
    hosts -= here;
  }
  if (island.leaves.size() == 1) {
    island.tops = island.leaves;
    islands_.push_back(std::move(island));
    return;
  }
  const unsigned down = between(radix / 2, radix * 3 / 4);
  const auto cables = static_cast<unsigned>(island.leaves.size()) * links;
  const unsigned spines = std::max(1U + below(3), (cables + down - 1) / down);
  for (unsigned s = 0; s < spines; ++s) {
    island.tops.push_back(plain_switch(generation, name(named, generation, "SPINE", s)));
  }
  for (const Place leaf : island.leaves) {
    const unsigned first = orderly ? 0 : below(spines);
    spread(leaf, island.tops, random_.chance(0.08) ? 2 : links, first);
  }
  islands_.push_back(std::move(island));
}

/// The adapters of one machine each in a tree of its own; cores join the rails.
void Growth::add_rails() {
  const unsigned rails = 2U << below(left_ >= 400 ? 3 : 1);
  const unsigned machines = between(left_ / 2, left_) / rails;
  const Generation& generation = draw_generation();
  const unsigned first = named_hosts_;
  for (unsigned r = 0; r < rails; ++r) {
    named_hosts_ = first;
    add_tree(std::min(machines, 16 * generation.radix), generation, "dgx-", fmt::format(" mlx5_{}", r));
  }
}

Island Growth::add_one_chassis(const Generation& generation, unsigned lines) {
  const std::uint64_t chassis = site_.draw_guid();
  const bool named = random_.chance(0.3);
  const unsigned inside = generation.radix / 2;
  const unsigned trunk = between(1, 2);
  const unsigned spines = std::max(1U, inside / trunk);
  Island island{&generation, {}, {}};
  for (unsigned l = 0; l < lines; ++l) {
    island.leaves.push_back(site_.add_switch(generation, name(named, generation, "L", l), chassis));
  }
  std::vector<Place> boards;
  for (unsigned s = 0; s < spines; ++s) {
    boards.push_back(site_.add_switch(generation, name(named, generation, "S", s), chassis));
  }
  for (const Place line : island.leaves) spread(line, boards, inside, 0);
  island.tops = island.leaves;  // what is outside is cabled to line boards
  return island;
}

/// A director, or two side by side with cables between their line boards.
void Growth::add_chassis() {
  const Generation& generation = draw_generation();
  const bool two = random_.chance(0.6);
  const unsigned outside = generation.radix / 2;
  const unsigned each = outside - between(2, 4);
  const unsigned wanted = (two ? (left_ + 1) / 2 : left_) / each + 1;
  const unsigned lines = std::clamp(wanted, 2U, outside - 1);
  const bool named = random_.chance(0.5);
  std::vector<Island> pair;
  for (int c = 0; c < (two ? 2 : 1); ++c) {
    pair.push_back(add_one_chassis(generation, lines));
    for (const Place line : pair.back().leaves) {
      const unsigned here = std::min(left_, each);
      put_hosts(line, here, generation, named ? "compute" : "", " HCA-1");
      left_ -= here;
    }
  }
  if (two) join_chassis(pair[0], pair[1]);
  for (Island& island : pair) islands_.push_back(std::move(island));
}

void Growth::join_chassis(const Island& one, const Island& other) {
  for (std::size_t l = 0; l < one.leaves.size(); ++l) {
    const Place to = random_.chance(0.8) ? other.leaves[l] : any_of(other.leaves);
    spread(one.leaves[l], {to}, below(3), 0);
  }
}

void Growth::join_islands() {
  if (islands_.size() == 1) return;
  if (islands_.size() <= 3 && random_.chance(0.4)) {
    for (std::size_t i = 1; i < islands_.size(); ++i) {
      const unsigned links = between(1, 8);
      for (unsigned l = 0; l < links; ++l) {
        const unsigned first = below(64);
        const std::vector<Place>& others = islands_[below(i)].tops;
        spread(any_of(islands_[i].tops), others, 1, first);
      }
    }
    return;
  }
  join_by_cores(random_.chance(0.5) ? 2 : 1);
}

/// With two planes every second top is cabled to every second core, as in a fat tree of three levels.
void Growth::join_by_cores(unsigned planes) {
  const Generation& generation = generations()[newest_];
  std::vector<std::pair<Place, unsigned>> uplinks;
  std::vector<unsigned> position;
  unsigned cables = 0;
  for (const Island& island : islands_) {
    const unsigned most = between(1, generation.radix / 3);
    for (unsigned t = 0; t < island.tops.size(); ++t) {
      const unsigned open = site_.free_ports(island.tops[t]);
      const unsigned links = std::min(most, open > 2 ? open - 2 : open);
      uplinks.emplace_back(island.tops[t], links);
      position.push_back(t);
      cables += links;
    }
  }
  const unsigned room = generation.radix * 3 / 4;
  const unsigned cores = std::max(2U, (cables + room - 1) / room);
  std::vector<std::vector<Place>> plane(std::min(planes, cores));
  for (unsigned c = 0; c < cores; ++c) {
    cores_.push_back(plain_switch(generation, name(true, generation, "CORE", c)));
    plane[c % plane.size()].push_back(cores_.back());
  }
  unsigned first = 0;
  for (std::size_t u = 0; u < uplinks.size(); ++u) {
    spread(uplinks[u].first, plane[position[u] % plane.size()], uplinks[u].second, first);
    first += uplinks[u].second;  // cores fill evenly
  }
}

/// Leaves of two to four links, under spines of their own or hung on cores and middle switches.
void Growth::add_management(unsigned hosts) {
  const Generation& generation = draw_generation();
  std::vector<Place> above = cores_;
  for (const Island& island : islands_) above.push_back(any_of(island.tops));
  std::vector<Place> spines;
  if (random_.chance(0.5)) {
    for (unsigned s = 0; s < 2; ++s) {
      spines.push_back(plain_switch(generation, name(true, generation, "MSPINE", s)));
      const unsigned first = below(above.size());
      spread(spines.back(), above, between(1, 4), first);
    }
  }
  const unsigned leaves = 1 + below(2) + hosts / 20;
  for (unsigned l = 0; l < leaves; ++l) {
    const Place leaf = plain_switch(generation, name(true, generation, "MLEAF", l));
    const unsigned here = hosts / (leaves - l);
    put_hosts(leaf, here, generation, "mgmt", " mlx5_0");
    hosts -= here;
    const unsigned first = below(above.size());
    spread(leaf, spines.empty() ? above : spines, between(2, 4), first);
  }
}

/// Storage and service hosts where a port was free; some with a second port in another switch.
void Growth::hang_hosts_above(unsigned hosts) {
  std::vector<Place> above = cores_;
  for (const Island& island : islands_) above.insert(above.end(), island.tops.begin(), island.tops.end());
  for (unsigned h = 0; h < hosts; ++h) {
    const unsigned ports = random_.chance(0.2) ? 2 : 1;
    const Generation& generation = draw_generation();
    const Place host = site_.add_host(generation, fmt::format("storage{:02} mlx5_0", h), ports);
    spread(host, above, 1, below(above.size()));
    if (ports == 2) spread(host, above, 1, below(above.size()));
  }
}

}  // namespace

Drawing draw(const GeneratorSpec& /*spec*/, const GrownSpec& shape) {
  constexpr unsigned most_hosts = 30'000;  // unicast LIDs, IBA 4.1.1, less those of switches
  if (shape.hosts == 1 || shape.hosts > most_hosts) {
    return fail(ErrorCode::Invalid, fmt::format("hosts={}: 2 to {} can be grown", shape.hosts, most_hosts));
  }
  return Growth{shape}.grow();
}

}  // namespace heddle::sketch

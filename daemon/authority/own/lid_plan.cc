#include "authority/own/lid_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace heddle::provision {
namespace {

struct Wanting {
  PortRef ref;
  LinkEnd end;
  std::uint8_t lmc = 0;
};

class Lids {
 public:
  [[nodiscard]] bool valid(Lid lid, std::uint8_t lmc) const {
    const std::size_t size = std::size_t{1} << lmc;
    return lid != no_lid && lid.raw() % size == 0 && lid.raw() + size - 1 <= last_unicast_lid.raw();
  }
  [[nodiscard]] bool free(Lid lid, std::uint8_t lmc) const { return none(used_, lid, lmc); }
  void take(Lid lid, std::uint8_t lmc) { mark(used_, lid, lmc); }
  void reserve(Lid lid, std::uint8_t lmc) {
    if (valid(lid, lmc)) mark(reserved_, lid, lmc);
  }

  /// The lowest range that is free and, while there are such, not reserved for somebody who may come back.
  [[nodiscard]] Lid next(std::uint8_t lmc) {
    for (const bool spare_reserved : {true, false}) {
      std::size_t& cursor = cursors_[lmc][spare_reserved ? 0 : 1];
      const std::size_t size = std::size_t{1} << lmc;
      for (cursor = std::max(cursor, size); cursor + size - 1 <= last_unicast_lid.raw(); cursor += size) {
        const Lid lid{static_cast<std::uint16_t>(cursor)};
        if (none(used_, lid, lmc) && (!spare_reserved || none(reserved_, lid, lmc))) return lid;
      }
    }
    return no_lid;
  }

 private:
  using Set = std::vector<bool>;
  [[nodiscard]] static bool none(const Set& set, Lid lid, std::uint8_t lmc) {
    const auto first = set.begin() + lid.raw();
    return std::none_of(first, first + (1 << lmc), [](bool bit) { return bit; });
  }
  static void mark(Set& set, Lid lid, std::uint8_t lmc) {
    std::fill_n(set.begin() + lid.raw(), 1 << lmc, true);
  }

  Set used_ = Set(std::size_t{last_unicast_lid.raw()} + 1);
  Set reserved_ = used_;
  std::size_t cursors_[8][2] = {};
};

std::vector<Wanting> ports_with_lids(const Survey& survey, std::uint8_t lmc) {
  std::vector<Wanting> wanting;
  for (std::uint32_t i = 0; i < survey.nodes.size(); ++i) {
    const SurveyNode& node = survey.nodes[i];
    const NodeIndex index{i};
    if (node.is_switch()) {
      wanting.push_back({{node.guid(), PortNum{0}}, {index, PortNum{0}}, 0});
      continue;
    }
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const LinkEnd end{index, PortNum{static_cast<std::uint8_t>(p)}};
      if (survey.fabric->port(end).link != no_link) wanting.push_back({{node.guid(), end.port}, end, lmc});
    }
  }
  return wanting;
}

}  // namespace

Result<LidPlan> plan_lids(const Survey& survey, std::uint8_t lmc, const LidsByPort& remembered) {
  if (lmc > 7) return fail(ErrorCode::Invalid, fmt::format("LMC {}: 0 to 7 is possible", lmc));
  LidPlan plan;
  Lids lids;
  std::vector<Wanting> left;
  const auto wanting = ports_with_lids(survey, lmc);
  const auto lid_of = [&](const Wanting& port) {
    const SurveyPort& known = survey.port(port.end);
    return known.known ? known.info.lid : no_lid;
  };
  const auto keeps = [&](const Wanting& port) {
    const Lid has = lid_of(port);
    if (!lids.valid(has, port.lmc) || !lids.free(has, port.lmc)) return false;
    lids.take(has, port.lmc);
    plan.lids.emplace(port.ref, has);
    return true;
  };
  for (const Wanting& port : wanting) {
    const auto before = remembered.find(port.ref);
    if (before != remembered.end() && before->second == lid_of(port)) keeps(port);
  }
  for (const Wanting& port : wanting) {
    if (plan.lids.contains(port.ref) || keeps(port)) continue;
    const Lid has = lid_of(port);
    if (has != no_lid) {
      plan.moved.push_back(fmt::format(
          "{} cannot keep LID {}: {}", name_of(survey.node(port.end.node), port.end.port), has.raw(),
          lids.valid(has, port.lmc) ? "another port has it" : "it does not fit the LMC"));
    }
    left.push_back(port);
  }
  for (const auto& [port, lid] : remembered) lids.reserve(lid, lmc);
  std::erase_if(left, [&](const Wanting& port) {
    const auto before = remembered.find(port.ref);
    if (before == remembered.end() || !lids.valid(before->second, port.lmc) ||
        !lids.free(before->second, port.lmc)) {
      return false;
    }
    lids.take(before->second, port.lmc);
    plan.lids.emplace(port.ref, before->second);
    return true;
  });
  for (const Wanting& port : left) {
    const Lid lid = lids.next(port.lmc);
    if (lid == no_lid) {
      return fail(ErrorCode::Conflict, fmt::format("LMC {} and {} nodes need more than the {} unicast LIDs",
                                                   lmc, survey.nodes.size(), last_unicast_lid.raw()));
    }
    lids.take(lid, port.lmc);
    plan.lids.emplace(port.ref, lid);
  }
  return plan;
}

void remember(const LidPlan& plan, LidsByPort& remembered) {
  std::unordered_set<std::uint16_t> given;
  for (const auto& [port, lid] : plan.lids) {
    remembered[port] = lid;
    given.insert(lid.raw());
  }
  const bool too_many = remembered.size() > most_remembered;
  std::erase_if(remembered, [&](const auto& each) {
    return (too_many || given.contains(each.second.raw())) && !plan.lids.contains(each.first);
  });
}

}  // namespace heddle::provision

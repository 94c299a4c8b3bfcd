#include "authority/own/troubles.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::provision {

namespace {

constexpr std::size_t most_named = 5;

}  // namespace

void Troubles::add(const PortRef& where, std::string name, std::string what, std::string why) {
  alike_[{std::move(what), std::move(why)}].push_back({where, std::move(name)});
}

std::vector<Trouble> Troubles::take() {
  std::vector<Trouble> all = std::exchange(said_, {});
  for (auto& [reason, places] : std::exchange(alike_, {})) {
    const auto& [what, why] = reason;
    if (places.size() <= most_alike) {
      for (const Place& place : places) {
        all.push_back({place.where, fmt::format("{}: {}: {}", place.name, what, why)});
      }
      continue;
    }
    std::string names;
    for (std::size_t i = 0; i < std::min(places.size(), most_named); ++i) {
      names += (i == 0 ? "" : ", ") + places[i].name;
    }
    if (places.size() > most_named) names += fmt::format(" and {} more", places.size() - most_named);
    all.push_back(
        {places.front().where, fmt::format("at {} places: {}: {}: {}", places.size(), what, why, names)});
  }
  return all;
}

}  // namespace heddle::provision

#include "authority/own/troubles.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

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
    const std::string names = list_of(places, most_named, [](const Place& place) { return place.name; });
    all.push_back(
        {places.front().where, fmt::format("at {} places: {}: {}: {}", places.size(), what, why, names)});
  }
  return all;
}

}  // namespace heddle::provision

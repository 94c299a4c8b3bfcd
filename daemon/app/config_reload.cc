#include "app/config_reload.h"

#include <algorithm>
#include <array>
#include <set>

namespace heddle::app {
namespace {

constexpr std::array at_once{std::string_view{"log.level"},
                             std::string_view{"metrics.tokens_file"},
                             std::string_view{"qos.verify_interval"},
                             std::string_view{"sampling.interval"},
                             std::string_view{"sweep.heavy_interval"},
                             std::string_view{"sweep.light_interval"}};

}  // namespace

bool takes_effect_at_once(std::string_view key) {
  return key.starts_with("metrics.tls.") || std::ranges::find(at_once, key) != at_once.end();
}

std::vector<std::string> waiting_for_a_start(const Config& started, const Config& fresh) {
  std::set<std::string> changed;
  const auto compare = [&](const Config& a, const Config& b) {
    for (const auto& [key, value] : a.given) {
      const auto other = b.given.find(key);
      const bool same = other != b.given.end() && other->second == value;
      if (!same && !takes_effect_at_once(key)) changed.insert(key);
    }
  };
  compare(started, fresh);
  compare(fresh, started);
  if (started.power_models.size() != fresh.power_models.size()) changed.insert("power.model");
  return {changed.begin(), changed.end()};
}

}  // namespace heddle::app

#include "app/config_reload.h"

#include <algorithm>
#include <array>
#include <set>

namespace heddle::app {
namespace {

constexpr std::array at_once{
    std::string_view{"log.level"},           std::string_view{"metrics.tokens_file"},
    std::string_view{"qos.verify_interval"}, std::string_view{"regulation.mode"},
    std::string_view{"sampling.interval"},   std::string_view{"sweep.heavy_interval"},
    std::string_view{"sweep.light_interval"}};

/// Who writes the fabric is decided once in a daemon's life.
constexpr std::array by_start{std::string_view{"fabric.read_only"}, std::string_view{"opensm.lfts_file"},
                              std::string_view{"opensm.plugin"}, std::string_view{"sm.mode"},
                              std::string_view{"state.backend"}};

}  // namespace

Effect effect_of(std::string_view key) {
  if (std::ranges::find(by_start, key) != by_start.end()) return Effect::ByStart;
  const bool now = key.starts_with("metrics.tls.") || std::ranges::find(at_once, key) != at_once.end();
  return now ? Effect::AtOnce : Effect::AtStart;
}

std::string_view in_words(Effect effect) {
  switch (effect) {
    case Effect::AtStart:
      return "";
    case Effect::AtOnce:
      return "Takes effect at once.";
    case Effect::ByStart:
      return "Takes effect at once: the daemon ends in order and starts anew.";
  }
  return "";
}

std::vector<std::string> changed(const Config& started, const Config& fresh, Effect effect) {
  std::set<std::string> keys;
  const auto compare = [&](const Config& a, const Config& b) {
    for (const auto& [key, value] : a.given) {
      const auto other = b.given.find(key);
      const bool same = other != b.given.end() && other->second == value;
      if (!same && effect_of(key) == effect) keys.insert(key);
    }
  };
  compare(started, fresh);
  compare(fresh, started);
  const bool other_models = started.power_models.size() != fresh.power_models.size();
  if (other_models && effect == Effect::AtStart) keys.insert("power.model");
  return {keys.begin(), keys.end()};
}

}  // namespace heddle::app

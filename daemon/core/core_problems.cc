// What is wrong, from all parts of the core (docs/problems.md).

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "authority/known_fabric.h"
#include "base/human.h"
#include "base/text.h"
#include "core/fabric_core.h"

namespace heddle::core {
namespace {

/// What a full sweep may take, in intervals between them.
constexpr int most_intervals = 3;

/// More ports than these are counted only.
constexpr std::size_t most_named = 3;

}  // namespace

std::string FabricCore::shown(const PortRef& port) const {
  const Node& node = survey_->fabric->node(survey_->fabric->find_node(port.node));
  return fmt::format("{}/{}", shown_->of(node), port.port.raw());
}

/// This daemon yielded, and whoever it yielded to does not answer as master.
std::optional<std::string> FabricCore::nobody_manages() const {
  if (!authority_->yields() || !survey_ || (master_.sight() && master_.sight()->answers)) return std::nullopt;
  std::string claimants;
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      if ((node.ports[p].info.capability_mask & mad::port_cap::is_sm) == 0) continue;
      claimants += fmt::format("{}port {} of {}", count++ > 0 ? ", " : "", p,
                               options_.names.of(survey_->fabric->node(NodeIndex{i})));
    }
  }
  if (count == 0) {
    return "no subnet manager answers, and no port says that one is there: start one, restart this daemon, "
           "or use 'heddle sm take --force'";
  }
  return fmt::format(
      "no subnet manager answers; {} {} that one is there: this daemon does not take its fabric. End it "
      "there; if it is gone for good, use 'heddle sm take --force'",
      claimants, count > 1 ? "say" : "says");
}

std::optional<std::string> FabricCore::silent_manager() const {
  const auto& seen = master_.sight();
  if (!authority_->looks_for_master() || !seen || seen->lid == no_lid || seen->answers) return std::nullopt;
  return fmt::format(
      "the subnet manager at LID {} does not answer as master, and this daemon does not take its place: "
      "nobody "
      "repairs routes, and no host that starts gets a LID; see that subnet manager, and its standby",
      seen->lid.raw());
}

/// A guest's may take longer than the interval, and sweeps wait while something is written.
std::optional<std::string> FabricCore::overdue_sweep() const {
  const auto since = now_ - full_ended_;
  if (!heavy_at_ || since <= most_intervals * settings_.heavy_sweep) return std::nullopt;
  return fmt::format(
      "no full sweep has come to its end for {}, and sweep.heavy_interval asks for one every {}: {}",
      human_seconds(seconds(since)), human_seconds(seconds(settings_.heavy_sweep)),
      authority_->owns_fabric() ? "see the log for what is being written, and which node does not answer"
                                : "raise sweep.smps_per_second or sweep.heavy_interval");
}

/// Of regulation.mode = "enforce", or what `heddle regulate` put in its place.
std::optional<std::string> FabricCore::why_not_regulated() const {
  constexpr auto enforce = regulation::Mode::Enforce;
  if (regulation_) {
    const bool wanted = regulator()->governor().mode() == enforce;
    if (!wanted || !authority_->yields()) return std::nullopt;
    return "regulation is to be enforced, and another subnet manager is master: no link is turned off; end "
           "that one, or use its OpenSM with the plugin (docs/opensm.md)";
  }
  if (settings_.mode != enforce || authority_->follows()) return std::nullopt;
  const std::string why = authority_->why_not_regulated();
  return fmt::format("regulation.mode is \"enforce\", and {}: no link is turned off", why);
}

/// Who only watches brings nothing back, and others do not know why it is off.
std::optional<std::string> FabricCore::links_left_off() const {
  if (left_off_.empty() || !survey_) return std::nullopt;
  const auto disabled = authority::disabled_ports(*survey_->fabric);
  std::vector<PortRef> off;
  std::copy_if(left_off_.begin(), left_off_.end(), std::back_inserter(off), [&](const PortRef& port) {
    return std::find(disabled.begin(), disabled.end(), port) != disabled.end();
  });
  if (off.empty()) return std::nullopt;
  return fmt::format(
      "{} {} turned off by this daemon earlier, and while it only watches nobody brings them back: {}; let "
      "it regulate again ('heddle restore' then), or enable these ports (ibportstate)",
      off.size(), off.size() == 1 ? "link was" : "links were",
      list_of(off, most_named, [this](const PortRef& port) { return shown(port); }));
}

/// Links may change without them, and so may the order when it is made anew.
std::optional<std::string> FabricCore::earlier_routes() const {
  const std::vector<Lid> lids = authority_->staying();
  if (lids.empty()) return std::nullopt;
  const std::string named = list_of(lids, most_named, [this](Lid lid) {
    const PortIndex port = survey_ ? survey_->fabric->find_port(lid) : no_port;
    const std::string of =
        port == no_port ? "" : " of " + shown_->of(survey_->fabric->node(survey_->fabric->port(port).node));
    return fmt::format("LID {}{}", lid.raw(), of);
  });
  return fmt::format(
      "{} {} routes of an earlier order, since each way to others could close a circle: {}; they lead there, "
      "a switch that has none to one of them gets none, and they are looked at again when links change "
      "(docs/routing.md, Mends)",
      lids.size(), lids.size() == 1 ? "LID keeps" : "LIDs keep", named);
}

Problems FabricCore::problems() const {
  Problems all;
  const auto add_each = [&](ProblemKind kind, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) all.push_back({kind, text});
  };
  const auto add_if = [&](ProblemKind kind, std::optional<std::string> text) {
    if (text) all.push_back({kind, *std::move(text)});
  };
  const auto append = [&](Problems problems) {
    all.insert(all.end(), std::make_move_iterator(problems.begin()), std::make_move_iterator(problems.end()));
  };
  add_each(ProblemKind::Discovery, found_wrong_);
  add_if(ProblemKind::SweepOverdue, overdue_sweep());
  append(authority_->problems());
  add_if(ProblemKind::EarlierRoutes, earlier_routes());
  add_if(ProblemKind::NoManager, nobody_manages());
  add_each(ProblemKind::Qos, qos_.problems());
  add_each(ProblemKind::LocalitySets, sampler_.warnings());
  if (survey_) {
    append(sampling_watch_.problems(*survey_->fabric, [this](const Node& node) { return shown_->of(node); }));
  }
  append(regulation_ ? regulator()->problems() : lost_.problems());
  add_if(ProblemKind::NotRegulated, why_not_regulated());
  add_if(ProblemKind::NotRegulated, links_left_off());
  add_if(ProblemKind::SilentManager, silent_manager());
  return all;
}

}  // namespace heddle::core

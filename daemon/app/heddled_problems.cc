// What is wrong, from all parts of the daemon (docs/problems.md).

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/heddled_parts.h"
#include "authority/known_fabric.h"

namespace heddle::app {
namespace {

/// More ports than these are counted only.
constexpr std::size_t most_named = 3;

}  // namespace

/// This daemon yielded, and whoever it yielded to does not answer as master.
std::optional<std::string> Heddled::Parts::nobody_manages() const {
  if (!authority_->yields() || !survey_ || (master_.sight() && master_.sight()->answers)) return std::nullopt;
  std::string claimants;
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      if ((node.ports[p].info.capability_mask & mad::port_cap::is_sm) == 0) continue;
      claimants += fmt::format("{}port {} of {}", claimants.empty() ? "" : ", ", p,
                               names_.of(survey_->fabric->node(NodeIndex{i})));
    }
  }
  if (claimants.empty()) {
    return "no subnet manager answers, and no port says that one is there: start one, restart this daemon, "
           "or "
           "use 'heddle sm take --force'";
  }
  return fmt::format(
      "no subnet manager answers; {} says that one is there: this daemon does not take its fabric. End it "
      "there; if it is gone for good, use 'heddle sm take --force'",
      claimants);
}

/// This host alone, or without the switches that it had: its own cable, or the leaf behind it.
std::optional<std::string> Heddled::Parts::no_switch() const {
  if (!survey_) return std::nullopt;
  const Fabric& fabric = *survey_->fabric;
  if (fabric.switch_count() > 0) return std::nullopt;
  if (most_switches_ > 0) {
    return fmt::format("no switch is in sight, and {} were: see the cable in {}, and the switch behind it",
                       most_switches_, backend_->source());
  }
  if (fabric.nodes().size() > 1) return std::nullopt;  // back to back
  return fmt::format("no other node is in sight: see the cable in {}, and what is behind it",
                     backend_->source());
}

/// Of regulation.mode = "enforce", or what `heddle regulate` put in its place.
std::optional<std::string> Heddled::Parts::why_not_regulated() const {
  constexpr auto enforce = regulation::Mode::Enforce;
  if (regulation_) {
    const bool wanted = std::as_const(*regulation_).regulator().governor().mode() == enforce;
    if (!wanted || !authority_->yields()) return std::nullopt;
    return "regulation is to be enforced, and another subnet manager is master: no link is turned off; end "
           "that "
           "one, or use its OpenSM with the plugin (docs/opensm.md)";
  }
  if (config_.regulation.governor.mode != enforce) return std::nullopt;
  const std::string why = authority_->why_not_regulated();
  return fmt::format("regulation.mode is \"enforce\", and {}: no link is turned off", why);
}

std::vector<std::string> Heddled::Parts::rails_without_daemon() const {
  std::vector<std::string> all;
  for (const Backend::Rail& rail : backend_->other_rails()) {
    // Two ports in one fabric are no two rails.
    if (!survey_ || survey_->fabric->find_port(rail.guid) != no_port) continue;
    all.push_back(fmt::format(
        "port {} of this host leads to another fabric, at which no daemon looks: `systemctl enable "
        "--now heddled@...` has one for it (docs/production-host.md)",
        rail.name));
  }
  return all;
}

/// Who only watches brings nothing back, and others do not know why it is off.
std::optional<std::string> Heddled::Parts::links_left_off() const {
  if (ports_left_off_.empty() || !survey_) return std::nullopt;
  const auto disabled = authority::disabled_ports(*survey_->fabric);
  std::string named;
  std::size_t off = 0;
  for (const PortRef& port : ports_left_off_) {
    if (std::find(disabled.begin(), disabled.end(), port) == disabled.end()) continue;
    if (++off > most_named) continue;
    const Node& node = survey_->fabric->node(survey_->fabric->find_node(port.node));
    named += fmt::format("{}{}/{}", off > 1 ? ", " : "", shown_->of(node), port.port.raw());
  }
  if (off == 0) return std::nullopt;
  if (off > most_named) named += fmt::format(", and {} more", off - most_named);
  return fmt::format(
      "{} {} turned off by this daemon earlier, and while it only watches nobody brings them back: {}; let "
      "it "
      "regulate again ('heddle restore' then), or enable these ports (ibportstate)",
      off, off == 1 ? "link was" : "links were", named);
}

Problems Heddled::Parts::problems() const {
  Problems all;
  const auto add = [&](ProblemKind kind, std::string text) { all.push_back({kind, std::move(text)}); };
  const auto add_each = [&](ProblemKind kind, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add(kind, text);
  };
  const auto add_if = [&](ProblemKind kind, std::optional<std::string> text) {
    if (text) add(kind, *std::move(text));
  };
  const auto append = [&](Problems problems) {
    all.insert(all.end(), std::make_move_iterator(problems.begin()), std::make_move_iterator(problems.end()));
  };
  for (const std::string& loss : backend_->lost()) {
    add(ProblemKind::FabricFile, "not all of the fabric's file is here: " + loss);
  }
  add_if(ProblemKind::Reload, reload_wrong_);
  add_each(ProblemKind::Discovery, found_wrong_);
  append(authority_->problems());
  add_if(ProblemKind::Device, backend_->problem());
  add_if(ProblemKind::NoSwitch, no_switch());
  add_each(ProblemKind::Rail, rails_without_daemon());
  add_if(ProblemKind::NoManager, nobody_manages());
  add_each(ProblemKind::Exposure, exposure(config_));
  add_each(ProblemKind::Notify, notices_.problems());
  add_each(ProblemKind::Qos, qos_.problems());
  add_each(ProblemKind::LocalitySets, sampler_.warnings());
  if (survey_)
    append(sampling_watch_.problems(*survey_->fabric, [this](const Node& n) { return shown_->of(n); }));
  if (regulation_) append(std::as_const(*regulation_).regulator().problems());
  add_if(ProblemKind::NotRegulated, why_not_regulated());
  add_if(ProblemKind::NotRegulated, links_left_off());
  const auto& seen = master_.sight();
  if (authority_->looks_for_master() && seen && seen->lid != no_lid && !seen->answers) {
    add(ProblemKind::SilentManager,
        fmt::format("the subnet manager at LID {} does not answer as master, and this daemon only observes: "
                    "nobody repairs routes, and no host that starts gets a LID; see that subnet manager, and "
                    "its standby",
                    seen->lid.raw()));
  }
  return all;
}

void Heddled::Parts::tell_problems() {
  const Problems all = problems();
  problem_metrics_->set(all);
  notices_.look(all);
  std::vector<metrics::NotifyFigures> figures;
  for (const auto& state : notices_.states())
    figures.push_back({state.name, state.queued, state.sent, state.failures, state.dropped});
  notify_metrics_->set(std::move(figures));
}

}  // namespace heddle::app

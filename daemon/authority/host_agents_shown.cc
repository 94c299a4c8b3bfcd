// Of HostAgents: how hosts and their connections stand, for those who ask.

#include <fmt/format.h>

#include <algorithm>

#include "authority/host_agents.h"
#include "base/printable.h"

namespace heddle::regulate {
namespace {

std::string why_immovable(const std::optional<apm::Standing>& standing) {
  if (!standing) return "no agent answers";
  std::string why =
      fmt::format("{} of {} connections cannot move, {} failed to, {} other queue pairs", standing->unable,
                  standing->connections + standing->unable, standing->failed, standing->others);
  if (!standing->trouble.empty()) why += ": " + printable(standing->trouble);
  return why;
}

}  // namespace

HostAgents::Figures HostAgents::figures() const {
  Figures figures{
      .hosts = hosts_.size(), .moves = moves_, .failed_moves = failed_moves_, .trouble = trouble_};
  for (const auto& [port, host] : hosts_) {
    if (!host.standing) continue;
    const apm::Standing& standing = *host.standing;
    ++figures.agents;
    if (host.is_able()) ++figures.able;
    figures.connections += standing.connections;
    for (unsigned plane = 0; plane < apm::planes; ++plane)
      figures.in_plane[plane] += standing.in_plane[plane];
    figures.armed += standing.armed;
    figures.failed += standing.failed;
    figures.unable += standing.unable;
    figures.others += standing.others;
  }
  return figures;
}

std::optional<Ratio> HostAgents::immovable_share(const load::Sample& sample) const {
  double all = 0;
  double immovable = 0;
  for (const auto& [guid, host] : hosts_) {
    const PortIndex port = sample.fabric->find_port(guid);
    if (port == no_port) continue;
    const float rate = load::leaving(*sample.fabric, sample.ports, port);
    if (!load::is_known(rate)) continue;
    all += rate;
    if (!host.is_able()) immovable += rate;
  }
  if (all <= 0) return std::nullopt;
  return Ratio{immovable / all};
}

std::vector<std::string> HostAgents::immovable(std::size_t most) const {
  std::vector<std::string> list;
  for (const auto& [port, host] : hosts_) {
    if (host.is_able()) continue;
    const bool only_away = host.standing && host.standing->all_can_move();
    list.push_back(host.name + ": " +
                   (only_away ? "connections have left their plane by themselves, and are let be for a while"
                              : why_immovable(host.standing)));
  }
  std::sort(list.begin(), list.end());
  if (list.size() > most) list.resize(most);
  return list;
}

}  // namespace heddle::regulate

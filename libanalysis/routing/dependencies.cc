#include "routing/dependencies.h"

#include <algorithm>
#include <utility>

namespace heddle::routing {

Dependencies::Dependencies(const SwitchGraph& graph, unsigned vls) : graph_{&graph}, vls_{vls}, width_{0} {
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const auto hops = graph.hops(SwitchIndex{s});
    width_ = std::max(width_, hops.size() * vls);
    for (std::uint32_t h = 0; h < hops.size(); ++h) {
      local_.push_back(static_cast<std::uint8_t>(h));
      peer_.push_back(hops[h].peer.raw());
    }
  }
  witness_.assign(graph.hop_count() * vls * width_, 0);
  known_.assign(witness_.size() / word_bits + 1, 0);
}

bool Dependencies::leads(std::uint32_t from, std::uint32_t to, std::size_t& budget) const {
  if (from == to) return true;
  std::vector<char> seen(peer_.size(), 0);
  std::vector<std::uint32_t> open{from};
  seen[from] = 1;
  while (!open.empty()) {
    const std::uint32_t channel = open.back();
    open.pop_back();
    if (budget < width_) return true;
    budget -= width_;
    const auto first = static_cast<std::uint32_t>(graph_->first_hop(SwitchIndex{peer_[channel]}));
    for (std::uint32_t edge = 0; edge < width_; ++edge) {
      if (witness_[channel * width_ + edge] == 0) continue;
      const std::uint32_t next = first + edge;
      if (next == to) return true;
      if (std::exchange(seen[next], 1) == 0) open.push_back(next);
    }
  }
  return false;
}

std::vector<Dependencies::Edge> Dependencies::find_cycle() const {
  // Depth first without recursion: `edge` is the one that each channel of the path is at.
  struct Step {
    std::size_t channel;
    std::size_t edge;
  };
  enum : std::uint8_t { Unseen, OnPath, Done };
  std::vector<std::uint8_t> state(graph_->hop_count() * vls_, Unseen);
  std::vector<Step> path;
  for (std::size_t start = 0; start < state.size(); ++start) {
    if (state[start] != Unseen) continue;
    state[start] = OnPath;
    path.push_back({start, 0});
    while (!path.empty()) {
      Step& step = path.back();
      const std::uint16_t* edges = &witness_[step.channel * width_];
      while (step.edge < width_ && edges[step.edge] == 0) ++step.edge;
      if (step.edge == width_) {
        state[step.channel] = Done;
        path.pop_back();
        if (!path.empty()) ++path.back().edge;
        continue;
      }
      const SwitchIndex at{peer_[step.channel / vls_]};
      const std::size_t next = (graph_->first_hop(at) + step.edge / vls_) * vls_ + step.edge % vls_;
      if (state[next] == OnPath) {
        auto first = path.begin();
        while (first->channel != next) ++first;
        std::vector<Edge> cycle;
        for (; first != path.end(); ++first) {
          cycle.push_back({static_cast<std::uint32_t>(first->channel / vls_),
                           static_cast<unsigned>(first->channel % vls_),
                           Lid{witness_[first->channel * width_ + first->edge]}});
        }
        return cycle;
      }
      if (state[next] == Unseen) {
        state[next] = OnPath;
        path.push_back({next, 0});
      } else {
        ++step.edge;
      }
    }
  }
  return {};
}

}  // namespace heddle::routing

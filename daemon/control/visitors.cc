#include "control/visitors.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace heddle::control {

std::size_t Visitors::present(const Peer& peer) const {
  const auto it = of_peer_.find(peer);
  return it == of_peer_.end() ? 0 : it->second;
}

void Visitors::send_away(const Peer& peer) {
  auto least = visits_.end();
  for (auto it = visits_.begin(); it != visits_.end(); ++it) {
    if (it->second.peer != peer) continue;
    if (least == visits_.end() ||
        std::tie(it->second.doing, it->second.moved) < std::tie(least->second.doing, least->second.moved)) {
      least = it;
    }
  }
  if (least == visits_.end()) return;
  const auto leave = std::move(least->second.leave);
  left(least->first);
  leave();
}

Visitors::Id Visitors::enter(const Peer& peer, std::function<void()> leave) {
  if (present(peer) >= limits_.per_peer) {
    send_away(peer);
  } else if (visits_.size() >= limits_.connections) {
    const auto most = std::ranges::max_element(of_peer_, {}, [](const auto& each) { return each.second; });
    send_away(Peer{most->first});
  }
  const Id id = next_++;
  visits_.emplace(id, Visit{peer, std::move(leave), Doing::Nothing, id});
  ++of_peer_[peer];
  return id;
}

void Visitors::moved(Id id, Doing doing) {
  const auto it = visits_.find(id);
  if (it == visits_.end()) return;
  it->second.doing = doing;
  it->second.moved = next_++;
}

void Visitors::left(Id id) {
  const auto it = visits_.find(id);
  if (it == visits_.end()) return;
  const auto count = of_peer_.find(it->second.peer);
  if (--count->second == 0) of_peer_.erase(count);
  visits_.erase(it);
}

}  // namespace heddle::control

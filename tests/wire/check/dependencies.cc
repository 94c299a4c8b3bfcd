#include "check/dependencies.h"

#include <algorithm>
#include <iterator>

namespace wire {
namespace {

Channel held(Dependencies::Edge edge) { return static_cast<Channel>(edge >> 32U); }
Channel wanted(Dependencies::Edge edge) { return static_cast<Channel>(edge & 0xffffffffU); }

}  // namespace

std::vector<Channel> Dependencies::replace(int lid, std::vector<Edge> edges) {
  std::vector<Edge>& before = of_lid_[lid];
  if (before == edges) return {};
  std::vector<Edge> gone;
  std::vector<Edge> come;
  std::set_difference(before.begin(), before.end(), edges.begin(), edges.end(), std::back_inserter(gone));
  std::set_difference(edges.begin(), edges.end(), before.begin(), before.end(), std::back_inserter(come));
  before = std::move(edges);
  for (const Edge each : gone) remove(each);
  std::vector<Edge> fresh;
  for (const Edge each : come)
    if (add(each)) fresh.push_back(each);
  for (const Edge each : fresh) {
    std::vector<Channel> cycle = way(wanted(each), held(each));
    if (!cycle.empty()) return cycle;
  }
  return {};
}

int Dependencies::lid_of(Edge edge) const {
  for (const auto& [lid, edges] : of_lid_)
    if (std::binary_search(edges.begin(), edges.end(), edge)) return lid;
  return -1;
}

bool Dependencies::add(Edge edge) {
  auto& list = after_[static_cast<std::size_t>(held(edge))];
  for (Waited& each : list) {
    if (each.channel != wanted(edge)) continue;
    ++each.count;
    return false;
  }
  list.push_back({wanted(edge), 1});
  return true;
}

void Dependencies::remove(Edge edge) {
  auto& list = after_[static_cast<std::size_t>(held(edge))];
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Waited& each) { return each.channel == wanted(edge); });
  if (found != list.end() && --found->count == 0) list.erase(found);
}

std::vector<Channel> Dependencies::way(Channel from, Channel to) {
  ++search_;
  struct Step {
    Channel channel;
    std::size_t next;
  };
  std::vector<Step> stack{{from, 0}};
  mark_[static_cast<std::size_t>(from)] = search_;
  while (!stack.empty()) {
    Step& top = stack.back();
    if (top.channel == to) {
      std::vector<Channel> found;
      for (const Step& each : stack) found.push_back(each.channel);
      return found;
    }
    const auto& list = after_[static_cast<std::size_t>(top.channel)];
    if (top.next == list.size()) {
      stack.pop_back();
      continue;
    }
    const Channel next = list[top.next++].channel;
    if (mark_[static_cast<std::size_t>(next)] == search_) continue;
    mark_[static_cast<std::size_t>(next)] = search_;
    stack.push_back({next, 0});
  }
  return {};
}

}  // namespace wire

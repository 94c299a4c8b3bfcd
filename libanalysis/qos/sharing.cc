#include "qos/sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace heddle::qos {
namespace {

template <class T>
void tighten(std::optional<T>& bound, const std::optional<T>& other) {
  if (other) bound = std::min(bound.value_or(*other), *other);
}

class Sharer {
 public:
  explicit Sharer(const std::vector<SlRequest>& sls) {
    for (const Priority priority : {Priority::High, Priority::Low}) {
      for (const auto& sl : sls) {
        if (sl.priority == priority) vls_.push_back({sl, {sl}});
      }
    }
  }

  [[nodiscard]] std::size_t count(Priority priority) const {
    return static_cast<std::size_t>(
        std::ranges::count(vls_, priority, [](const SharedVl& vl) { return vl.together.priority; }));
  }
  [[nodiscard]] std::size_t count() const { return vls_.size(); }

  /// The best pair of this priority, or of any; false if there is none.
  bool put_two_together(std::optional<Priority> priority) {
    std::optional<std::tuple<bool, double, std::size_t, std::size_t>> best;
    for (std::size_t i = 0; i < vls_.size(); ++i) {
      for (std::size_t j = i + 1; j < vls_.size(); ++j) {
        const SlRequest& a = vls_[i].together;
        const SlRequest& b = vls_[j].together;
        if (a.priority != b.priority || a.priority != priority.value_or(a.priority)) continue;
        const bool alike = a.distance == b.distance && a.latency_ns == b.latency_ns;
        const std::tuple pair{!alike, a.share + b.share, i, j};
        if (!best || pair < *best) best = pair;
      }
    }
    if (!best) return false;
    merge(std::get<2>(*best), std::get<3>(*best));
    return true;
  }

  [[nodiscard]] std::vector<SharedVl> take() { return std::move(vls_); }

 private:
  void merge(std::size_t into, std::size_t from) {
    SlRequest& together = vls_[into].together;
    const SlRequest& other = vls_[from].together;
    together.share += other.share;
    tighten(together.distance, other.distance);
    tighten(together.latency_ns, other.latency_ns);
    auto& members = vls_[into].members;
    members.insert(members.end(), vls_[from].members.begin(), vls_[from].members.end());
    vls_.erase(vls_.begin() + static_cast<std::ptrdiff_t>(from));
  }

  std::vector<SharedVl> vls_;
};

}  // namespace

Result<std::vector<SharedVl>> share_vls(const std::vector<SlRequest>& sls, const DesignPort& port) {
  Sharer sharer{sls};
  if (sharer.count(Priority::Low) > 0 && port.low_entries == 0) {
    return fail(ErrorCode::Refused, "SLs of low priority, and the port has no low table");
  }
  while (sharer.count(Priority::High) > port.high_entries) (void)sharer.put_two_together(Priority::High);
  while (sharer.count(Priority::Low) > port.low_entries) (void)sharer.put_two_together(Priority::Low);
  while (sharer.count() > port.data_vls) {
    if (sharer.put_two_together(std::nullopt)) continue;
    return fail(
        ErrorCode::Refused,
        fmt::format("SLs of high and of low priority need 2 VLs, and the port has {}", port.data_vls));
  }
  return sharer.take();
}

std::string names(const SharedVl& vl) {
  std::string out = vl.members.size() == 1 ? "SL " : "SLs ";
  for (std::size_t i = 0; i < vl.members.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", vl.members[i].sl.raw());
  return out;
}

}  // namespace heddle::qos

#include "trace/collectives.h"

#include <bit>

namespace heddle::trace {
namespace {

std::uint32_t log2_up(std::uint32_t n) {
  return n <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
}

/// Binomial tree from the root: in round r those below 2^r send to their partner 2^r above.
std::vector<Round> broadcast(std::uint32_t n, std::uint32_t root, std::uint32_t member) {
  const std::uint32_t place = (member + n - root) % n;
  std::vector<Round> result(log2_up(n));
  for (std::uint32_t r = 0; r < result.size(); ++r) {
    const std::uint32_t step = 1U << r;
    if (place < step) {
      if (place + step < n) result[r].send.push_back((place + step + root) % n);
    } else if (place < 2 * step) {
      result[r].receive.push_back((place - step + root) % n);
    }
  }
  return result;
}

std::vector<Round> reduce(std::uint32_t n, std::uint32_t root, std::uint32_t member) {
  std::vector<Round> result = broadcast(n, root, member);
  for (Round& round : result) std::swap(round.send, round.receive);
  return {result.rbegin(), result.rend()};
}

std::vector<Round> all_reduce(std::uint32_t n, std::uint32_t member) {
  if (!std::has_single_bit(n)) {
    std::vector<Round> result = reduce(n, 0, member);
    const std::vector<Round> back = broadcast(n, 0, member);
    result.insert(result.end(), back.begin(), back.end());
    return result;
  }
  std::vector<Round> result;
  for (std::uint32_t step = 1; step < n; step *= 2) result.push_back({{member ^ step}, {member ^ step}});
  return result;
}

/// Everyone to the one `send` ahead, from the one as far behind, for each distance.
Round shifted(std::uint32_t n, std::uint32_t member, std::uint32_t distance) {
  return {{(member + distance) % n}, {(member + n - distance) % n}};
}

std::vector<Round> with_root(std::uint32_t n, std::uint32_t root, std::uint32_t member, bool to_root) {
  Round round;
  if (member != root) {
    (to_root ? round.send : round.receive).push_back(root);
  } else {
    for (std::uint32_t other = 0; other < n; ++other) {
      if (other != root) (to_root ? round.receive : round.send).push_back(other);
    }
  }
  return {round};
}

}  // namespace

std::vector<Round> rounds(CollectiveKind kind, std::uint32_t n, std::uint32_t root, std::uint32_t member) {
  if (n <= 1) return {};
  std::vector<Round> result;
  switch (kind) {
    case CollectiveKind::Barrier:
      for (std::uint32_t step = 1; step < n; step *= 2) result.push_back(shifted(n, member, step));
      break;
    case CollectiveKind::Broadcast:
      return broadcast(n, root, member);
    case CollectiveKind::Reduce:
      return reduce(n, root, member);
    case CollectiveKind::AllReduce:
      return all_reduce(n, member);
    case CollectiveKind::Gather:
      return with_root(n, root, member, true);
    case CollectiveKind::Scatter:
      return with_root(n, root, member, false);
    case CollectiveKind::AllGather:
      for (std::uint32_t i = 1; i < n; ++i) result.push_back(shifted(n, member, 1));
      break;
    case CollectiveKind::AllToAll:
      for (std::uint32_t i = 1; i < n; ++i) result.push_back(shifted(n, member, i));
      break;
  }
  return result;
}

}  // namespace heddle::trace

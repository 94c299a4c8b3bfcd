/// Which link a packet may hold while it waits for which other, over all LIDs and over all that their tables
/// may hold at this instant, old and new together: a cycle means that packets may wait for each other for
/// ever. All on one virtual lane.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace wire {

/// A cable in one direction: 2 x cable, + 1 from its second end.
using Channel = int;

class Dependencies {
 public:
  using Edge = std::uint64_t;  ///< held << 32 | waited for
  static Edge edge(Channel held, Channel wanted) {
    return static_cast<Edge>(static_cast<std::uint32_t>(held)) << 32 | static_cast<std::uint32_t>(wanted);
  }

  explicit Dependencies(std::size_t cables) : after_(2 * cables), mark_(2 * cables) {}

  /// What packets for a LID cause from here on; sorted, each once. Returns the channels of a cycle that an
  /// edge closes which was not there before; empty: none.
  std::vector<Channel> replace(int lid, std::vector<Edge> edges);
  /// A LID whose packets cause it; -1: none do.
  [[nodiscard]] int lid_of(Edge edge) const;

 private:
  struct Waited {
    Channel channel;
    int count;
  };
  bool add(Edge edge);  ///< whether it was not there
  void remove(Edge edge);
  [[nodiscard]] std::vector<Channel> way(Channel from, Channel to);

  std::vector<std::vector<Waited>> after_;
  std::map<int, std::vector<Edge>> of_lid_;
  std::vector<unsigned> mark_;
  unsigned search_ = 0;
};

}  // namespace wire

/// Whether packets run in circles, and whether buffers could wait for one another in a circle (Dally and
/// Seitz, 1987), for the tables as they stand and together with those of the last rest: packets under way
/// still follow those. Goes by what each entry changes, and shares nothing with the proofs of routing/.
///
/// For each LID it counts by how many ways packets come to each switch: from its hosts, and from each
/// neighbour that sends there. A changed entry takes one way from what it led to and gives one to what it
/// leads to; only where that was the last or is the first one, it goes on from there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/watch/channel_order.h"
#include "support/watch/table_columns.h"
#include "support/watch/watched_fabric.h"

namespace heddle::test {

class CircleWatch {
 public:
  CircleWatch(const WatchedFabric& watched, const TableColumns& tables)
      : watched_{watched}, tables_{tables} {}

  /// Other LIDs: everything anew, and what stands is at rest.
  void reload();
  /// What stands is at rest.
  void rest();
  /// From here on tables are judged without those of the last rest.
  void never_rests();
  /// From here on they are judged together with the entries of so long ago, and not with those of a rest.
  void packets_live(Picoseconds life);
  void pass_to(Picoseconds now) {
    if (life_) order_->pass_to(now);
  }
  /// Around each change of an entry in the columns.
  void before_change(Column k, std::uint32_t s);
  void after_change(Column k, std::uint32_t s);

  /// What is wrong, in words: at most one circle and one cycle of each kind.
  [[nodiscard]] std::vector<std::string> findings();

 private:
  using Channel = ChannelOrder::Channel;

  [[nodiscard]] Channel channel(std::uint32_t s, std::uint8_t port) const {
    return channel_of_[std::size_t{s} * ports + port];
  }
  /// By which packets that are at the switch leave it for another one.
  [[nodiscard]] Channel onward(Column k, std::uint32_t s) const {
    return at_[k] == s ? ChannelOrder::none : channel(s, tables_.column(k)[s]);
  }
  /// By which neighbours' packets come.
  template <class F>
  void for_each_way_in(Column k, std::uint32_t s, F&& f) const;
  template <class Count>
  void arrive(Column k, std::uint32_t s, Channel by, Count count);
  void leave(Column k, std::uint32_t s, Channel by);
  [[nodiscard]] std::uint16_t& ways(Column k, std::uint32_t s) {
    return ways_[std::size_t{k} * watched_.graph().size() + s];
  }
  template <class Passes>
  [[nodiscard]] std::vector<std::uint32_t> circle(Column k, Passes passes) const;
  [[nodiscard]] std::vector<std::uint32_t> active_circle(Column k) const;
  [[nodiscard]] bool is_active(Channel channel) const;
  [[nodiscard]] std::vector<std::uint8_t> active_channels() const;
  [[nodiscard]] std::vector<Channel> cycle_of_active_links() const;
  [[nodiscard]] std::string describe(Column k, const std::vector<std::uint32_t>& circle) const;
  [[nodiscard]] std::string describe(const std::vector<Channel>& cycle) const;

  static constexpr std::size_t ports = 256;
  const WatchedFabric& watched_;
  const TableColumns& tables_;
  std::vector<Channel> channel_of_;  ///< by switch and port
  std::vector<std::uint32_t> from_;  ///< by channel
  std::vector<std::uint32_t> to_;
  std::vector<std::uint32_t> host_switches_;
  std::vector<std::uint32_t> at_;        ///< by column: the switch of its target
  std::vector<std::uint16_t> ways_;      ///< by column and switch: by how many packets come there
  std::set<Column> circling_;            ///< over any links
  std::vector<std::string> rest_loops_;  ///< of the tables of the last rest
  std::unique_ptr<ChannelOrder> order_;
  bool rests_ = true;
  std::optional<Picoseconds> life_;
};

}  // namespace heddle::test

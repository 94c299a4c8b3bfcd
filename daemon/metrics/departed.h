/// Ports that have been seen and are gone with their node: their state goes on to be exported, as 0. A dead
/// host must be an alarm and not a hole in a graph. One thread; the lists it gives out are immutable.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "metrics/labels.h"

namespace heddle::metrics {

struct DepartedPort {
  NodeGuid node;
  NodeType type = NodeType::ChannelAdapter;
  std::string guid;  ///< as in Labels
  PortNum port;
  std::string name;  ///< as in Labels
};

class Departures {
 public:
  /// Those that have been gone for the most changes are forgotten first.
  static constexpr std::size_t most = 16384;

  /// A new snapshot takes the place of `before`.
  void follow(const Labels& before, const Labels& after);
  [[nodiscard]] std::shared_ptr<const std::vector<DepartedPort>> ports() const { return ports_; }

 private:
  struct Gone {
    std::vector<DepartedPort> ports;
    std::uint64_t since;
  };
  void shrink();

  std::unordered_map<NodeGuid, Gone> gone_;
  std::uint64_t changes_ = 0;
  std::shared_ptr<const std::vector<DepartedPort>> ports_ = std::make_shared<std::vector<DepartedPort>>();
};

}  // namespace heddle::metrics

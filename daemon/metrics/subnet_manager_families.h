/// The metrics of the subnet manager, whoever it is. set() and Collect() may come from different threads.
#pragma once

#include <prometheus/collectable.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace heddle::metrics {

struct SubnetManagerFigures {
  struct Master {
    std::string guid;
    std::string node;  ///< its name, empty if not known
    std::uint8_t priority = 0;
    std::uint8_t state = 0;  ///< as SMInfo codes it: 3 is master
  };
  std::string role;              ///< of the daemon: "master", "observer", "none"
  std::optional<Master> master;  ///< none as long as nobody has said who it is
  bool answers = false;
  std::uint64_t moves = 0;
};

class SubnetManagerMetrics final : public prometheus::Collectable {
 public:
  void set(SubnetManagerFigures figures);
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  mutable std::mutex mutex_;
  SubnetManagerFigures figures_;
};

}  // namespace heddle::metrics

/// All hosts of a served fabric that are adapters of this kernel, and what keeps the kernel's view of their
/// ports up to date: changes of states and LIDs are told at once, the rest of PortInfo and P_Keys within a
/// tick.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sim/change.h"
#include "simserve/kernel_adapter.h"

namespace heddle::simserve {

class KernelAdapters final : public sim::ChangeListener {
 public:
  /// `nodes` as sim::find_named() knows them. Sits before `next`, which hears of every change. All arguments
  /// must outlive it. Errors: those of KernelAdapter::open() and find_named().
  static Result<std::unique_ptr<KernelAdapters>> open(const Surroundings& around,
                                                      const std::vector<std::string>& nodes,
                                                      sim::ChangeListener* next);
  ~KernelAdapters() override;
  KernelAdapters(const KernelAdapters&) = delete;
  KernelAdapters& operator=(const KernelAdapters&) = delete;

  void changed(const sim::Change& change, Picoseconds at) override;
  [[nodiscard]] const std::vector<std::unique_ptr<KernelAdapter>>& all() const { return adapters_; }

 private:
  KernelAdapters(const Surroundings& around, sim::ChangeListener* next);
  void push();
  void tick();

  Surroundings around_;
  sim::ChangeListener* next_;
  std::vector<std::unique_ptr<KernelAdapter>> adapters_;
  boost::asio::steady_timer timer_;
  bool pushing_ = false;
};

}  // namespace heddle::simserve

/// Judges sweeps of the counters for operators: one that misses a port, or begins late, is nothing; several
/// are. The core's thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/problem.h"
#include "load/sample.h"

namespace heddle::core {

class SamplingWatch {
 public:
  /// A port that gave no answer in so many sweeps one after the other is silent.
  static constexpr unsigned patience = 3;
  /// Sweeps that are looked back over for late ones, of which half are too many.
  static constexpr std::size_t window = 20;

  /// After each sweep; `late`: of all sweeps so far, how many began late.
  void saw(const load::Sample& sample, std::uint64_t late);
  [[nodiscard]] Problems problems(const Fabric& fabric,
                                  const std::function<std::string(const Node&)>& name) const;

 private:
  std::map<PortRef, unsigned> missed_;  ///< sweeps in a row, to the last one
  std::deque<bool> late_;               ///< of the last sweeps
  std::uint64_t late_before_ = 0;
};

}  // namespace heddle::core

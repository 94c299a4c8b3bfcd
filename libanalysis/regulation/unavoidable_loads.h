/// What links carry whatever else is on. A link that would be too full with all links on is no reason to
/// bring others back: only what comes on top of that is (facts/regulation.md 2: rising load, or growing
/// XmitWait). Known from what was measured while all were on, in each plane that traffic used then, and from
/// what selections predict for all of them together. It holds for traffic that is alike: when hosts send more
/// it is forgotten until the next selection, and when they send less what was measured before is.
///
/// Shares of capacity by hop. One thread.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace heddle::regulation {

class UnavoidableLoads {
 public:
  /// All links were on while hosts sent that much (bit/s) and traffic used this plane.
  void measured(unsigned plane, std::vector<double> shares, double sent);
  /// Selection::ceilings.
  void predicted(std::vector<double> ceilings, double sent);
  /// Hosts send that much.
  void judge(double sent);
  void clear();

  /// By prediction alone; empty where there is none.
  [[nodiscard]] std::span<const double> ceilings() const { return ceilings_; }
  /// The most of all; empty where nothing is known.
  [[nodiscard]] std::vector<double> shares() const;

 private:
  void note(double sent);

  std::array<std::vector<double>, 2> measured_;  ///< by plane
  std::vector<double> ceilings_;
  double sent_ = 0;  ///< bit/s, when that was known
};

}  // namespace heddle::regulation

/// Other ways for what a trunk carries that has no link left to bring back: links of other trunks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "regulation/selector.h"

namespace heddle::regulation {

/// Fast back of the general policy, which empties whole trunks. A switch whose trunks are too full gets other
/// ways up; where all of these are on, the switches below it get some that do not lead through it; and where
/// that does not do, any link may be what sent the traffic there by not being on. Everything it is given must
/// outlive it.
class OtherWays {
 public:
  explicit OtherWays(const SelectionProblem& problem);

  /// A trunk of this lower switch is too full by so many bit/s, and why.
  void lacks(routing::SwitchIndex lower, double bits, const std::string& reason);
  /// Links that make up for it, as far as there are any that are off. `taken`: by LinkIndex, those that come
  /// back already.
  [[nodiscard]] std::vector<LinkDecision> bring(std::vector<std::uint8_t> taken, Reach reach);

 private:
  struct Lack {
    double bits = 0;
    std::string reason;
  };
  void find_trunks();
  [[nodiscard]] double trunk_load_of(const Trunk& trunk) const;
  /// Of these links as many as make up for it.
  void bring(const std::vector<LinkIndex>& links, Lack& lack, const char* what);
  void bring_ways_up(routing::SwitchIndex at);
  void pass_on(routing::SwitchIndex at);
  void bring_any();

  const SelectionProblem& problem_;
  std::vector<std::uint8_t> taken_;
  std::vector<LinkDecision> brought_;
  Lack nowhere_;                                       ///< what no switch below can do anything about
  std::vector<Lack> lacks_;                            ///< by switch
  std::vector<std::vector<std::uint32_t>> up_from_;    ///< trunks, by their lower switch
  std::vector<std::vector<std::uint32_t>> down_from_;  ///< trunks, by their upper one
};

}  // namespace heddle::regulation

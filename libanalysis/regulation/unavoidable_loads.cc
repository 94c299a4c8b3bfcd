#include "regulation/unavoidable_loads.h"

#include <algorithm>
#include <utility>

#include "regulation/traffic.h"

namespace heddle::regulation {
namespace {

void raise_shares(std::vector<double>& into, std::span<const double> by) {
  if (into.empty()) into.assign(by.begin(), by.end());
  for (std::size_t h = 0; h < by.size(); ++h) into[h] = std::max(into[h], by[h]);
}

}  // namespace

void UnavoidableLoads::measured(unsigned plane, std::vector<double> shares, double sent) {
  note(sent);
  measured_[plane % measured_.size()] = std::move(shares);
}

void UnavoidableLoads::predicted(std::vector<double> ceilings, double sent) {
  note(sent);
  ceilings_ = std::move(ceilings);
}

void UnavoidableLoads::judge(double sent) {
  if (sent > (1 + other_load) * sent_) clear();
}

void UnavoidableLoads::clear() {
  ceilings_.clear();
  for (auto& shares : measured_) shares.clear();
}

std::vector<double> UnavoidableLoads::shares() const {
  std::vector<double> shares = ceilings_;
  for (const auto& measured : measured_) raise_shares(shares, measured);
  return shares;
}

/// What was measured under other traffic goes.
void UnavoidableLoads::note(double sent) {
  if (sent > (1 + other_load) * sent_ || sent_ > (1 + other_load) * sent) clear();
  sent_ = sent;
}

}  // namespace heddle::regulation

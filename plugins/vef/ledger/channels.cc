#include "ledger/channels.h"

#include <stdexcept>

namespace heddle::vef {

std::uint32_t Channels::at(const Channel& channel) {
  // Most programs send several messages in a row to one peer.
  if (const auto found = place_.find(channel); found != place_.end()) return found->second;
  if (all_.size() == most) throw std::length_error("more than 1,048,576 pairs of tag and peer are in use");
  const auto place = static_cast<std::uint32_t>(all_.size());
  all_.push_back(channel);
  place_.emplace(channel, place);
  return place;
}

}  // namespace heddle::vef

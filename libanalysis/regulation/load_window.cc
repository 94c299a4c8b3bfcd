#include "regulation/load_window.h"

#include <cmath>

namespace heddle::regulation {
namespace {

void raise(std::vector<double>& into, const std::vector<double>& from) {
  for (std::size_t i = 0; i < into.size() && i < from.size(); ++i) {
    if (std::isnan(into[i]) || from[i] > into[i]) into[i] = from[i];
  }
}

void raise(MeasuredLoads& into, const MeasuredLoads& from) {
  raise(into.hop, from.hop);
  raise(into.waiting, from.waiting);
  raise(into.sent, from.sent);
  raise(into.received, from.received);
}

}  // namespace

void LoadWindow::add(Instant at, const MeasuredLoads& loads) {
  if (!began_) began_ = at;
  if (pieces_.empty() || at - piece_began_ >= length_ / 2) {
    pieces_.push_back(loads);
    piece_began_ = at;
    if (pieces_.size() > 3) pieces_.pop_front();
  } else {
    raise(pieces_.back(), loads);
  }
}

void LoadWindow::clear() {
  began_.reset();
  pieces_.clear();
}

MeasuredLoads LoadWindow::peak() const {
  MeasuredLoads result = pieces_.front();
  for (std::size_t i = 1; i < pieces_.size(); ++i) raise(result, pieces_[i]);
  return result;
}

}  // namespace heddle::regulation

/// Cuts what is written into slices of one size (slice_bytes), the last one perhaps shorter. One thread.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "control/http.h"

namespace heddle::control {

class Slicer {
 public:
  /// `full` gets each slice that is.
  template <class Full>
  void append(std::string_view bytes, const Full& full) {
    while (!bytes.empty()) {
      if (slice_.capacity() < slice_bytes) slice_.reserve(slice_bytes);
      const auto part = bytes.substr(0, slice_bytes - slice_.size());
      slice_.append(part);
      bytes.remove_prefix(part.size());
      if (slice_.size() == slice_bytes)
        full(std::make_shared<const std::string>(std::exchange(slice_, std::string{})));
    }
  }
  /// What is left; nothing perhaps.
  [[nodiscard]] Piece rest() {
    if (slice_.empty()) return nullptr;
    slice_.shrink_to_fit();
    return std::make_shared<const std::string>(std::exchange(slice_, std::string{}));
  }

 private:
  std::string slice_;
};

}  // namespace heddle::control

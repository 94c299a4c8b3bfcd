/// Pushes what changed to everybody who looks at the page, as server-sent events: after each sweep one text,
/// made once and shared by all viewers. Nothing is queued for a viewer but its place in the sequence: one who
/// reads too slowly misses frames and is sent the whole picture instead, and one who reads nothing is closed
/// by the server's deadline. So memory is bounded by `FeedLimits`, whatever viewers do. While nobody looks,
/// nothing is made. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/http.h"
#include "load/sample.h"
#include "web/picture.h"

namespace heddle::web {

struct FeedLimits {
  std::size_t viewers = 64;
  std::size_t frame_bytes = 150'000;  ///< of changed utilization and congestion per sweep
  std::size_t frames = 4;             ///< that are kept for viewers who lag
};

class Feed {
 public:
  /// Runs a function later, on the same thread.
  using Later = std::function<void(std::function<void()>)>;
  /// Identifies what the columns of a picture belong to: the fabric's nodes, cables and sets.
  using Shape = std::function<std::string(const std::shared_ptr<const load::Sample>&)>;
  using Look = std::function<Picture(const load::Sample&)>;

  Feed(Later later, Shape shape, Look look, FeedLimits limits = {});

  /// A complete sweep; or the same one again, if what else a picture shows has changed.
  void publish(std::shared_ptr<const load::Sample> sample);
  /// The body of one viewer's answer. Errors: Unreachable when there are too many viewers.
  [[nodiscard]] Result<control::Pieces> subscribe();

  [[nodiscard]] std::size_t viewers() const;

 private:
  struct Viewer {
    std::uint64_t seen = 0;  ///< sequence number of the last frame sent; 0 for none
    control::NextPiece waiting{};
  };
  struct State;

  std::shared_ptr<State> state_;
};

/// A picture of an earlier sweep, as the frame of somebody who knows nothing: JSON without the fabric's sums,
/// which nobody kept.
[[nodiscard]] std::string slice_text(const load::Sample& like, const Picture& picture,
                                     const std::string& shape, Instant at);

}  // namespace heddle::web

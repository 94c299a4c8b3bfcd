#include "web/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace heddle::web {
namespace {

/// JSON has no word for what is no number, nor for what is without end.
std::string number(double figure) { return std::isfinite(figure) ? fmt::format("{:.6g}", figure) : "null"; }

struct Texts {
  std::string utilization, congestion, errors, state, locality, power, drift, bits;
};

/// What a frame says besides its columns.
struct Head {
  const std::string& shape;
  Instant at;
  std::uint64_t sequence = 0;  ///< 0: outside of the sequence
  std::uint64_t sweep = 0;
  std::int64_t least = 1;  ///< smallest change of a ratio that it tells
  const load::Sample* sums = nullptr;
};

std::string sums_text(const load::Sample* sample) {
  if (sample == nullptr) return "null";
  const auto& total = sample->total;
  return fmt::format(
      R"({{"injected":{},"delivered":{},"utilization_mean":{},"utilization_max":{},"congestion_max":{},)"
      R"("failed":{}}})",
      number(total.injected), number(total.delivered), number(total.links.utilization_mean),
      number(total.links.utilization_max), number(total.links.congestion_max), sample->failures.size());
}

std::string frame_text(const Head& head, const Texts& texts) {
  return fmt::format(R"({{"seq":{},"shape":"{}","sweep":{},"at":{:.3f},"least":{},"total":{},)"
                     R"("utilization":"{}","congestion":"{}","errors":"{}","state":"{}","locality":"{}",)"
                     R"("power":"{}","drift":"{}","bits":"{}"}})",
                     head.sequence, head.shape, head.sweep, seconds(head.at.time_since_epoch()), head.least,
                     sums_text(head.sums), texts.utilization, texts.congestion, texts.errors, texts.state,
                     texts.locality, texts.power, texts.drift, texts.bits);
}

Texts differences(Picture& shown, const Picture& to, std::int64_t least) {
  return {difference(shown.utilization, to.utilization, least),
          difference(shown.congestion, to.congestion, least),
          difference(shown.errors, to.errors),
          difference(shown.state, to.state),
          difference(shown.locality, to.locality),
          difference(shown.power, to.power),
          difference(shown.drift, to.drift),
          difference(shown.bits, to.bits)};
}

control::Piece event(const char* name, const std::string& data) {
  return std::make_shared<const std::string>(fmt::format("retry: 1000\nevent: {}\ndata: {}\n\n", name, data));
}

}  // namespace

std::string slice_text(const load::Sample& like, const Picture& picture, const std::string& shape,
                       Instant at) {
  Picture nothing = blank_picture(like);
  return frame_text({.shape = shape, .at = at}, differences(nothing, picture, 1));
}

/// Outlives the Feed where a viewer's connection does, and then knows nothing to send.
struct Feed::State : std::enable_shared_from_this<Feed::State> {
  State(Later later_, Shape shape_of_, Look look_, FeedLimits limits_)
      : later{std::move(later_)}, shape_of{std::move(shape_of_)}, look{std::move(look_)}, limits{limits_} {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    // A waiting connection holds its viewer, and the viewer the connection.
    for (const auto& weak : viewers) {
      if (const auto viewer = weak.lock()) std::exchange(viewer->waiting, nullptr);
    }
  }

  void publish(std::shared_ptr<const load::Sample> next) {
    sample = std::move(next);
    std::erase_if(viewers, [](const auto& viewer) { return viewer.expired(); });
    if (viewers.empty()) {
      shown.reset();
      frames.clear();
      whole = nullptr;
      return;
    }
    advance();
    // A call may add and remove viewers.
    for (const auto& weak : std::vector(viewers)) {
      if (const auto viewer = weak.lock()) serve(*viewer);
    }
  }

  /// Makes the frame of the latest sample.
  void advance() {
    ++sequence;
    whole = nullptr;
    std::string fresh = shape_of(sample);
    Picture picture = look(*sample);
    if (!shown || fresh != shape || picture.locality.size() != shown->locality.size()) {
      shape = std::move(fresh);
      shown = std::move(picture);
      least = 1;
      frames.clear();
      return;
    }
    least = fitting_difference(*shown, picture, limits.frame_bytes);
    const Texts texts = differences(*shown, picture, least);
    frames.push_back(event("delta", frame_text(head(), texts)));
    if (frames.size() > limits.frames) frames.pop_front();
  }

  [[nodiscard]] Head head() const {
    return {shape, sample->ended, sequence, sample->number, least, sample.get()};
  }

  void serve(Viewer& viewer) {
    if (!viewer.waiting || !sample) return;
    if (!shown) advance();
    if (viewer.seen == sequence) return;
    control::Piece piece;
    const std::uint64_t behind = sequence - viewer.seen;
    if (viewer.seen != 0 && behind <= frames.size()) {
      piece = frames[frames.size() - behind];
      ++viewer.seen;
    } else {
      if (!whole) {
        Picture nothing = blank_picture(*sample);
        whole = event("whole", frame_text(head(), differences(nothing, *shown, 1)));
      }
      piece = whole;
      viewer.seen = sequence;
    }
    std::exchange(viewer.waiting, nullptr)(std::move(piece));
  }

  Later later;
  Shape shape_of;
  Look look;
  FeedLimits limits;
  std::shared_ptr<const load::Sample> sample;
  std::uint64_t sequence = 0;
  std::string shape;
  std::optional<Picture> shown;       ///< what a viewer at `sequence` has; none while nobody looks
  std::int64_t least = 1;             ///< by which, or more, `shown` differs from the sample nowhere
  std::deque<control::Piece> frames;  ///< the last one is that of `sequence`
  control::Piece whole;               ///< of `sequence`, once somebody needs it
  std::vector<std::weak_ptr<Viewer>> viewers;
};

Feed::Feed(Later later, Shape shape, Look look, FeedLimits limits)
    : state_{std::make_shared<State>(std::move(later), std::move(shape), std::move(look), limits)} {}

void Feed::publish(std::shared_ptr<const load::Sample> sample) { state_->publish(std::move(sample)); }

std::size_t Feed::viewers() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(state_->viewers, [](const auto& viewer) { return !viewer.expired(); }));
}

Result<control::Pieces> Feed::subscribe() {
  if (viewers() >= state_->limits.viewers) {
    return fail(ErrorCode::Unreachable,
                fmt::format("{} viewers look at the page already, which is the most: close one of them",
                            state_->limits.viewers));
  }
  std::erase_if(state_->viewers, [](const auto& viewer) { return viewer.expired(); });
  auto viewer = std::make_shared<Viewer>();
  state_->viewers.push_back(viewer);
  return control::Pieces{[viewer, state = std::weak_ptr{state_}](control::NextPiece next) {
    const auto feed = state.lock();
    if (!feed) return;  // the daemon ends, and the connection with it
    viewer->waiting = std::move(next);
    // Never answered from within.
    feed->later([weak = std::weak_ptr{viewer}, state] {
      const auto held = weak.lock();
      const auto alive = state.lock();
      if (held && alive) alive->serve(*held);
    });
  }};
}

}  // namespace heddle::web

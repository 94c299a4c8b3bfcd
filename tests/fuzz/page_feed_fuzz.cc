// What viewers of the page are sent, whatever is measured and whoever lags: each frame is JSON, none is
// missing, and who has the last one sees what was measured, to within what the frame says that it leaves out.
// Who looks back sees what was measured then.
//
// The input: bytes, of which each says what happens; a sweep takes three more for each port that it changes.

#include <boost/json/parse.hpp>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/generators.h"
#include "fuzz/fuzz_target.h"
#include "load/history.h"
#include "load/locality.h"
#include "web/feed.h"

namespace {

using namespace heddle;
using namespace heddle::web;

std::uint64_t take_unsigned(std::string_view& text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 5) {
    const std::size_t digit = text.empty() ? std::string_view::npos : digits.find(text.front());
    fuzz::require(digit != std::string_view::npos, "a number is whole, and of the digits that are agreed");
    text.remove_prefix(1);
    value |= (digit & 31U) << shift;
    if (digit < 32) return value;
  }
  fuzz::require(false, "a number has 64 bits");
  return 0;
}

void add_difference(Column& column, std::string_view text) {
  for (std::size_t index = 0; !text.empty();) {
    index += take_unsigned(text);
    const std::uint64_t code = take_unsigned(text);
    fuzz::require(index < column.size(), "a frame speaks of directions that there are");
    column[index] += static_cast<std::int64_t>(code >> 1U) ^ -static_cast<std::int64_t>(code & 1U);
  }
}

boost::json::object frame_in(std::string_view text) {
  boost::system::error_code wrong;
  const auto frame = boost::json::parse(text, wrong);
  fuzz::require(!wrong && frame.is_object(), "a frame is JSON");
  return frame.get_object();
}

void add_column(Column& column, const boost::json::object& frame, const char* name) {
  const auto& text = frame.at(name).as_string();
  add_difference(column, {text.data(), text.size()});
}

struct Viewer {
  control::Pieces pieces;
  bool asking = false;
  std::uint64_t sequence = 0;
  std::int64_t least = 1;
  Column utilization;
  Column errors;

  void take(const std::string& text) {
    const auto data = text.find("\ndata: ");
    fuzz::require(data != std::string::npos && text.ends_with("\n\n"), "an event has data, and an end");
    const bool whole = text.find("event: whole\n") < data;
    const auto frame = frame_in(std::string_view{text}.substr(data + 7));
    const auto number = frame.at("seq").to_number<std::uint64_t>();
    fuzz::require(whole || number == sequence + 1, "no frame is missing");
    if (whole) {
      utilization.assign(utilization.size(), unknown_ratio);
      errors.assign(errors.size(), 0);
    }
    sequence = number;
    least = frame.at("least").to_number<std::int64_t>();
    add_column(utilization, frame, "utilization");
    add_column(errors, frame, "errors");
  }
};

constexpr std::size_t sweeps_kept = 3;
constexpr std::size_t viewers_at_most = 3;
constexpr std::size_t frames_kept = 2;

class Page {
 public:
  explicit Page(std::size_t frame_bytes)
      : feed_{[this](std::function<void()> then) { waiting_.push_back(std::move(then)); },
              [this](const std::shared_ptr<const load::Sample>&) { return std::string(1, shape_); },
              [](const load::Sample& sample) { return picture_of(sample); },
              FeedLimits{viewers_at_most, frame_bytes, frames_kept}} {
    static const auto fabric = *generate("tree:k=2,n=2");
    static const auto sets = load::LocalitySets::find(*fabric, {});
    sets_ = sets.get();
    history_.rebase(fabric);
    blank_.fabric = fabric;
    blank_.ports.resize(fabric->ports().size());
    blank_.nodes.resize(fabric->nodes().size());
    blank_.set_names = sets->names();
    blank_.locality.resize(sets->names()->size());
  }

  void publish() {
    last_ = std::make_shared<load::Sample>(blank_);
    last_->number = ++sweeps_;
    last_->ended = Instant{std::chrono::seconds{sweeps_}};
    feed_.publish(last_);
    check();
    keep();
    look_back();
  }
  void set(std::uint8_t port, std::uint8_t utilization, std::uint8_t congestion) {
    auto& one = blank_.ports[port % blank_.ports.size()];
    one.utilization = figure(utilization);
    one.congestion = figure(congestion);
    one.status = utilization == 7 ? load::PortStatus{} : load::PortStatus::Fresh;
    // What grows in one sweep fits into 32 bits: no port counts more.
    one.totals[load::at(load::Counter::SymbolErrors)] += std::uint64_t{utilization} << (congestion % 20U);
    blank_.total.injected = figure(congestion) * 1e300;
  }
  void come() {
    auto pieces = feed_.subscribe();
    if (!pieces)
      return fuzz::require(feed_.viewers() == viewers_at_most,
                           "whoever is sent away is told that it is full");
    viewers_.push_back(std::make_unique<Viewer>(Viewer{std::move(*pieces), false, 0, 1, {}, {}}));
    viewers_.back()->utilization.resize(directions());
    viewers_.back()->errors.resize(directions());
  }
  void leave(std::size_t which) {
    if (!viewers_.empty())
      viewers_.erase(viewers_.begin() + static_cast<std::ptrdiff_t>(which % viewers_.size()));
  }
  void ask(std::size_t which) {
    if (viewers_.empty()) return;
    Viewer* const viewer = viewers_[which % viewers_.size()].get();
    if (std::exchange(viewer->asking, true)) return;
    viewer->pieces([viewer](const control::Piece& piece) {
      viewer->asking = false;
      viewer->take(*piece);
    });
  }
  void run() {
    for (auto& then : std::exchange(waiting_, {})) then();
    check();
  }
  void change_shape() { shape_ = shape_ == 'a' ? 'b' : 'a'; }

 private:
  static float figure(std::uint8_t byte) {
    constexpr float odd[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             -1, 1e30F};
    return byte < 4 ? odd[byte] : static_cast<float>(byte) / 200;
  }
  [[nodiscard]] std::size_t directions() const { return 2 * blank_.fabric->links().size(); }
  void keep() {
    history_.append(*last_);
    kept_.push_back(picture_of(*last_));
    if (kept_.size() > sweeps_kept) kept_.pop_front();
    fuzz::require(history_.sweeps() == kept_.size(), "the last sweeps are kept");
  }
  /// Beyond what is kept, too.
  void look_back() const {
    for (std::size_t place = 0; place <= kept_.size(); ++place) {
      const Picture seen = picture_of(*last_, history_, place, sets_);
      const Picture then = place < kept_.size() ? kept_[place] : blank_picture(*last_);
      for (std::size_t i = 0; i < directions(); ++i) {
        fuzz::require(
            alike(seen.utilization[i], then.utilization[i]) && alike(seen.congestion[i], then.congestion[i]),
            "who looks back sees the load of that sweep");
      }
      fuzz::require(seen.errors == then.errors, "who looks back sees the errors of that sweep");
      for (const std::int64_t figure : seen.locality) {
        fuzz::require(figure == unknown_locality || (figure >= -1900 && figure <= 1000),
                      "locality is a figure, or unknown");
      }
      check_slice(seen);
    }
  }
  void check_slice(const Picture& seen) const {
    const auto slice = frame_in(slice_text(*last_, seen, "shape", last_->ended));
    fuzz::require(slice.at("seq").to_number<int>() == 0 && slice.at("total").is_null(),
                  "a slice is no frame of the sequence");
    Picture shown = blank_picture(*last_);
    add_column(shown.utilization, slice, "utilization");
    add_column(shown.congestion, slice, "congestion");
    add_column(shown.errors, slice, "errors");
    add_column(shown.locality, slice, "locality");
    fuzz::require(shown.utilization == seen.utilization && shown.congestion == seen.congestion &&
                      shown.errors == seen.errors && shown.locality == seen.locality,
                  "a slice shows all of its picture");
  }
  /// History is kept in steps of a fiftieth of a thousandth.
  static bool alike(std::int64_t x, std::int64_t y) {
    return (x == unknown_ratio) == (y == unknown_ratio) && std::abs(x - y) <= 1;
  }
  void check() const {
    if (!last_) return;
    const Picture now = picture_of(*last_);
    const Column& truth = now.utilization;
    for (const auto& viewer : viewers_) {
      // Whoever waits has all that there is.
      if (!viewer->asking || viewer->sequence == 0 || !waiting_.empty()) continue;
      fuzz::require(viewer->errors == now.errors, "who has the last frame sees all errors");
      for (std::size_t i = 0; i < truth.size(); ++i) {
        const std::int64_t differs = viewer->utilization[i] - truth[i];
        fuzz::require(std::abs(differs) < viewer->least, "who has the last frame sees what was measured");
      }
    }
  }

  std::vector<std::function<void()>> waiting_;
  char shape_ = 'a';
  const load::LocalitySets* sets_ = nullptr;
  load::History history_{sweeps_kept};
  std::deque<Picture> kept_;
  load::Sample blank_;
  std::shared_ptr<load::Sample> last_;
  std::uint64_t sweeps_ = 0;
  std::vector<std::unique_ptr<Viewer>> viewers_;
  Feed feed_;  // the last: it lets go of viewers that wait
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Page page{data[0] % 2 == 0 ? 100'000U : data[0] * 4U};
  for (std::size_t i = 1; i < size; ++i) {
    const std::size_t which = data[i] / 8;
    switch (data[i] % 8) {
      case 0:
      case 1:
        for (std::size_t n = which % 8; n > 0 && i + 3 < size; --n, i += 3)
          page.set(data[i + 1], data[i + 2], data[i + 3]);
        page.publish();
        break;
      case 2:
        page.come();
        break;
      case 3:
      case 4:
        page.ask(which);
        break;
      case 5:
      case 6:
        page.run();
        break;
      default:
        which % 2 == 0 ? page.change_shape() : page.leave(which / 2);
    }
  }
  return 0;
}

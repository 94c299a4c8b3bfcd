#include "control/crossing.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace heddle::control {

// Not without a name: they are members of what is declared in the header.
namespace crossing_parts {

namespace asio = boost::asio;
using Number = std::uint64_t;
using Span = std::chrono::steady_clock::duration;

/// What is posted to a thread, as long as there is one.
class Post {
 public:
  explicit Post(asio::io_context& io) : io_{&io} {}
  void operator()(std::function<void()> what) {
    const std::lock_guard lock{mutex_};
    if (io_ != nullptr) asio::post(*io_, std::move(what));
  }
  void close() {
    const std::lock_guard lock{mutex_};
    io_ = nullptr;
  }

 private:
  std::mutex mutex_;
  asio::io_context* io_;
};

/// Calls `then` when its last copy is gone.
template <class Then>
std::shared_ptr<void> when_dropped(Then then) {
  return {nullptr, [then = std::move(then)](void*) mutable { then(); }};
}

/// One reader's request that waits for its turn.
struct Waiting {
  Number number;
  Request request;
};

/// Whoever has had least of the daemon's time goes first; what somebody had is forgotten by and by.
class Turns {
 public:
  void add(const Peer& peer, Waiting waiting) {
    queues_[peer].push_back(std::move(waiting));
    ++count_;
  }
  std::optional<Waiting> next() {
    auto first = queues_.end();
    for (auto it = queues_.begin(); it != queues_.end(); ++it) {
      if (first == queues_.end() || rank(*it) < rank(*first)) first = it;
    }
    if (first == queues_.end()) return std::nullopt;
    Waiting waiting = std::move(first->second.front());
    first->second.pop_front();
    if (first->second.empty()) queues_.erase(first);
    --count_;
    return waiting;
  }
  /// The newest request of whoever has most of them here, if those are more than `peer` has and this one.
  std::optional<Waiting> give_place_to(const Peer& peer) {
    const auto count = [](const Queue& queue) { return queue.second.size(); };
    const auto most = std::ranges::max_element(queues_, {}, count);
    const auto own = queues_.find(peer);
    if (most == queues_.end() || count(*most) <= (own == queues_.end() ? 1 : count(*own) + 1)) {
      return std::nullopt;
    }
    Waiting waiting = std::move(most->second.back());
    most->second.pop_back();
    --count_;
    return waiting;
  }
  void charge(const Peer& peer, Span took) {
    static constexpr Span forgotten = std::chrono::microseconds{1};
    constexpr Span memory = std::chrono::seconds{1};
    took = std::max<Span>(took, std::chrono::nanoseconds{1});
    had_[peer] += took;
    all_had_ += took;
    if (all_had_ < memory) return;
    all_had_ = {};
    for (auto& [who, had] : had_) all_had_ += had /= 2;
    std::erase_if(had_, [](const auto& each) { return each.second < forgotten; });
  }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  using Queue = std::pair<const Peer, std::deque<Waiting>>;
  [[nodiscard]] std::pair<Span, Number> rank(const Queue& queue) const {
    const auto had = had_.find(queue.first);
    return {had == had_.end() ? Span{} : had->second, queue.second.front().number};
  }

  std::map<Peer, std::deque<Waiting>> queues_;  ///< none is empty
  std::map<Peer, Span> had_;
  Span all_had_{};
  std::size_t count_ = 0;
};

}  // namespace crossing_parts

namespace asio = boost::asio;
using crossing_parts::Number;
using crossing_parts::Post;
using crossing_parts::Span;
using crossing_parts::Turns;
using crossing_parts::when_dropped;

/// The daemon's thread.
struct Crossing::Inside : std::enable_shared_from_this<Inside> {
  Inside(asio::io_context& io, Handler handler_, Meter meter_)
      : post{io}, handler{std::move(handler_)}, meter{std::move(meter_)} {}

  void handle(Number number, const Request& request);
  void next_piece(Number number);

  Post post;
  Handler handler;
  Meter meter;
  std::weak_ptr<Doors> doors;
  std::unordered_map<Number, Pieces> pieces;
};

/// The doors' thread.
struct Crossing::Doors : std::enable_shared_from_this<Doors> {
  Doors(asio::io_context& io, CrossingLimits limits_) : post{io}, rested{io}, limits{limits_} {}

  void ask(const Request& request, Respond respond) {
    const Number number = next_number++;
    if (request.access >= Access::Change) {
      responds.emplace(number, std::move(respond));
      return cross(number, request);
    }
    if (turns.size() >= limits.waiting) {
      // Whoever asks for much waits again, and not a scraper that asks for one thing.
      const auto later = [] { return try_later(std::chrono::seconds{1}, "too many are asking"); };
      const auto place = turns.give_place_to(request.peer);
      if (!place) return respond(later());
      answer(place->number, later(), false);
    }
    responds.emplace(number, std::move(respond));
    turns.add(request.peer, {number, request});
    let_one_in();
  }

  void cross(Number number, const Request& request) {
    inside->post([inside = inside, number, request] { inside->handle(number, request); });
  }

  void let_one_in() {
    if (busy) return;
    auto first = turns.next();
    if (!first) return;
    busy = true;
    inside_for = first->request.peer;
    cross(first->number, first->request);
  }

  /// The handler has returned on the other side, whether it has answered or not.
  void handled(Access access, Span took) {
    if (access >= Access::Change) return;
    turns.charge(inside_for, took);
    rested.expires_after(took * limits.rest);
    rested.async_wait([weak = weak_from_this()](const boost::system::error_code& wrong) {
      const auto self = weak.lock();
      if (wrong || !self) return;
      self->busy = false;
      self->let_one_in();
    });
  }

  void answer(Number number, Response response, bool has_pieces) {
    const auto it = responds.find(number);
    if (it == responds.end()) return;
    const Respond respond = std::move(it->second);
    responds.erase(it);
    if (has_pieces) response.pieces = pieces_of(number);
    respond(std::move(response));
  }

  /// Asks the other side for each piece, and tells it when nobody wants any more.
  Pieces pieces_of(Number number) {
    const auto last = when_dropped(
        [inside = inside, number] { inside->post([inside, number] { inside->pieces.erase(number); }); });
    return [weak = weak_from_this(), inside = inside, number, last](NextPiece next) {
      const auto self = weak.lock();
      if (!self) return;
      self->nexts[number] = std::move(next);
      inside->post([inside, number] { inside->next_piece(number); });
    };
  }

  void give(Number number, Piece piece) {
    const auto it = nexts.find(number);
    if (it == nexts.end()) return;
    const NextPiece next = std::move(it->second);
    nexts.erase(it);
    next(std::move(piece));
  }

  Post post;
  asio::steady_timer rested;
  CrossingLimits limits;
  std::shared_ptr<Inside> inside;
  Number next_number = 1;
  bool busy = false;  ///< a reader's request is inside, or it rests after one
  Peer inside_for;    ///< whose it is
  Turns turns;
  std::unordered_map<Number, Respond> responds;
  std::unordered_map<Number, NextPiece> nexts;
};

void Crossing::Inside::handle(Number number, const Request& request) {
  const Span begun = meter();
  if (handler) {
    const auto answered = std::make_shared<bool>(false);
    auto dropped = when_dropped([self = shared_from_this(), number, answered] {
      if (*answered) return;
      if (const auto out = self->doors.lock()) out->post([out, number] { out->responds.erase(number); });
    });
    handler(request,
            [self = shared_from_this(), number, answered, dropped = std::move(dropped)](Response response) {
              const auto out = self->doors.lock();
              if (!out || std::exchange(*answered, true)) return;
              const bool has_pieces = static_cast<bool>(response.pieces);
              if (has_pieces) self->pieces[number] = std::exchange(response.pieces, nullptr);
              out->post([out, number, has_pieces, response = std::move(response)]() mutable {
                out->answer(number, std::move(response), has_pieces);
              });
            });
  }
  const Span took = meter() - begun;
  if (const auto out = doors.lock()) {
    out->post([out, access = request.access, took] { out->handled(access, took); });
  }
}

void Crossing::Inside::next_piece(Number number) {
  const auto it = pieces.find(number);
  if (it == pieces.end()) return;
  // Dropped without a call: the doors' side is told, so that the connection is closed.
  const auto called = std::make_shared<bool>(false);
  const auto dropped = when_dropped([self = shared_from_this(), number, called] {
    if (*called) return;
    if (const auto out = self->doors.lock()) out->post([out, number] { out->nexts.erase(number); });
  });
  it->second([self = shared_from_this(), number, called, dropped](Piece piece) {
    *called = true;
    if (const auto out = self->doors.lock())
      out->post([out, number, piece = std::move(piece)] { out->give(number, piece); });
  });
}

std::chrono::steady_clock::duration processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

Crossing::Crossing(asio::io_context& doors, asio::io_context& daemon, Handler handler, CrossingLimits limits,
                   Meter meter)
    : doors_{std::make_shared<Doors>(doors, limits)},
      inside_{std::make_shared<Inside>(daemon, std::move(handler), std::move(meter))} {
  doors_->inside = inside_;
  inside_->doors = doors_;
}

Crossing::~Crossing() { close(); }

Handler Crossing::handler() {
  return [doors = std::weak_ptr{doors_}](const Request& request, Respond respond) {
    if (const auto self = doors.lock()) self->ask(request, std::move(respond));
  };
}

void Crossing::close() {
  inside_->post.close();
  doors_->post.close();
  inside_->handler = nullptr;
  inside_->pieces.clear();
}

}  // namespace heddle::control

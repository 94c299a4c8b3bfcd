#include "control/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/paces.h"

namespace heddle::control {
namespace {

/// `plain`: the same answer, where there is one.
Result<std::shared_ptr<const SharedBody>> body_by(const Answers::Make& make, Encoding encoding,
                                                  const std::shared_ptr<const SharedBody>& plain,
                                                  const std::shared_ptr<BodyLedger>& ledger) {
  if (plain) {
    BodyWriter writer{encoding};
    if (writer.write(*plain)) return writer.finish(ledger);
  }
  BodyWriter writer{encoding};
  if (auto done = make(writer); !done) return fail(done.error());
  return writer.finish(ledger);
}

Response response_with(const Answers::Order& order, std::shared_ptr<const SharedBody> body) {
  Response response{200, order.content_type, nullptr, nullptr, order.headers};
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (order.encoding == Encoding::Gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  response.shared = std::move(body);
  return response;
}

}  // namespace

/// Outlives Answers where a job is still running elsewhere.
struct Answers::State : std::enable_shared_from_this<State> {
  State(Elsewhere elsewhere_, Back back_, Clock clock_, AnswerLimits limits_)
      : elsewhere{std::move(elsewhere_)}, back{std::move(back_)}, clock{std::move(clock_)}, limits{limits_} {}

  using Time = std::chrono::steady_clock::time_point;

  struct Job {
    Answers::Order order;
    std::vector<Respond> asked;
    std::size_t expected = 0;  ///< bytes
    std::uint64_t generation = 0;
    Time begun{};
    Time until{};             ///< a reader who asks before that takes it, whatever the latest sample
    std::uint64_t least = 0;  ///< what was begun for this generation will do for all who ask
    std::shared_ptr<const SharedBody> plain{};  ///< the same uncompressed, made while it was asked for
  };

  struct Steady {
    Order order;  ///< but for `make`
    Time::duration took{};
    Time asked{};
  };
  struct Prepared {
    std::shared_ptr<const SharedBody> body;
    Time until;
  };

  struct Made {
    std::string key;
    std::weak_ptr<const SharedBody> body;
    Lane lane;
    Time at;
  };

  struct Queue {
    std::shared_ptr<Job> running;
    std::deque<std::shared_ptr<Job>> waiting;
  };
  Queue& queue(Lane lane) { return queues[static_cast<std::size_t>(lane)]; }

  /// The other lanes leave room for /metrics.
  [[nodiscard]] std::size_t most_bytes(Lane lane) const {
    const std::size_t all = std::max(2 * largest, limits.least_bytes);
    return lane == Lane::Metrics ? all : std::max(all / 4, 2 * largest_view);
  }
  [[nodiscard]] std::size_t held(Lane lane) {
    std::size_t sum = 0;
    for (const Made& each : made) {
      if (lane != Lane::Metrics && each.lane != lane) continue;
      if (const auto body = each.body.lock()) sum += body->bytes();
    }
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (lane != Lane::Metrics && static_cast<Lane>(i) != lane) continue;
      if (queues[i].running) sum += queues[i].running->expected;
      for (const auto& job : queues[i].waiting) sum += job->expected;
    }
    return sum;
  }

  /// Withdraws what is older than `grace`, as far as it is needed, until so many bytes fit.
  bool make_room(Lane lane, std::size_t bytes, std::chrono::seconds grace) {
    std::erase_if(made, [](const Made& each) { return each.body.expired(); });
    for (auto it = made.begin(); it != made.end() && held(lane) + bytes > most_bytes(lane);) {
      const auto body = it->body.lock();
      const bool current =
          std::ranges::any_of(ready, [&](const auto& each) { return each.second == body; }) ||
          std::ranges::any_of(prepared, [&](const auto& each) { return each.second.body == body; });
      if (!body || current || clock() - it->at < grace || (lane != Lane::Metrics && it->lane != lane)) {
        ++it;
        continue;
      }
      body->withdraw();
      it = made.erase(it);
    }
    return held(lane) + bytes <= most_bytes(lane);
  }

  void serve(Order order, Respond respond) {
    if (order.encoding == Encoding::Gzip) order.key.insert(0, gzip_key);
    remember(order);
    if (const auto it = ready.find(order.key); it != ready.end())
      return respond(response_with(order, it->second));
    if (const auto it = prepared.find(order.key);
        it != prepared.end() && order.access == Access::Read && clock() < it->second.until) {
      return respond(response_with(order, it->second.body));
    }
    Queue& lane = queue(order.lane);
    // One that was begun for the sample before this one will do for a reader, but not for somebody who has
    // perhaps just changed something.
    const bool reads = order.access == Access::Read;
    const std::uint64_t least = reads ? generation - 1 : generation;
    if (lane.running && lane.running->order.key == order.key &&
        (lane.running->generation >= least || (reads && clock() < lane.running->until))) {
      lane.running->asked.push_back(std::move(respond));
      return;
    }
    for (const auto& job : lane.waiting) {
      if (job->order.key != order.key) continue;
      job->order.make = std::move(order.make);
      job->generation = generation;
      job->least = std::max(job->least, least);
      job->asked.push_back(std::move(respond));
      return;
    }
    const auto expected = sizes.find(path_of(order.key));
    const std::size_t bytes = expected == sizes.end() ? 0 : expected->second;
    if (!make_room(order.lane, bytes, limits.grace)) {
      if (auto older = newest(order.key)) return respond(response_with(order, std::move(older)));
      // A scraper or an operator goes before whoever is slow to take what is old.
      const bool matters = order.lane == Lane::Metrics || order.access >= Access::Change;
      if (!matters || !make_room(order.lane, bytes, std::chrono::seconds{0}))
        return respond(try_later(std::chrono::seconds{2}, "clients are still taking earlier large answers"));
    }
    enqueue(lane, std::make_shared<Job>(
                      Job{std::move(order), {std::move(respond)}, bytes, generation, clock(), {}, least}));
  }

  void sampled() {
    const Time now = clock();
    const auto interval = now - std::exchange(sampled_at, now);
    std::erase_if(prepared, [&](const auto& each) { return each.second.until < now; });
    std::erase_if(steady, [&](const auto& each) { return now - each.second.asked > forgotten; });
    // Half as long again as the last time: then it is there in time also where others want the processor.
    Time::duration lead{};
    for (const auto& [key, each] : steady) lead = std::max(lead, each.took + each.took / 2);
    lead = std::min<Time::duration>(lead, limits.longest_lead);
    for (const Paces::Due& due : paces.due(now, now + interval + lead)) prepare(due);
  }

  void prepare(const Paces::Due& due) {
    const auto known = steady.find(due.key);
    if (known == steady.end()) return;
    const Order& order = known->second.order;
    Queue& lane = queue(order.lane);
    for (const auto& job : lane.waiting) {
      if (job->order.key != due.key) continue;
      job->until = std::max(job->until, due.until);
      return;
    }
    const auto expected = sizes.find(path_of(due.key));
    const std::size_t bytes = expected == sizes.end() ? 0 : expected->second;
    // Nobody waits for it yet.
    if (lane.waiting.size() >= limits.waiting || !make_room(order.lane, bytes, limits.grace)) return;
    auto job = std::make_shared<Job>(Job{order, {}, bytes, generation, clock(), due.until, generation});
    job->order.make = order.again();
    enqueue(lane, std::move(job));
  }

  /// Who asks, and for what: what has its pace is made before the next time.
  void remember(const Order& order) {
    const bool has_room = steady.size() < most_steady || steady.contains(order.key);
    if (!order.again || order.encoding != Encoding::Gzip || !has_room) return;
    paces.asked(order.key, order.peer, clock());
    Steady& known = steady[order.key];
    known.asked = clock();
    if (known.order.again) return;
    known.order = order;
    known.order.access = Access::Read;
    known.order.make = nullptr;
  }

  [[nodiscard]] std::shared_ptr<const SharedBody> newest(const std::string& key) const {
    for (auto it = made.rbegin(); it != made.rend(); ++it) {
      if (it->key != key) continue;
      if (auto body = it->body.lock()) return body;
    }
    return nullptr;
  }

  void enqueue(Queue& lane, std::shared_ptr<Job> job) {
    const auto changes = [](const auto& each) { return each->order.access >= Access::Change; };
    const auto ahead = static_cast<std::size_t>(std::ranges::count_if(lane.waiting, changes));
    const bool changer = changes(job);
    const bool full =
        changer ? ahead >= limits.waiting_for_changers : lane.waiting.size() - ahead >= limits.waiting;
    if (full) {
      return job->asked.front()(try_later(std::chrono::seconds{1}, "too many large answers are being made"));
    }
    if (changer) {
      lane.waiting.insert(lane.waiting.begin() + static_cast<std::ptrdiff_t>(ahead), std::move(job));
    } else {
      lane.waiting.push_back(std::move(job));
    }
    run_next(lane);
  }

  void run_next(Queue& lane) {
    if (lane.running || lane.waiting.empty() || ended) return;
    lane.running = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    const Lane which = lane.running->order.lane;
    // The job's own things stay here; only what makes the answer goes.
    elsewhere(which, [make = std::exchange(lane.running->order.make, nullptr), which,
                      encoding = lane.running->order.encoding, plain = plain_of(*lane.running),
                      ledger = ledger, back = back, weak = weak_from_this()]() mutable {
      auto body = body_by(make, encoding, plain, ledger);
      make = nullptr;
      plain = nullptr;
      back([weak, which, body = std::move(body)] {
        if (const auto self = weak.lock()) {
          self->finish(which, body ? *body : nullptr, body ? std::nullopt : std::optional{body.error()});
        }
      });
    });
  }

  /// Of the latest sample, or good enough for all who ask.
  [[nodiscard]] std::shared_ptr<const SharedBody> plain_of(const Job& job) const {
    if (job.order.encoding == Encoding::Plain) return nullptr;
    const auto it = ready.find(job.order.key.substr(gzip_key.size()));
    return it != ready.end() ? it->second : job.plain;
  }

  /// Whoever asked for the same compressed while `job` was made waits for no second text.
  void hand_on(Queue& lane, const Job& job, const std::shared_ptr<const SharedBody>& body) {
    const std::string compressed = std::string{gzip_key} + job.order.key;
    for (const auto& each : lane.waiting) {
      if (each->order.key == compressed && job.generation >= each->least) each->plain = body;
    }
  }

  void finish(Lane which, const std::shared_ptr<const SharedBody>& body,
              const std::optional<Error>& failure) {
    Queue& lane = queue(which);
    const auto job = std::exchange(lane.running, nullptr);
    if (body) {
      largest = std::max(largest, body->bytes());
      if (which == Lane::Views) largest_view = std::max(largest_view, body->bytes());
      sizes[path_of(job->order.key)] = body->bytes();
      made.push_back({job->order.key, body, which, clock()});
      if (job->generation == generation) ready[job->order.key] = body;
      hand_on(lane, *job, body);
      if (clock() < job->until) prepared[job->order.key] = {body, job->until};
      if (const auto it = steady.find(job->order.key); it != steady.end())
        it->second.took = clock() - job->begun;
    }
    for (const auto& respond : job->asked)
      respond(failure ? error_response(*failure) : response_with(job->order, body));
    run_next(lane);
  }

  static std::string path_of(const std::string& key) { return key.substr(0, key.find('?')); }

  static constexpr std::string_view gzip_key = "gzip ";
  /// There are as many keys as ways to ask for a part of /metrics: what nobody asks for any more goes.
  static constexpr std::size_t most_steady = 256;
  static constexpr std::chrono::minutes forgotten{10};

  Elsewhere elsewhere;
  Back back;
  Clock clock;
  AnswerLimits limits;
  bool ended = false;
  std::uint64_t generation = 1;
  std::size_t largest = 0;
  std::size_t largest_view = 0;
  std::shared_ptr<BodyLedger> ledger = std::make_shared<BodyLedger>(0);
  std::map<std::string, std::shared_ptr<const SharedBody>> ready;  ///< of this generation
  std::deque<Made> made;                                           ///< oldest first; perhaps gone
  std::map<std::string, std::size_t> sizes;                        ///< by path, of the last one made
  std::array<Queue, lanes> queues;
  Paces paces;
  std::map<std::string, Steady> steady;      ///< what can be made without being asked for; by key
  std::map<std::string, Prepared> prepared;  ///< by key
  Time sampled_at = clock();
};

Answers::Answers(Elsewhere elsewhere, Back back, Clock clock, AnswerLimits limits)
    : state_{std::make_shared<State>(std::move(elsewhere), std::move(back), std::move(clock), limits)} {}
Answers::~Answers() { state_->ended = true; }

void Answers::serve(Order order, Respond respond) { state_->serve(std::move(order), std::move(respond)); }

void Answers::outdate() {
  ++state_->generation;
  state_->ready.clear();
}

void Answers::sampled() {
  outdate();
  state_->sampled();
}

std::size_t Answers::bytes() const { return *state_->ledger; }

Answers::Order order_for(const Request& request, Answers::Make make) {
  std::string key = request.path + '?';
  // As it was decoded, with lengths in front: no two queries have the same key.
  for (const auto& [name, value] : request.query)
    key += fmt::format("{}:{}={}:{}&", name.size(), name, value.size(), value);
  Answers::Order order;
  order.key = std::move(key);
  order.access = request.access;
  order.peer = request.peer;
  order.encoding = request.takes_gzip ? Encoding::Gzip : Encoding::Plain;
  order.make = std::move(make);
  return order;
}

}  // namespace heddle::control

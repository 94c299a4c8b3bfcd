#include "notify/notifier.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace heddle::notify {
namespace {

/// How often problems are told to Alertmanager again, which forgets them otherwise (bodies.h).
constexpr std::chrono::seconds alerts_again{60};

Instant real_now() {
  return Instant{
      std::chrono::duration_cast<FabricClock::duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

notice::WallTime wall_now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

notice::CourierOptions courier_options(const Destination& destination) {
  notice::CourierOptions options;
  options.spacing = destination.every;
  if (destination.kind == Kind::Alertmanager) options.refresh = alerts_again;
  return options;
}

Result<std::unique_ptr<Sender>> sender_for(boost::asio::io_context& io, const Destination& destination,
                                           const notice::Teller& teller) {
  switch (destination.kind) {
    case Kind::Alertmanager:
    case Kind::Webhook:
      return web_sender(io, destination, teller);
    case Kind::Syslog:
      return syslog_sender(io, destination, teller);
    case Kind::Program:
      break;
  }
  return program_sender(io, destination, teller);
}

}  // namespace

/// A destination, and what is on its way there.
struct Notifier::Post {
  Post(const Destination& of, std::unique_ptr<Sender> by)
      : destination{of}, courier{courier_options(of)}, sender{std::move(by)} {}

  Destination destination;
  notice::Courier courier;
  std::unique_ptr<Sender> sender;
  Standing standing;
  std::uint64_t sent = 0;
  std::uint64_t failures = 0;
  std::optional<notice::WallTime> fails_since;
};

/// What the disk's thread works on, for as long as it does.
struct Notifier::Shelf {
  std::unique_ptr<Spool> spool;
};

Notifier::Notifier(Around around) : around_{std::move(around)}, timer_{around_.io} {}
Notifier::~Notifier() { stop(); }

Result<void> Notifier::use(const std::vector<Destination>& destinations) {
  std::vector<std::unique_ptr<Post>> posts;
  std::vector<Reader> readers;
  for (const Destination& destination : destinations) {
    auto sender = sender_for(around_.io, destination, around_.teller);
    if (!sender) return fail(fmt::format("notify.destination {}", destination.name), sender.error());
    posts.push_back(std::make_unique<Post>(destination, *std::move(sender)));
    readers.push_back({destination.name, destination.wants});
  }
  if (destinations.empty() && !shelf_) return {};
  ++use_;
  if (!shelf_) {
    shelf_ = std::make_shared<Shelf>();
    auto spool = open_spool(around_.file, around_.most);
    if (!spool) {
      // A fabric that is not managed would be worse than notices that a restart loses.
      disk_trouble_ = spool.error().message;
      spool = open_spool(":memory:", around_.most);
      if (!spool) return fail(spool.error());
    }
    shelf_->spool = *std::move(spool);
    const auto open = shelf_->spool->open_problems();
    watch_.emplace(open.value_or(std::vector<notice::OpenProblem>{}), real_now());
  }
  posts_ = std::move(posts);
  // After what is at the desk already, which belongs to the readers before.
  struct Begun {
    Result<void> result;
    std::vector<Standing> standings;
  };
  auto begun = std::make_shared<Begun>();
  around_.desk.run(
      [shelf = shelf_, readers, begun] {
        begun->result = shelf->spool->use(readers);
        begun->standings = shelf->spool->standings();
      },
      [this, alive = std::weak_ptr(alive_), use = use_, begun] {
        if (alive.expired() || use != use_) return;
        stored(begun->result, begun->standings);
      });
  return {};
}

void Notifier::tell(notice::WallTime at, std::string kind, std::string links, std::string text) {
  if (posts_.empty()) return;
  keep(notice::bounded({0, at, notice::What::Event, std::move(kind), std::move(links), std::move(text), {}}));
}

void Notifier::look(const Problems& problems) {
  if (posts_.empty()) return;
  for (notice::Notice& notice : watch_->look(problems, real_now(), wall_now())) keep(std::move(notice));
  for (const auto& post : posts_) post->courier.repeats(wants_repeats(*post));
  settle();
}

bool Notifier::wants_repeats(const Post& post) const {
  return post.destination.kind == Kind::Alertmanager && (post.destination.wants & wants_problems) != 0 &&
         !watch_->open().empty();
}

void Notifier::keep(notice::Notice notice) {
  if (at_desk_ >= most_at_desk) {
    ++lost_;
    disk_trouble_ = "the disk takes nothing";
    return;
  }
  ++at_desk_;
  struct Kept {
    Result<void> result;
    std::vector<Standing> standings;
  };
  auto kept = std::make_shared<Kept>();
  around_.desk.run(
      [shelf = shelf_, notice = std::move(notice), kept] {
        if (auto id = shelf->spool->append(notice); !id) kept->result = fail(id.error());
        kept->standings = shelf->spool->standings();
      },
      [this, alive = std::weak_ptr(alive_), use = use_, kept] {
        if (alive.expired()) return;
        --at_desk_;
        if (!kept->result) ++lost_;
        if (use == use_) stored(kept->result, kept->standings);
      });
}

void Notifier::stored(const Result<void>& result, const std::vector<Standing>& standings) {
  if (!result) {
    disk_trouble_ = result.error().message;
    spdlog::error("notices: {}", disk_trouble_);
  }
  take(standings);
}

void Notifier::take(const std::vector<Standing>& standings) {
  const Instant now = real_now();
  for (std::size_t i = 0; i < std::min(posts_.size(), standings.size()); ++i) {
    posts_[i]->standing = standings[i];
    posts_[i]->courier.waits(standings[i].queued > 0, now);
  }
  settle();
}

void Notifier::fetch(std::size_t number) {
  Post& post = *posts_[number];
  post.courier.began();
  auto found = std::make_shared<Result<std::vector<notice::Notice>>>();
  around_.desk.run([shelf = shelf_, number, most = post.courier.most(),
                    found] { *found = shelf->spool->read(number, most); },
                   [this, alive = std::weak_ptr(alive_), use = use_, number, found] {
                     if (alive.expired() || use != use_) return;
                     if (*found) return send(number, **found);
                     disk_trouble_ = found->error().message;
                     posts_[number]->courier.failed("the queue on disk cannot be read", real_now());
                     settle();
                   });
}

void Notifier::send(std::size_t number, std::vector<notice::Notice> notices) {
  Post& post = *posts_[number];
  Message message{std::move(notices), {}, post.standing.dropped};
  if (wants_repeats(post)) message.open = watch_->open();
  const std::size_t count = message.notices.size();
  const std::uint64_t up_to = count == 0 ? 0 : message.notices.back().id;
  if (count == 0 && message.open.empty()) return sent(number, 0, 0, {});
  post.sender->send(message, [this, number, up_to, count, use = use_](const Sent& how) {
    if (use == use_) sent(number, up_to, count, how);
  });
}

void Notifier::sent(std::size_t number, std::uint64_t up_to, std::size_t notices, const Sent& how) {
  Post& post = *posts_[number];
  const Instant now = real_now();
  const bool failed_before = post.courier.fails();
  const bool given_up = how.how == Sent::How::Refused && notices <= 1;
  switch (how.how) {
    case Sent::How::Delivered:
      post.courier.delivered(now);
      post.sent += notices;
      if (std::exchange(post.fails_since, std::nullopt)) {
        spdlog::info("notices: {} takes them again", post.destination.name);
      }
      break;
    case Sent::How::Failed:
      post.courier.failed(how.why, now);
      break;
    case Sent::How::Refused:
      post.courier.refused(how.why, notices, now);
      if (given_up && notices == 1) {
        spdlog::warn("notices: {} does not take notice {}, which is dropped: {}", post.destination.name,
                     up_to, how.why);
      }
      break;
  }
  if (how.how != Sent::How::Delivered) {
    ++post.failures;
    if (!post.fails_since) post.fails_since = wall_now();
    if (!failed_before) spdlog::warn("notices: {}: {}; tried again", post.destination.name, how.why);
  }
  if (notices == 0 || (how.how != Sent::How::Delivered && !given_up)) return settle();
  const auto end = given_up ? Spool::End::Dropped : Spool::End::Delivered;
  // The next one is read after this, at the same desk.
  post.courier.waits(false, now);
  struct Moved {
    Result<void> result;
    std::vector<Standing> standings;
  };
  auto moved = std::make_shared<Moved>();
  around_.desk.run(
      [shelf = shelf_, number, up_to, end, moved] {
        moved->result = shelf->spool->done(number, up_to, end);
        moved->standings = shelf->spool->standings();
      },
      [this, alive = std::weak_ptr(alive_), use = use_, moved] {
        if (!alive.expired() && use == use_) stored(moved->result, moved->standings);
      });
  settle();
}

void Notifier::settle() {
  std::optional<Instant> next;
  const Instant now = real_now();
  for (std::size_t i = 0; i < posts_.size(); ++i) {
    const auto when = posts_[i]->courier.next();
    if (!when) continue;
    if (*when <= now) {
      fetch(i);
    } else if (!next || *when < *next) {
      next = when;
    }
  }
  if (!next) {
    timer_.cancel();
    return;
  }
  timer_.expires_after(*next - now);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& wrong) {
    if (!wrong && !alive.expired()) settle();
  });
}

std::vector<std::string> Notifier::problems() const {
  std::vector<std::string> all;
  for (const auto& post : posts_) {
    if (!post->courier.is_a_problem()) continue;
    all.push_back(fmt::format(
        "{} ({}) has taken no notice since {}: {}; see that receiver, and notify.destination in the "
        "configuration",
        post->destination.name, described(post->destination),
        post->fails_since ? notice::timestamp(*post->fails_since) : "the start", post->courier.why()));
  }
  if (!disk_trouble_.empty()) {
    all.push_back(
        fmt::format("notices are not safe from a restart{}: {}; restart the daemon when that is mended",
                    lost_ > 0 ? ", and some were lost" : "", disk_trouble_));
  }
  return all;
}

std::vector<DestinationState> Notifier::states() const {
  std::vector<DestinationState> all;
  for (const auto& post : posts_) {
    all.push_back({post->destination.name, described(post->destination), post->standing.queued, post->sent,
                   post->failures, post->standing.dropped + lost_,
                   post->courier.fails() ? post->courier.why() : std::string{}});
  }
  return all;
}

void Notifier::stop() {
  ++use_;
  timer_.cancel();
  posts_.clear();
}

}  // namespace heddle::notify

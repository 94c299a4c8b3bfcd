#include "app/shared_state.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "app/notify_config.h"
#include "base/printable.h"
#include "shared/etcd_store.h"
#include "vlarb/store.h"

namespace heddle::app {
namespace {

constexpr const char* plan_key = "plan";
constexpr const char* qos_key = "qos";

shared::CandidateOptions candidate_options(const Config& config) {
  const auto& etcd = config.state.etcd;
  return {.prefix = etcd.prefix,
          .name = etcd.name.empty() ? name_of_host() : etcd.name,
          .lease = std::chrono::duration_cast<std::chrono::seconds>(etcd.lease)};
}

}  // namespace

Result<std::unique_ptr<SharedState>> SharedState::open(boost::asio::io_context& io, const Config& config,
                                                       const journal::Calendar& calendar,
                                                       Callbacks callbacks) {
  auto ours = shared::etcd_store(etcd_options(config));
  auto disks = shared::etcd_store(etcd_options(config));
  if (!ours || !disks) return fail((ours ? disks : ours).error());
  return std::unique_ptr<SharedState>(
      new SharedState(io, config, calendar, std::move(callbacks), *std::move(ours), *std::move(disks)));
}

SharedState::SharedState(boost::asio::io_context& io, const Config& config, const journal::Calendar& calendar,
                         Callbacks callbacks, std::unique_ptr<shared::Store> ours,
                         std::unique_ptr<shared::Store> disks)
    : io_{io},
      options_{candidate_options(config)},
      calendar_{calendar},
      callbacks_{std::move(callbacks)},
      ours_{std::move(ours)},
      disks_{std::move(disks)},
      candidate_{*ours_, lease_, options_} {
  shown_.name = options_.name;
}

void SharedState::begin() {
  thread_ = std::thread{[this] { run(); }};
}

SharedState::~SharedState() {
  // What is under way with the store is nobody's any more.
  lease_.end();
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  end_.notify_one();
  if (thread_.joinable()) thread_.join();
  candidate_.resign();
}

void SharedState::run() {
  for (bool more = true; more;) {
    more = step();
    std::unique_lock lock{mutex_};
    if (end_.wait_for(lock, candidate_.pause(), [this] { return ending_; })) return;
  }
}

bool SharedState::step() {
  const bool fit = fit_.load() && unreadable_.empty();
  const shared::Beat beat = candidate_.beat(fit ? shared::Fit::Yes : shared::Fit::No);
  if (!beat.changed.empty()) {
    shared::take(texts_, options_.prefix, beat.changed);
    shared::drop_old_records(texts_);
    read_again();
  }
  saw(beat);
  if (beat.standing == shared::Standing::Lost) {
    post([this, why = beat.trouble] { callbacks_.lost(why); });
    return false;
  }
  if (beat.taken && !unreadable_.empty()) {
    candidate_.resign();
    post([this, why = unreadable_] { callbacks_.lost(why); });
    return false;
  }
  if (beat.taken) {
    post([this, taken = stored_] { callbacks_.taken(taken); });
  } else if (beat.contended && !fit) {
    candidate_.resign();
    post([this] { callbacks_.lost("another daemon can do what this one cannot"); });
    return false;
  }
  return true;
}

void SharedState::saw(const shared::Beat& beat) {
  const std::lock_guard lock{mutex_};
  asked_ = true;
  shown_.owner = printable(beat.owner);
  shown_.owns = beat.standing == shared::Standing::Owns;
  shown_.trouble = beat.trouble.empty() ? unreadable_ : "etcd cannot be asked: " + printable(beat.trouble);
  if (!beat.taken) return;
  guard_ = candidate_.guard();
  writer_ = std::make_unique<shared::Writer>(*disks_, options_.prefix, *guard_);
}

/// What the owner has stored, as far as it has changed.
void SharedState::read_again() {
  unreadable_.clear();
  auto journal = shared::journal_in(texts_, calendar_);
  if (!journal) {
    unreadable_ = fmt::format("etcd, {}/{}", options_.prefix, journal.error().message);
    return;
  }
  stored_.journal = *std::move(journal);
  read_qos();
  const auto text = shared::whole_text(texts_, plan_key);
  if (!text) return;
  auto plan = plan::parse(*text, options_.prefix + "/" + plan_key);
  if (!plan) {
    unreadable_ = "etcd: " + plan.error().message;
    return;
  }
  if (stored_.plan == *plan) return;
  stored_.plan = *std::move(plan);
  post([this, said = *stored_.plan] { callbacks_.planned(said); });
}

void SharedState::read_qos() {
  const auto text = shared::whole_text(texts_, qos_key);
  if (!text) return;
  auto qos = vlarb::parse(*text, options_.prefix + "/" + qos_key);
  if (qos) {
    stored_.qos = *std::move(qos);
  } else {
    unreadable_ = "etcd: " + qos.error().message;
  }
}

void SharedState::post(std::function<void()> what) { boost::asio::post(io_, std::move(what)); }

SharedState::Shown SharedState::shown() const {
  const std::lock_guard lock{mutex_};
  Shown shown = shown_;
  shown.left = std::max(lease_.left(), shared::BootTime::zero());
  return shown;
}

std::optional<std::string> SharedState::problem() const {
  const std::lock_guard lock{mutex_};
  if (!shown_.trouble.empty()) {
    return fmt::format("{}; {}", shown_.trouble,
                       shown_.owns
                           ? "when the lease ends this daemon only observes, and links stay as they are"
                           : "this daemon only observes, and would take nobody's place");
  }
  if (!asked_ || shown_.owns || !shown_.owner.empty() || fit_.load()) return std::nullopt;
  return "no daemon owns this fabric: no OpenSM with the plugin beside any of them is the master, or none "
         "sees "
         "another node";
}

std::string SharedState::why_not() const {
  const std::lock_guard lock{mutex_};
  if (!shown_.owner.empty()) {
    return fmt::format("{} owns the fabric, and this daemon follows (docs/high-availability.md)",
                       shown_.owner);
  }
  return "this daemon shares the fabric with others, and has not got the lease (docs/high-availability.md)";
}

std::unique_ptr<journal::Journal> SharedState::journal(std::unique_ptr<journal::Journal> file,
                                                       shared::StoredJournal stored) {
  const std::lock_guard lock{mutex_};
  return shared::shared_journal(std::move(file), std::move(stored),
                                {*disks_, lease_, options_.prefix, *guard_}, calendar_);
}

Result<void> SharedState::put(const plan::Plan& plan) {
  return put_text(plan_key, plan::to_text(plan), "the plan in etcd");
}

Result<void> SharedState::put(const std::vector<vlarb::Assignment>& qos) {
  return put_text(qos_key, vlarb::to_text(qos), "what was pushed, in etcd");
}

Result<void> SharedState::put_text(const char* key, const std::string& text, const char* what) {
  if (!lease_.held()) return fail(ErrorCode::Refused, "this daemon does not own the fabric");
  shared::Writer* writer = nullptr;
  {
    const std::lock_guard lock{mutex_};
    writer = writer_.get();
  }
  auto put = writer->put(key, text);
  if (put) return put;
  if (put.error().code == ErrorCode::Refused) lease_.end();
  return fail(what, put.error());
}

}  // namespace heddle::app

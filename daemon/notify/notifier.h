/// Tells operators what happens: keeps each notice on disk, and takes it to all destinations that want it, at
/// least once and in order. On the daemon's thread, which it never blocks: the queue is at the desk, names
/// are resolved in threads of their own, and connections are asynchronous.
///
/// Receivers live in real time, whatever the fabric's clock does.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/desk.h"
#include "base/problem.h"
#include "notice/courier.h"
#include "notice/problem_watch.h"
#include "notify/destination.h"
#include "notify/sender.h"
#include "notify/spool.h"

namespace heddle::notify {

/// Of one destination, for `heddle status` and /metrics.
struct DestinationState {
  std::string name;
  std::string what;            ///< described()
  std::uint64_t queued = 0;    ///< notices that it has not got yet
  std::uint64_t sent = 0;      ///< notices that it took, since the start
  std::uint64_t failures = 0;  ///< messages that it did not take, since the start
  std::uint64_t dropped = 0;   ///< notices that it never got
  std::string trouble;         ///< why it takes nothing; empty where it does
};

class Notifier {
 public:
  struct Around {
    boost::asio::io_context& io;
    Desk desk;  ///< where the disk is waited for
    std::string file;
    std::uint64_t most = 10'000;  ///< notices in the file
    notice::Teller teller;
  };

  explicit Notifier(Around around);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  /// To whom from here on. What waits for a name stays with it. Waits for the disk: for starts and reloads.
  /// Errors: those of the senders; then all is as it was.
  Result<void> use(const std::vector<Destination>& destinations);

  /// An event of the journal. Before it is in the journal, so that all that is there is told.
  void tell(notice::WallTime at, std::string kind, std::string links, std::string text);
  /// What `heddle status` shows.
  void look(const Problems& problems);

  /// What is wrong here, in sentences.
  [[nodiscard]] std::vector<std::string> problems() const;
  [[nodiscard]] std::vector<DestinationState> states() const;

  /// Sends nothing any more. What has not been taken goes after the next start.
  void stop();

  /// More than these that the disk has not taken yet are dropped.
  static constexpr std::size_t most_at_desk = 1000;

 private:
  struct Post;
  struct Shelf;

  void keep(notice::Notice notice);
  void stored(const Result<void>& result, const std::vector<Standing>& standings);
  void take(const std::vector<Standing>& standings);
  void fetch(std::size_t number);
  void send(std::size_t number, std::vector<notice::Notice> notices);
  void sent(std::size_t number, std::uint64_t up_to, std::size_t notices, const Sent& how);
  void settle();
  [[nodiscard]] bool wants_repeats(const Post& post) const;

  Around around_;
  std::shared_ptr<Shelf> shelf_;  ///< the desk has it
  std::vector<std::unique_ptr<Post>> posts_;
  std::optional<notice::ProblemWatch> watch_;
  std::string disk_trouble_;
  std::size_t at_desk_ = 0;
  std::uint64_t lost_ = 0;  ///< that the disk did not take, since the start
  std::uint64_t use_ = 0;   ///< times that destinations were set: what is under way for others is over
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heddle::notify

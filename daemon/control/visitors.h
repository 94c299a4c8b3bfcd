/// Who is connected at one door, and who has to leave when somebody else comes: nobody is kept out because
/// others hold all connections. Each peer (an address, a user) may hold some; when all are taken, or all of
/// one peer, the one that has most gives one up: first one that asks for nothing, then the one that has not
/// moved for longest. So as long as fewer peers than connections come, each has at least one. Pure but for
/// what leaving means; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace heddle::control {

/// "10.0.0.7", "uid 1000".
using Peer = std::string;

class Visitors {
 public:
  using Id = std::uint64_t;
  enum class Doing : unsigned char { Nothing, TakesAnAnswer };
  struct Limits {
    std::size_t connections = 256;
    std::size_t per_peer = 128;
  };

  explicit Visitors(Limits limits) : limits_{limits} {}

  /// Somebody is in; before that perhaps another one has left, by its `leave`, which must not call back.
  Id enter(const Peer& peer, std::function<void()> leave);
  /// It moved: a request came, or a part of the answer was taken.
  void moved(Id id, Doing doing);
  void left(Id id);

  [[nodiscard]] std::size_t present() const { return visits_.size(); }
  [[nodiscard]] std::size_t present(const Peer& peer) const;

 private:
  struct Visit {
    Peer peer;
    std::function<void()> leave;
    Doing doing = Doing::Nothing;
    std::uint64_t moved = 0;  ///< larger: later
  };
  void send_away(const Peer& peer);

  Limits limits_;
  std::uint64_t next_ = 1;
  std::map<Id, Visit> visits_;
  std::map<Peer, std::size_t> of_peer_;
};

}  // namespace heddle::control

/// Moves connections by the agents of hosts (libanalysis/apm): asks each host port of the fabric for its
/// agent, tells all of them to move, and waits until each says that all of its connections have moved, or why
/// not.
///
/// What holds:
/// - movement() is Planes only while every host has an agent that has answered lately, and all that each of
///   them sends can be moved; else nothing relies on a plane without traffic, and tables are written in
///   stages;
/// - a move succeeds only if every host says, for this very order, that all of its connections are there;
///   whoever does not answer, began anew meanwhile, or takes longer than the patience has not moved;
/// - connections that turn up in the other plane later are told to move, too, as long as planes are in use;
/// - but those that have left their plane by themselves found no way there: they are let be until the fabric
///   has had time to be mended, and planes are not in use meanwhile.
///
/// On the transaction engine's thread. A fabric's hosts are asked in turn, a few at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apm/message.h"
#include "authority/deferred.h"
#include "authority/path_migrator.h"
#include "fabric/fabric.h"
#include "load/sample.h"
#include "regulation/governor_options.h"
#include "transport/transactions.h"

namespace heddle::regulate {

struct HostAgentsOptions {
  FabricClock::duration ask_every = std::chrono::seconds{30};  ///< an agent that answers
  FabricClock::duration look_every = std::chrono::minutes{5};  ///< a host that has not answered so far
  FabricClock::duration patience = std::chrono::seconds{10};   ///< with an order to move
  /// After the answer that connections are on their way; doubles up to a second.
  FabricClock::duration ask_again = std::chrono::milliseconds{50};
  /// Connections that have left their plane by themselves: some sweeps and orders of tables. Doubles up to
  /// the second where they leave again before that has passed.
  FabricClock::duration let_be = std::chrono::seconds{10};
  FabricClock::duration let_be_longest = std::chrono::minutes{5};
  std::size_t at_a_time = 64;
};

class HostAgents final : public PathMigrator, private transport::TransactionClient {
 public:
  /// The engine must outlive it, or be stopped first.
  HostAgents(transport::TransactionEngine& engine, const HostAgentsOptions& options)
      : engine_{engine}, options_{options} {}
  HostAgents(const HostAgents&) = delete;
  HostAgents& operator=(const HostAgents&) = delete;

  /// Its hosts, from here on; agents of those that stay are known.
  void use(const Fabric& fabric, Instant now);
  void migrate(unsigned plane, Instant now, Done done) override;
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  /// Costs nothing: asked after each event.
  [[nodiscard]] regulation::Movement movement() const override {
    const bool all = !hosts_.empty() && able_ == hosts_.size();
    return all ? regulation::Movement::Planes : regulation::Movement::Staged;
  }

  struct Figures {
    std::size_t hosts = 0;   ///< ports
    std::size_t agents = 0;  ///< of these, with an agent that answers
    std::size_t able = 0;    ///< of these, with nothing that cannot be moved
    std::uint64_t connections = 0;
    std::array<std::uint64_t, apm::planes> in_plane{};
    std::uint64_t armed = 0;
    std::uint64_t failed = 0;
    std::uint64_t unable = 0;
    std::uint64_t others = 0;
    std::uint64_t moves = 0;         ///< orders since the start
    std::uint64_t failed_moves = 0;  ///< of these
    std::string trouble;             ///< of the last one that failed
  };
  [[nodiscard]] Figures figures() const;
  /// The share of what hosts send that comes from hosts of which not everything can be moved. None while
  /// nothing is known to be sent.
  [[nodiscard]] std::optional<Ratio> immovable_share(const load::Sample& sample) const;
  /// Hosts of which not everything can be moved, and why; the first ones. Names are printable.
  [[nodiscard]] std::vector<std::string> immovable(std::size_t most) const;

 private:
  struct Host {
    PortGuid port;
    Lid lid{};
    std::string name{};                       ///< printable
    std::optional<apm::Standing> standing{};  ///< none: no agent has answered lately
    std::optional<apm::Standing> last{};      ///< that was heard, however long ago
    std::optional<Instant> ask_at{};          ///< none while it is being asked
    unsigned sets = 0;                        ///< orders of which nothing has come back
    bool strayed = false;                     ///< told to move once more, since it was asked last
    bool away = false;                        ///< connections have left their plane by themselves
    Instant back_at{};                        ///< then, or the last time, they are told to come back
    FabricClock::duration let_be{};           ///< before that

    [[nodiscard]] bool is_able() const { return standing && standing->all_can_move() && !away; }
  };
  /// An order to move, until every host is decided.
  struct Order {
    apm::MoveOrder what;
    Done done;
    Instant until;
    std::set<PortGuid> undecided{};
    std::set<PortGuid>
        behind{};  ///< of these: told when an earlier order has come back, and is not sent again
    std::set<PortGuid> asking{};                                  ///< of these: an answer is awaited
    std::set<std::pair<Instant, PortGuid>> ask_at{};              ///< the others
    std::unordered_map<PortGuid, FabricClock::duration> pause{};  ///< before the next question
    std::vector<std::string> failures{};
  };
  enum class Asked : std::uint8_t { InTurn, OfOrder, Stray };
  struct Question {
    PortGuid port;
    Asked why = Asked::InTurn;
    apm::Attribute attribute = apm::Attribute::Connections;
    std::uint64_t order = 0;  ///< the last one when it was asked
    bool again = false;
  };

  void on_completion(const transport::Completion& completion) override;
  bool submit(Host& host, Asked why, apm::Attribute attribute, Instant now);
  bool submit(Host& host, Question question, Instant now);
  void ask_in_turn(Instant now);
  void heard(Host& host, const Question& question, std::optional<apm::Standing> standing,
             std::string why_none, Instant now);
  void rest(Host& host, Instant until);
  [[nodiscard]] bool has_left(const Host& host, const Question& question,
                              const std::optional<apm::Standing>& now) const;
  void let_be(Host& host, Instant now);
  void return_from_away(Instant now);
  void set_right(Host& host, Instant now);
  void tell(Host& host, Instant now);
  void on_order(const Host& host, const std::string& why_none, Instant now);
  void decide(const Host& host, std::optional<std::string> failure, Instant now);
  void press(Instant now);
  void finish_order(Instant now);
  [[nodiscard]] Host* find(PortGuid port);

  transport::TransactionEngine& engine_;
  HostAgentsOptions options_;
  std::unordered_map<PortGuid, Host> hosts_;
  std::set<std::pair<Instant, PortGuid>> due_;
  std::set<std::pair<Instant, PortGuid>> away_;  ///< those that are let be until then
  std::size_t able_ = 0;                         ///< hosts
  std::size_t asking_ = 0;
  std::unordered_map<std::uint64_t, Question> asked_;  ///< by the context of the request
  std::uint64_t last_request_ = 0;
  std::uint64_t last_number_ = 0;
  std::optional<apm::MoveOrder> in_force_;  ///< the last order
  std::optional<Order> order_;
  authority::Deferred answers_;
  std::uint64_t moves_ = 0;
  std::uint64_t failed_moves_ = 0;
  std::string trouble_;
};

}  // namespace heddle::regulate

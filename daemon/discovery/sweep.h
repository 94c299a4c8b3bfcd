/// One sweep of the fabric by directed routes, many requests at once: from the local node outwards, a
/// NodeInfo through every port that is up, then everything about each node that is met. A partial sweep
/// starts from an older survey and asks anew only the nodes it is told. A guest in the fabric goes at a pace.
///
/// Fed by completions of the transaction engine; never blocks. One sweep at a time; starting another one
/// leaves the answers to the former unread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "discovery/problem.h"
#include "mad/survey.h"
#include "transport/pace.h"
#include "transport/transactions.h"

namespace heddle::discovery {

/// Whether the sweep resets the change bits that it finds: the subnet manager's to do, and nobody else's.
enum class ChangeBits : std::uint8_t { Leave, Clear };

/// Who asks: one whose fabric it is, or is about to be; or one who only watches that of another.
enum class Manner : std::uint8_t { Owner, Guest };

struct SweepOptions {
  std::uint64_t m_key = 0;
  ChangeBits change_bits = ChangeBits::Leave;
  /// Of a guest; 0: as many as the engine takes.
  std::uint32_t guest_smps_per_second = 0;
  /// Called as soon as a switch says that a port of its own is not Active.
  std::function<void(const PortRef&)> on_inactive{};
  /// Likewise, of one that says that it is.
  std::function<void(const PortRef&)> on_active{};
  std::size_t most_nodes = 65'536;  ///< a bound against agents that make nodes up
};

/// What a sweep collected, not yet joined.
struct Collected {
  std::vector<SurveyNode> nodes;
  NodeGuid local;
  /// Why nothing can be made of it: the local node does not answer; a partial sweep met something that takes
  /// a full one.
  std::optional<Error> failure;
};

class Sweep final : public transport::TransactionClient {
 public:
  using Done = std::function<void(Collected, Instant now)>;

  /// `pace`: of guests; must outlive it.
  Sweep(transport::TransactionEngine& engine, const SweepOptions& options, transport::Pace& pace,
        Problems& problems, Done done);

  /// From the next sweep on.
  void set_change_bits(ChangeBits change_bits) { options_.change_bits = change_bits; }

  /// Owner unless told otherwise.
  void set_manner(Manner manner) { manner_ = manner; }
  /// Others share its pace, come first, and may follow each other without end: its turns are promised.
  void stand_behind_others() { is_behind_others_ = true; }

  void start_full(Instant now);
  void start_partial(const Survey& from, std::span<const NodeGuid> suspects, Instant now);
  /// No done() follows.
  void abandon();
  [[nodiscard]] bool running() const { return running_; }
  /// Nodes that it knows so far.
  [[nodiscard]] std::size_t met() const { return nodes_.size(); }

  void on_timer(Instant now) {
    if (wake_ && *wake_ <= now) pump(now);
  }
  /// When the pace allows the next request.
  [[nodiscard]] std::optional<Instant> next_deadline() const { return wake_; }
  void on_completion(const transport::Completion& completion) override;

 private:
  enum class Op : std::uint8_t {
    Probe,     ///< NodeInfo of what is behind a port
    Identify,  ///< NodeInfo of the node itself
    Description,
    SwitchInfo,
    ClearChange,
    PortInfo,
    PlainPortInfo,  ///< without the bit that says that we know of extended speeds
    ExtendedPort,
  };
  using Index = std::uint32_t;
  struct Task {
    Op op = Op::Probe;
    PortNum port;
    std::uint16_t run = 0;
    Index node = 0;
  };
  [[nodiscard]] static std::uint64_t pack(const Task& task);
  [[nodiscard]] static Task unpack(std::uint64_t context);

  void begin();
  void ask(Op op, Index node, PortNum port = PortNum{0});
  void pump(Instant now);
  [[nodiscard]] bool may_send(Instant now);
  void submit(const Task& task, Instant now);
  void finish(Instant now);
  void give_up(Error error);

  // sweep_answers.cc
  void answered(const Task& task, const mad::Packet& answer);
  void unanswered(const Task& task, const transport::Completion& completion);
  void arrived(const Task& task, const mad::NodeInfo& info);
  void identified(const Task& task, const mad::NodeInfo& info);
  void on_switch_info(const Task& task, const mad::SwitchInfo& info);
  void on_port_info(const Task& task, const mad::PortInfo& info);
  /// `where`: the port that leads there; none for the local node.
  [[nodiscard]] bool plausible(const mad::NodeInfo& info, const PortRef& where);
  [[nodiscard]] Index add(const mad::NodeInfo& info, std::vector<PortNum> path);
  void enquire(Index node);
  void enquire_ports(Index node);
  void lost_peer(SurveyNode& node, PortNum port);
  void unheard_peer(SurveyNode& node, PortNum port);
  void note_way(const SurveyNode& node, PortNum port, const SurveyNode& other, PortNum back);
  // sweep.cc
  /// Ways to all nodes over the cables that are left, after one that a way led over was lost.
  void find_ways();
  void ask_again_elsewhere();
  void ask_ends_that_differ();
  void suspect(Index node);
  /// In this sweep.
  [[nodiscard]] bool is_asked(Index node) const { return node >= suspected_.size() || suspected_[node] != 0; }

  transport::TransactionEngine& engine_;
  SweepOptions options_;
  transport::Pace& pace_;
  Manner manner_ = Manner::Owner;
  bool is_behind_others_ = false;
  transport::Pace::Promise promise_;
  std::optional<Instant> wake_;
  Problems& problems_;
  Done done_;

  bool running_ = false;
  bool partial_ = false;
  std::uint16_t run_ = 0;
  std::size_t asked_ = 0;  ///< in the engine
  std::deque<Task> tasks_;
  std::vector<SurveyNode> nodes_;
  std::unordered_map<NodeGuid, Index> index_;
  std::vector<char> suspected_;
  std::set<std::pair<Index, PortNum>> trained_;      ///< in a partial sweep: since it was last heard of
  std::set<std::pair<Index, PortNum>> asked_again_;  ///< ends of links whose other end was down
  bool way_lost_ = false;
  /// In a partial sweep: who did not answer, and where it was asked. The cable that was lost may be on the
  /// way.
  std::vector<std::pair<Index, std::vector<PortNum>>> unanswered_;
  NodeGuid local_;
  std::optional<Error> failure_;
};

}  // namespace heddle::discovery

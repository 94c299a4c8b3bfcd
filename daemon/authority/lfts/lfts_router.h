/// Does here what the plugin does inside of OpenSM, for an OpenSM that cannot load it (a vendor's): makes the
/// tables that the plan wants, and hands them over in the file that OpenSM reads them from (`routing_engine
/// file,no_fallback`, `lfts_file`). To the rest of the daemon it is the plugin.
///
///   survey, plan -> planned::RouteMaker -> next_pass() -> file -> OpenSM -> switches
///                                              ^                             |
///                                              +------ blocks read back -----+
///
/// - OpenSM writes what it reads to all switches at once, in no order: each file holds one pass only
///   (planned/transition.h), and the next one is not written before the switches have been read back. So
///   every file that ever stands there is safe to be read again by any later sweep.
/// - Nothing that the plan has off is in any file, so no heavy sweep brings a way over it back.
/// - OpenSM's own routing of multicast groups is its own: whoever turns links off looks at those tables.
///
/// The transaction engine's thread. The engine must be stopped before it goes away.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "authority/deferred.h"
#include "authority/opensm/plugin_event.h"
#include "authority/opensm/plugin_port.h"
#include "authority/own/batch.h"
#include "authority/plan_store.h"
#include "base/desk.h"
#include "mad/survey.h"
#include "planned/away.h"
#include "planned/route_maker.h"
#include "planned/subnet.h"
#include "planned/tables_in_force.h"
#include "planned/transition.h"
#include "transport/transport.h"

namespace heddle::lfts {

struct LftsOptions {
  unsigned lmc = 0;  ///< of opensm.conf
  std::uint64_t m_key = 0;
  /// Puts a text in place of the file and makes OpenSM read it. Called at the desk, as is what makes the
  /// text: it may wait.
  std::function<Result<void>(const std::string& text)> put;
  /// The file is there. At the desk, too.
  std::function<bool()> is_there;
};

class LftsRouter final : public opensm::PluginPort {
 public:
  /// OpenSM is asked so often whether it is there, and the master.
  static constexpr FabricClock::duration ask_every = std::chrono::seconds{1};
  static constexpr unsigned most_unanswered = 5;
  /// After so long without what the file says in the switches it is handed over again.
  static constexpr FabricClock::duration again_after = std::chrono::seconds{5};

  /// What was confirmed is looked at again so often, a block of each switch at a time: OpenSM empties all
  /// tables when it finds no file, and others may write too.
  static constexpr FabricClock::duration look_every = std::chrono::seconds{10};
  /// So long a sweep that found a link to nobody, or somebody without a LID, is not taken for the fabric:
  /// tables of half a fabric take ways from those who only did not answer.
  static constexpr FabricClock::duration patience = std::chrono::seconds{20};

  struct Listener {
    std::function<void(const opensm::PluginEvent&, Instant now)> event;
    std::function<void(Instant now)> gone;
  };

  /// All must outlive it.
  LftsRouter(transport::TransactionEngine& engine, transport::Transport& transport, opensm::PlanStore& store,
             Desk desk, LftsOptions options, Listener listener);

  // PluginPort
  [[nodiscard]] bool connected() const override { return state_.has_value(); }
  void tell(opensm::PluginCommand command) override;

  /// As a sweep found it, without anything that it did not find.
  void on_survey(std::shared_ptr<const Survey> survey, Instant now);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  /// Why the switches do not have what is wanted; empty if they do, or that is a matter of moments.
  [[nodiscard]] std::string trouble() const { return trouble_; }

 private:
  enum class Doing : std::uint8_t { Nothing, Reading, Handing, Checking, Looking };
  struct Block {
    NodeIndex node;
    NodeGuid guid;
    std::uint32_t number = 0;
  };

  void ask_opensm(Instant now);
  void heard(std::optional<mad::SmInfo> info, Instant now);
  void begin(Instant now);
  void take(std::shared_ptr<const Survey> survey, Instant now);
  void read_all(Instant now);
  void route(Instant now);
  void hand_over();
  void handed_over(const Result<void>& result, Instant now);
  void check(Instant now);
  void checked(Instant now);
  void confirmed(Instant now);
  void look(Instant now);
  void looked(Instant now);
  void look_for_file();
  void give_up_for_now(Instant now);
  using Then = void (LftsRouter::*)(Instant);
  void read(std::vector<Block> blocks, Then then, Instant now);
  [[nodiscard]] FabricClock::duration packet_life() const;
  /// Nobody writes its tables, and what it holds when it comes back is to be read.
  [[nodiscard]] bool is_away(NodeGuid guid) const;

  transport::Transport& transport_;
  opensm::PlanStore& store_;
  Desk desk_;
  LftsOptions options_;
  Listener listener_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  provision::Batch asking_;
  std::optional<mad::SmInfo> answer_;
  unsigned unanswered_ = 0;
  bool asks_ = false;  ///< a question is under way, or due
  std::optional<mad::SmInfo::State> state_;

  std::shared_ptr<const Survey> survey_;
  std::shared_ptr<const Survey> half_;  ///< not taken yet
  std::optional<Instant> half_until_;   ///< of the first one in a row
  planned::CableMemory cables_;
  planned::HostMemory hosts_;
  planned::AwayMemory away_;
  planned::RouteMaker maker_;
  std::set<LinkRef> routed_;      ///< cables that routes_ may use
  std::vector<NodeGuid> unseen_;  ///< switches of routes_ that are away, sorted
  std::optional<planned::Routes> routes_;
  planned::TablesInForce in_force_;
  bool knows_tables_ = false;
  bool looks_ = false;          ///< the next look is due
  std::uint32_t looks_at_ = 0;  ///< block
  planned::Pass pass_;
  std::uint64_t epoch_ = 0;   ///< of the plan that routes_ are of
  std::vector<LinkRef> off_;  ///< by that plan
  planned::ReleasedLinks released_;
  bool changed_ = false;  ///< survey or plan, since routes_ were made
  bool wrote_ = false;    ///< since the last time that all was as wanted
  Instant packets_gone_{};

  Doing doing_ = Doing::Nothing;
  /// What the file says; none: nobody knows.
  std::optional<routing::ForwardingTables> file_;
  std::optional<Instant> again_at_;  ///< all of it is made anew then, if nothing else has come first
  Instant handed_at_{};
  FabricClock::duration patience_{};  ///< before the next look
  provision::Batch reading_;
  std::vector<Block> blocks_;
  /// By switch and number; none where it has not said.
  std::map<std::pair<NodeGuid, std::uint32_t>, std::optional<mad::LftBlock>> answers_;
  std::string trouble_;
  authority::Deferred due_;
};

}  // namespace heddle::lfts

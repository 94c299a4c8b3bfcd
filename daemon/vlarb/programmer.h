/// Reads the QoS tables of ports, and writes those that are not as they should be: VLArbitration blocks,
/// LimitOfHighPriority in PortInfo, SL2VL of each (input, output) of switches. Whatever was written is read
/// again; nothing is believed of an answer to a Set.
///
/// Each port is a job of its own: read all; write tables, then the limit (a PortInfo that was read right
/// before, with every field that has one at its "no change" value: facts/regulation.md 3), then SL2VL, so
/// that no SL is put on a VL before the tables serve it; read again. A port that does not answer ends its own
/// job and nobody else's.
///
/// A guest in a fabric reads at the pace of one who watches (transport/pace.h), and by LID: a directed route
/// costs every switch on it. By route where there is no LID, or where its node does not answer to it.
///
/// A state machine over the transaction engine, on its thread; never blocks. One run at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mad/survey.h"
#include "transport/pace.h"
#include "transport/transactions.h"
#include "vlarb/targets.h"

namespace heddle::vlarb {

/// The pace that is to be kept at present; null for none.
using PaceOf = std::function<transport::Pace*()>;

enum class Mode : std::uint8_t { Check, Write };

struct Finding {
  PortRef port;
  std::string text;
};

struct Report {
  std::optional<Error> failure;  ///< stopped
  std::size_t ports = 0;         ///< that were looked at
  std::size_t ports_written = 0;
  std::size_t blocks_written = 0;
  std::size_t limits_written = 0;
  std::size_t maps_written = 0;  ///< Sets of SL2VL; one may stand for all inputs
  std::vector<Finding> differ;   ///< from their plan; of Mode::Write, after all was written
  std::vector<Finding> silent;   ///< what did not answer, or refused
  Instant begun;
  Instant ended;
};

class Programmer final : public transport::TransactionClient {
 public:
  using Done = std::function<void(const Report&)>;

  Programmer(transport::TransactionEngine& engine, std::uint64_t m_key, PaceOf pace = {});

  /// Not while busy(). `done` is called once, perhaps from within; it may run() again.
  void run(std::shared_ptr<const Survey> survey, std::shared_ptr<const Targets> targets, Mode mode,
           Instant now, Done done);
  [[nodiscard]] bool busy() const { return busy_; }

  void on_completion(const transport::Completion& completion) override;

  /// At a pace.
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const { return wake_; }

 private:
  enum class Stage : std::uint8_t { Idle, Read, WriteTables, WriteMaps, ReadAgain };
  enum class What : std::uint8_t { Block, PortInfo, SetPortInfo, Map, MapOfAllInputs };

  struct Job {
    Stage stage = Stage::Idle;
    std::uint32_t target = 0;
    std::vector<PortNum> path;
    std::uint32_t waiting = 0;      ///< answers
    std::uint8_t wrong_blocks = 0;  ///< by bit
    bool wrong_limit = false;
    bool by_route = false;             ///< it does not answer to its LID
    std::vector<std::uint8_t> inputs;  ///< that have a map to this port
    std::vector<std::uint8_t> wrong_inputs;
    std::string difference;  ///< the first that was found in this stage
    std::string silence;     ///< why the job ends
  };
  struct Ask {
    What what = What::Block;
    std::uint8_t index = 0;  ///< block, or input port
  };
  struct Unsent {
    std::uint32_t slot = 0;
    Ask ask;
  };

  void go_on(Instant now);
  void begin(std::uint32_t slot, Instant now);
  void read(std::uint32_t slot, Instant now);
  void advance(std::uint32_t slot, Instant now);
  void end(std::uint32_t slot);
  void read_again(std::uint32_t slot, Instant now);
  void write_tables(std::uint32_t slot, Instant now);
  void write_maps(std::uint32_t slot, Instant now);
  void took(Job& job, Ask ask, const transport::Completion& completion);
  void set_limit(std::uint32_t slot, const mad::PortInfo& fresh, Instant now);

  /// Reads in their turn, where there is a pace.
  void ask(std::uint32_t slot, Ask ask, mad::Method method, Instant now, const mad::PortInfo* info = nullptr);
  enum class By : std::uint8_t { Route, Lid };
  void send(std::uint32_t slot, Ask ask, mad::Method method, By by, Instant now, const mad::PortInfo* info);
  void send_in_turn(Instant now);
  [[nodiscard]] Lid lid_of(LinkEnd end) const;
  [[nodiscard]] transport::Pace* pace() const { return pace_ ? pace_() : nullptr; }
  [[nodiscard]] std::uint32_t modifier(const Job& job, Ask ask) const;
  [[nodiscard]] const Target& target(const Job& job) const { return targets_->ports[job.target]; }
  [[nodiscard]] const Image& image(const Job& job) const { return targets_->images[target(job).image]; }
  [[nodiscard]] Finding finding(const Job& job, std::string text) const;
  void finish_if_done(Instant now);

  transport::TransactionEngine& engine_;
  std::uint64_t m_key_;
  PaceOf pace_;

  bool busy_ = false;
  bool going_on_ = false;
  std::uint16_t run_ = 0;
  Mode mode_ = Mode::Check;
  std::shared_ptr<const Survey> survey_;
  std::shared_ptr<const Targets> targets_;
  Done done_;
  Report report_;
  std::vector<Job> jobs_;            ///< by slot
  std::vector<std::uint32_t> free_;  ///< slots
  std::size_t next_ = 0;             ///< target
  std::deque<Unsent> unsent_;        ///< reads that wait for their turn
  std::size_t asked_ = 0;            ///< of what was sent, without an answer yet
  std::optional<Instant> wake_;
  transport::Pace::Promise promise_;
};

}  // namespace heddle::vlarb

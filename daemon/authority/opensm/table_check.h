/// Reads forwarding tables back from the switches beside links that are to be unused, and looks whether one
/// still leads over them: what a plugin confirms is believed, and what is about to be turned off is checked.
/// A state machine over the transaction engine, on its thread. One check at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/own/batch.h"
#include "fabric/change.h"
#include "mad/survey.h"

namespace heddle::opensm {

/// LIDs of this plane (none: all) must not leave by the ports of these links.
struct UnusedLinks {
  enum class Tables : std::uint8_t { Unicast, WithMulticast };
  std::optional<unsigned> plane;
  std::vector<LinkRef> links;
  Tables tables = Tables::Unicast;
};

class TableCheck {
 public:
  using Done = std::function<void(const Result<void>&, Instant now)>;

  TableCheck(transport::TransactionEngine& engine, std::uint64_t m_key) : m_key_{m_key}, batch_{engine} {}

  /// At most `most` switches are read, those of the first links. Links that the survey has not are skipped.
  /// Errors: Unreachable names a switch that does not answer, Conflict the switch, port and LID. May answer
  /// from within the call where there is nothing to read.
  void run(std::shared_ptr<const Survey> survey, unsigned planes, const std::vector<UnusedLinks>& unused,
           std::size_t most, Instant now, Done done);
  void abandon() { batch_.abandon(); }

 private:
  struct Port {
    PortNum num;
    std::optional<unsigned> plane;
    UnusedLinks::Tables tables;
  };

  struct Read {
    NodeIndex node;
    mad::SmAttr table = mad::SmAttr::LinearForwardingTable;
    std::uint32_t modifier = 0;
  };

  [[nodiscard]] std::vector<Read> reads() const;
  void judge(const Read& read, mad::ConstSmpData data);
  void judge_unicast(const Read& read, const mad::LftBlock& block);
  void judge_multicast(const Read& read, const mad::MftBlock& block);
  [[nodiscard]] unsigned plane_of(Lid lid) const;

  std::uint64_t m_key_;
  provision::Batch batch_;
  std::shared_ptr<const Survey> survey_;
  unsigned planes_ = 1;
  std::map<NodeIndex, std::vector<Port>> watched_;
  std::optional<Error> wrong_;
};

}  // namespace heddle::opensm

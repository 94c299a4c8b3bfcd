/// Sends a series of requests, as many at once as the transaction engine takes, and says when all have been
/// decided. The series is drawn from a source as it goes, so that a million requests take no memory. What was
/// not answered on a directed route that is not the way any more is asked once more on the one that is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "transport/transactions.h"

namespace heddle::provision {

struct Step {
  mad::Packet packet;
  transport::AgentKey agent;
  std::uint64_t tag = 0;  ///< below 2^48; comes back with the answer
};

class Batch final : public transport::TransactionClient {
 public:
  /// The next request, or none at the end.
  using Source = std::function<std::optional<Step>()>;
  using Answer = std::function<void(std::uint64_t tag, const transport::Completion&)>;
  using Done = std::function<void(Instant now)>;
  struct Way {
    transport::AgentKey agent;
    std::vector<PortNum> path;
  };
  /// The directed route of the request with this tag as it is at the time of asking.
  using WayOf = std::function<std::optional<Way>(std::uint64_t tag)>;

  /// Whether the request with this tag is still to be sent now that its turn has come.
  using StillWanted = std::function<bool(std::uint64_t tag)>;

  explicit Batch(transport::TransactionEngine& engine, WayOf way_of = nullptr,
                 StillWanted still_wanted = nullptr)
      : engine_{engine}, way_of_{std::move(way_of)}, still_wanted_{std::move(still_wanted)} {}

  /// A batch that still runs is abandoned: its answers go unread.
  void start(Source source, Answer answer, Done done, Instant now);
  void abandon();

  void on_completion(const transport::Completion& completion) override;
  [[nodiscard]] bool still_wants(std::uint64_t context) override;

 private:
  void pump(Instant now);
  [[nodiscard]] bool ask_another_way(std::uint64_t tag, const transport::Completion& completion);

  transport::TransactionEngine& engine_;
  WayOf way_of_;
  StillWanted still_wanted_;
  Source source_;
  Answer answer_;
  Done done_;
  std::uint16_t run_ = 0;
  bool running_ = false;
  std::size_t asked_ = 0;
};

}  // namespace heddle::provision

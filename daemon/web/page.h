/// The page: its files, and what only it asks for (docs/api.md, "For the page"). Everything else goes on to
/// the control API. One thread, that of the io_context.
#pragma once

#include <memory>

#include "control/api.h"
#include "control/http.h"
#include "health/bit_errors.h"
#include "web/feed.h"
#include "web/topology.h"

namespace heddle::web {

class Page {
 public:
  /// `daemon` must outlive the page, and the page the servers that use its handler.
  Page(control::Daemon& daemon, Feed::Later later, FeedLimits limits = {});

  /// Each complete sweep; or the last one again, when regulation has changed links since.
  void publish(const std::shared_ptr<const load::Sample>& sample) { feed_.publish(sample); }

  /// Answers what is the page's, and hands the rest to `next`.
  [[nodiscard]] control::Handler handler(control::Handler next);

 private:
  void topology(const control::Request& request, const control::Respond& respond);
  [[nodiscard]] control::Response slice(const control::Request& request);
  [[nodiscard]] control::Response events();
  [[nodiscard]] control::Response link(const control::Request& request);
  /// The sample, and what regulation and QoS say at this moment.
  [[nodiscard]] Picture look(const load::Sample& sample);
  /// Of the state's sample, made anew when its fabric is another one.
  const Topology& current(const control::DaemonState& state);

  control::Daemon& daemon_;
  std::shared_ptr<const Fabric> drawn_;  ///< what topology_ is of
  std::shared_ptr<const std::vector<std::string>> sets_drawn_;
  Topology topology_;
  std::shared_ptr<const std::vector<health::PortBitErrors>> rates_;  ///< what bits_ is of
  std::shared_ptr<const Fabric> rates_on_;                           ///< likewise
  Column bits_;
  Feed feed_;
};

}  // namespace heddle::web

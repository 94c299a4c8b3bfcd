/// What is asked of a twin: what becomes of it without these, routed otherwise, with a job more, by a policy.
/// The command line and the daemon read it from different texts, and carry it out alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fabric/link_name.h"
#include "twin/run.h"

namespace heddle::twin {

struct Change {
  std::vector<std::string> without;       ///< names of switches, hosts and links
  std::vector<std::string> roots;         ///< names of switches
  std::vector<std::string> jobs;          ///< as job_flows() reads them
  std::optional<routing::Engine> engine;  ///< in place of whoever made the tables
  std::optional<unsigned> lmc;
  std::optional<qos::Programming> qos;
  std::optional<regulation::SelectPolicy> regulate;

  [[nodiscard]] bool routes_anew() const { return engine || !roots.empty() || lmc; }
  [[nodiscard]] bool is_none() const {
    return without.empty() && !routes_anew() && jobs.empty() && !qos && !regulate;
  }
};

/// Errors: what goes with nothing else, in the words of the command line.
[[nodiscard]] Result<void> check(const Change& change);

/// The engine that is wanted, or else updn where nobody says who routes.
[[nodiscard]] std::optional<routing::Engine> engine_for(const Source& source,
                                                        std::optional<routing::Engine> wanted);

/// Of the same source and traffic, routed as is wanted. Errors: of names, and of Run::make().
[[nodiscard]] Result<Run> routed_by(const Run& run, const Change& change, const FabricNames& known);

/// As it would be. `run`: of routed_by(), or of what is now where it is not routed otherwise; it is told of
/// more traffic. `now`: only for `regulate`. Errors: of names, of jobs, of Run.
[[nodiscard]] Result<State> after(Run& run, const Change& change, const FabricNames& known, const State* now);

}  // namespace heddle::twin

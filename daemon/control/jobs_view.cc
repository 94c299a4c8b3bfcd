#include "control/jobs_view.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/printable.h"
#include "control/view_parts.h"

namespace heddle::control {

namespace json = boost::json;

Result<void> write_jobs(const DaemonState& state, const Query& query, const TextSink& out) {
  const JobsState& jobs = state.jobs;
  if (jobs.source.empty())
    return fail(ErrorCode::Unsupported,
                "nobody tells this daemon which jobs run: jobs.source is not set (docs/jobs.md)");
  const auto top = count_of(query, "top", 0);
  if (!top) return fail(top.error());
  if (!jobs.report) {
    return fail(ErrorCode::Unreachable, jobs.trouble.empty()
                                            ? "the jobs have not been asked for yet; ask again in a moment"
                                            : printable(jobs.trouble));
  }
  json::object view = jobs::view(*jobs.report, *top, FabricNames{jobs.report->fabric});
  view["source"] = printable(jobs.source);
  view["age_seconds"] = jobs.age ? json::value(seconds(*jobs.age)) : json::value();
  view["trouble"] = printable(jobs.trouble);
  out(json::serialize(view));
  return {};
}

}  // namespace heddle::control

/// What all jobs put on the fabric at one moment, those that send most first, and how that is told.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <span>
#include <vector>

#include "fabric/link_name.h"
#include "jobs/account.h"
#include "load/sample.h"

namespace heddle::jobs {

struct Report {
  std::shared_ptr<const Fabric> fabric;
  std::vector<Job> jobs;
  std::vector<JobFigures> figures;  ///< in the order of the jobs
  std::vector<std::size_t> order;   ///< positions; who sends most first
};

[[nodiscard]] Report report(std::shared_ptr<const Fabric> fabric, std::span<const PortLoad> loads,
                            std::vector<Job> jobs);

/// By PortIndex of the sample's fabric.
[[nodiscard]] std::vector<PortLoad> loads_in(const load::Sample& sample);

/// `jobs`, so many at most (0: all), and how many are `left_out`. Every text is printable().
[[nodiscard]] boost::json::object view(const Report& report, std::size_t most, const FabricNames& names);

}  // namespace heddle::jobs

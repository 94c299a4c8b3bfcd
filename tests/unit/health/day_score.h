/// What was planted on a day of faults (day_test.cc), and how what health said of it came out.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "health/finding.h"

namespace heddle::health {

struct Planted {
  std::string name;
  LinkIndex link;
  std::optional<NodeGuid> node;  ///< what is told of the node as a whole is this, too
  std::set<Rule> rules;          ///< that may tell of it; the first that must is any of them
  Instant from;
  Instant until;
  std::optional<PortRef> blame;
  bool found = false;
};

struct Score {
  std::size_t planted = 0;
  std::size_t found = 0;
  std::array<std::size_t, 2> right{};  ///< findings, by Sureness; each once
  std::array<std::size_t, 2> wrong{};
  std::size_t blamed = 0;
  std::size_t blamed_right = 0;
  std::size_t isolated_right = 0;
  std::size_t isolated_wrong = 0;
  std::vector<std::string> remarks;

  void add(const Score& day) {
    planted += day.planted;
    found += day.found;
    for (std::size_t i = 0; i < 2; ++i) {
      right[i] += day.right[i];
      wrong[i] += day.wrong[i];
    }
    blamed += day.blamed;
    blamed_right += day.blamed_right;
    isolated_right += day.isolated_right;
    isolated_wrong += day.isolated_wrong;
  }
};

}  // namespace heddle::health

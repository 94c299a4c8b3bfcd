/// Notices as JSON: for any web hook or program, and for Alertmanager.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "notice/notice.h"

namespace heddle::notice {

/// {"version":1,"source":"heddled","host":...,"fabric":...,"dropped":n,"notices":[{"id":...,...}]}
/// `dropped`: how many this destination has missed in all, so that it knows of gaps.
[[nodiscard]] std::string json_body(std::span<const Notice> notices, const Teller& teller,
                                    std::uint64_t dropped);

/// From when it was told last to when Alertmanager takes an alert for resolved by itself, if this daemon says
/// nothing any more.
inline constexpr std::chrono::minutes alert_life{5};

/// For POST /api/v2/alerts. Each problem is an alert that ends with the problem; each event is one of its
/// own, which ends after alert_life. Those of `open` are told again.
[[nodiscard]] std::string alertmanager_body(std::span<const Notice> notices,
                                            std::span<const OpenProblem> open, const Teller& teller,
                                            WallTime now);

}  // namespace heddle::notice

/// What operators are told when something happens: an event of the journal, or a problem that began, changed
/// or ended. The same notice goes to all destinations; each has a form of its own (syslog.h, bodies.h).
///
/// Texts were written by strangers in part (node descriptions): whoever makes a notice calls bounded(), and
/// everything after that may take them for printable and short.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::notice {

using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// What a notice tells of. The values are those on disk.
enum class What : std::uint8_t {
  Event = 0,
  ProblemBegan = 1,
  ProblemChanged = 2,  ///< the same kind, of other things
  ProblemEnded = 3,
};
[[nodiscard]] std::string_view to_string(What what);
[[nodiscard]] constexpr bool is_problem(What what) { return what != What::Event; }

struct Notice {
  std::uint64_t id = 0;  ///< ascending; given when it is stored. Who gets a notice twice knows it by this
  WallTime at;
  What what = What::Event;
  std::string kind;   ///< of the event, or of the problem (docs/problems.md)
  std::string links;  ///< of an event: their names, or empty
  std::string text;
  WallTime since{};  ///< of a problem: when it began
  friend bool operator==(const Notice&, const Notice&) = default;
};

/// A problem that has begun and has not ended.
struct OpenProblem {
  std::string kind;
  std::string text;
  WallTime since;
  friend bool operator==(const OpenProblem&, const OpenProblem&) = default;
};

/// Who tells: on every notice that leaves this host.
struct Teller {
  std::string host;    ///< of this daemon
  std::string fabric;  ///< metrics.fabric, or empty
};

inline constexpr std::size_t most_kind = 32;  ///< bytes; RFC 5424, 6.2.7 has no more for MSGID
inline constexpr std::size_t most_links = 1024;
inline constexpr std::size_t most_text = 4096;

/// Of printable texts within the bounds above; "..." stands where something was cut.
[[nodiscard]] Notice bounded(Notice notice);

/// Not more than `most` bytes, cut between two characters of UTF-8, with "..." at the end of what was cut.
[[nodiscard]] std::string cut(std::string_view text, std::size_t most);

/// "2026-11-23T02:31:07.250Z" (RFC 3339, and RFC 5424's stricter form of it).
[[nodiscard]] std::string timestamp(WallTime at);

enum class Severity : std::uint8_t { Warning = 4, Notice = 5, Informational = 6 };  ///< RFC 5424, table 2
[[nodiscard]] Severity severity(const Notice& notice);

}  // namespace heddle::notice

#include <array>
#include <optional>
#include <string_view>

#include "regulation/governor.h"

namespace heddle::regulation {
namespace {

template <class Enum, std::size_t N>
std::string_view word(const std::array<std::string_view, N>& words, Enum value) {
  const auto i = static_cast<std::size_t>(value);
  return i < N ? words[i] : "?";
}
template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& words, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 4> wishes{"auto", "off", "on", "pin"};
constexpr std::array<std::string_view, 11> exempts{"regulated",
                                                   "host link",
                                                   "both ends on one switch",
                                                   "link of an aggregation node",
                                                   "inside a chassis",
                                                   "pinned by the configuration",
                                                   "kept on by an operator",
                                                   "flapping",
                                                   "errors",
                                                   "took minutes to come back",
                                                   "came back a short while ago"};
constexpr std::array<std::string_view, 3> modes{"off", "advise", "enforce"};
constexpr std::array<std::string_view, 2> policies{"trunk", "general"};
constexpr std::array<std::string_view, 2> aims{"present", "any"};
constexpr std::array<std::string_view, 12> reports{"advice", "decided",   "confirmed", "called-off",
                                                   "failed", "excluded",  "operator",  "lost",
                                                   "back",   "recovered", "unused",    "needed"};
constexpr std::array<std::string_view, 9> states{"active",  "leaving", "draining", "closing", "off",
                                                 "opening", "ready",   "joining",  "lost"};
constexpr std::array<std::string_view, 7> stages{"idle",     "writing", "migrating", "rewriting",
                                                 "draining", "closing", "mending"};

}  // namespace

std::string_view to_string(Wish wish) { return word(wishes, wish); }
std::optional<Wish> wish_from(std::string_view text) { return find<Wish>(wishes, text); }
std::string_view to_string(Exempt exempt) { return word(exempts, exempt); }
std::string_view to_string(Mode mode) { return word(modes, mode); }
std::optional<Mode> mode_from(std::string_view text) { return find<Mode>(modes, text); }
std::string_view to_string(SelectPolicy policy) { return word(policies, policy); }
std::optional<SelectPolicy> select_policy_from(std::string_view text) {
  return find<SelectPolicy>(policies, text);
}
std::string_view to_string(ChosenFor chosen_for) { return word(aims, chosen_for); }
std::string_view to_string(ReportKind kind) { return word(reports, kind); }
std::string_view to_string(LinkState state) { return word(states, state); }
std::string_view to_string(Stage stage) { return word(stages, stage); }

}  // namespace heddle::regulation

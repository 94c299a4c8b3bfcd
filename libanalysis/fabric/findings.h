/// What a reader of topology files met that does not fit, sorted by kind: a file of 3,675 adapters has 3,675
/// lines to say of one thing, and a reader of messages wants one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::topology {

/// The last ones lose nodes, or cables between two nodes that are described.
enum class Kind : std::uint8_t {
  ForeignLine,
  ConsoleCommand,
  SystemImageGiven,
  PortGuidGiven,
  OtherGuidGiven,
  NoNodeGuid,
  DescriptionCut,
  NotDescribed,
  OneEnd,
  ToItself,
  OwnSwitch,
  RatesDiffer,
  GuidsDiffer,
  LidNotUnicast,
  LidTaken,
  OneGuidTwice,
  OneNameTwice,
  NodeRefused,
  NoSuchPort,
  TwoCables,
  EndsDisagree,
};
inline constexpr std::size_t kinds = static_cast<std::size_t>(Kind::EndsDisagree) + 1;

[[nodiscard]] constexpr bool is_loss(Kind kind) { return kind >= Kind::OneGuidTwice; }

/// Of a kind, for "3,675 ...".
[[nodiscard]] std::string_view plural(Kind kind);

class Findings {
 public:
  /// `text` is one sentence with file and line.
  void add(Kind kind, std::string text);

  [[nodiscard]] std::size_t count(Kind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] bool has_losses() const;

  /// One for each kind, in the order of the first of each: its sentence, and how many there are.
  [[nodiscard]] std::vector<std::string> brief() const;
  [[nodiscard]] std::vector<std::string> losses() const;
  /// Every sentence, up to 10,000; the last one counts the others.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  [[nodiscard]] std::string brief(Kind kind) const;

  std::array<std::size_t, kinds> counts_{};
  std::array<std::string, kinds> first_{};
  std::vector<Kind> order_;
  std::vector<std::string> all_;
  std::size_t more_ = 0;
};

}  // namespace heddle::topology

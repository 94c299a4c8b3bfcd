/// What a recording holds, as values and as bytes: how the core was made, and each event with what the core
/// was told when it asked, and a digest of what it did. docs/recording.md has the form of the file.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/event.h"
#include "journal/journal.h"
#include "record/bytes.h"
#include "transport/transport.h"

namespace heddle::record {

inline constexpr std::string_view magic = "heddle recording 2\n";

/// What was there before the first event. Keys are stand-ins.
struct Opening {
  std::string build;
  std::string configuration;           ///< the file's text
  std::vector<std::string> overrides;  ///< as given with --set, after it
  std::string node_names;              ///< the file's text
  journal::Calendar calendar;
  std::optional<std::string> journal;  ///< its image, where links are regulated
  std::string qos;                     ///< the file's text; empty: none
  std::optional<std::string> plan;     ///< for OpenSM's plugin, the file's text
  std::optional<std::string> plan_before;
  std::vector<PortRef> left_off;
  bool hosts = false;     ///< agents move connections between planes
  bool segments = false;  ///< see transport::Transport
};

enum class Kind : std::uint8_t {
  Made,  ///< the core; no event
  Began,
  Arrived,
  TimersDue,
  TookLong,
  WayMoved,
  Asked,
  CameBack,
  Reloaded,
  StopAsked,
};
[[nodiscard]] std::string_view to_string(Kind kind);

/// An answer of the world outside that differs from the one before, or from what is usual.
struct Answer {
  enum class What : std::uint8_t {
    LocalIs,        ///< the port, from this event on
    SendFailed,     ///< the n-th packet of this event
    ClaimFailed,    ///< to the n-th time that the core said that it is subnet manager, or is none
    HostsFailed,    ///< to move their connections
    JournalFailed,  ///< the n-th thing that was to be kept
    JournalIs,      ///< gone, in words, or not (empty), from this event on
    PlanFailed,     ///< the n-th plan for OpenSM's plugin that was to be kept
    TablesFailed,   ///< the n-th file of tables for OpenSM
    TablesGone,     ///< that file, when it was looked for the n-th time
    PluginIs,       ///< yes (a word) or no (empty) is the answer to the n-th question, from this event on
  };
  What what{};
  std::uint64_t nth = 0;
  transport::LocalPort port{};
  Error error{};
};

struct Entry {
  Kind kind = Kind::Made;
  Instant now{};
  std::string body;  ///< of the event
  std::vector<Answer> answers;
  std::uint32_t deeds = 0;
  std::uint64_t digest = 0;  ///< of the deeds
};

/// What the core does, one after the other.
enum class Deed : std::uint8_t { Send, SendLong, Claim, Migrate, Desk, Say, Log, Tell };

class Digest {
 public:
  void add(Deed deed, std::string_view bytes);
  void add(Deed deed, const mad::Packet& packet);
  [[nodiscard]] std::uint32_t deeds() const { return deeds_; }
  [[nodiscard]] std::uint64_t value() const { return value_; }
  void clear() { *this = {}; }

 private:
  static constexpr std::uint64_t basis = 0xcbf2'9ce4'8422'2325;  ///< FNV-1a, eight bytes at a time
  void mix(std::string_view bytes);

  std::uint32_t deeds_ = 0;
  std::uint64_t value_ = basis;
};

void put(Writer& out, const mad::Packet& packet);
[[nodiscard]] mad::Packet get_packet(Reader& in);
void put(Writer& out, const core::Settings& settings);
[[nodiscard]] core::Settings get_settings(Reader& in);

[[nodiscard]] std::string to_bytes(const Opening& opening);
[[nodiscard]] std::string to_bytes(const Entry& entry);
/// Errors: Invalid.
[[nodiscard]] Result<Opening> parse_opening(std::string_view bytes);
[[nodiscard]] Result<Entry> parse_entry(std::string_view bytes);

/// One after the other, after `magic`.
enum class Block : std::uint8_t { Opening = 'O', Entry = 'E', End = 'X' };
[[nodiscard]] std::string frame(Block block, std::string_view bytes);

/// Reads them.
class Blocks {
 public:
  explicit Blocks(std::istream& in) : in_{in} {}
  /// Whether it is a recording. Once, before next().
  [[nodiscard]] bool begins();
  /// None at the end, and where it breaks off.
  [[nodiscard]] std::optional<std::pair<Block, std::string>> next();

 private:
  std::istream& in_;
};

}  // namespace heddle::record

/// What the daemon and the agents of hosts tell each other about path migration (IBA 17.2.8), in MADs of a
/// vendor's class with an OUI (IBA 16.5). A request names the host port that it is for, and has a sequence
/// number and a tag (seal.h): a MAD proves nothing of its sender by itself.
///
/// | bytes | what |
/// | --- | --- |
/// | 0 to 23 | the header of every MAD; the attribute says which question or order |
/// | 24 to 36 | RMPP (not used), reserved |
/// | 37 to 39 | OUI |
/// | 40 | version of what follows |
/// | 48 to 55 | sequence number |
/// | 56 to 63 | GUID of the host's port |
/// | 64 to 79 | tag |
/// | 80 to 231 | the order, or how the connections stand |
///
/// Nothing is beyond byte 231: ibsim's wire carries 232.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "mad/header.h"
#include "mad/packet.h"

namespace heddle::apm {

/// Of the range that has OUIs, 0x30 to 0x4f.
inline constexpr auto vendor_class = static_cast<mad::MgmtClass>(0x3a);
/// Nobody's: locally administered.
inline constexpr std::array<std::uint8_t, 3> oui{0x02, 0x48, 0x44};
inline constexpr std::uint8_t version = 1;
/// LID planes that connections move between.
inline constexpr unsigned planes = 2;

enum class Attribute : std::uint16_t {
  Connections = 0x0010,  ///< Get: how they stand
  Arm = 0x0011,          ///< Set: what has no alternate path loaded and armed is to have one
  Move = 0x0012,         ///< Set: to a plane
};

/// Statuses of an answer besides those of mad::status, in the bits that a class has for itself.
namespace status {
inline constexpr std::uint16_t stale =
    0x0100;  ///< the sequence number is one of before; the answer has the last
inline constexpr std::uint16_t not_kept = 0x0200;  ///< the order could not be written down, and is not obeyed
}  // namespace status

/// What has become of the last order to move.
enum class Progress : std::uint8_t {
  None,     ///< no such order
  Moving,   ///< some of them are on their way
  Moved,    ///< all are there
  Partial,  ///< some are not, and will not be
  Failed,   ///< none is
};
[[nodiscard]] std::string_view to_string(Progress progress);

/// The connections (RC and UC queue pairs) of a host's port.
struct Standing {
  std::uint8_t plane = 0;  ///< of the last order to move
  Progress progress = Progress::None;
  std::uint32_t connections = 0;  ///< that can move
  std::array<std::uint32_t, planes> in_plane{};
  std::uint32_t armed = 0;
  std::uint32_t moving = 0;
  std::uint32_t failed = 0;       ///< to move or to be armed; they stay where they are
  std::uint32_t unable = 0;       ///< connections that cannot move
  std::uint32_t others = 0;       ///< datagrams, and queue pairs that the library has not made
  std::uint32_t processes = 0;    ///< with the library
  std::uint64_t incarnation = 0;  ///< another one each time that the agent starts
  std::uint64_t order = 0;        ///< the last order to move, by its number
  std::string trouble{};          ///< of the first one that failed; any bytes

  static constexpr std::size_t most_trouble = 96;
  /// All that the host sends can be moved, as far as it knows.
  [[nodiscard]] bool all_can_move() const { return unable == 0 && others == 0 && failed == 0; }
  friend bool operator==(const Standing&, const Standing&) = default;
};

struct MoveOrder {
  std::uint64_t number = 0;
  std::uint8_t plane = 0;
  friend bool operator==(const MoveOrder&, const MoveOrder&) = default;
};

/// What every message has.
struct Envelope {
  mad::Method method = mad::Method::Get;
  Attribute attribute = Attribute::Connections;
  std::uint16_t status = mad::status::ok;
  std::uint64_t sequence = 0;
  PortGuid port;
};

/// Whether it is of the class and OUI, whatever else it says.
[[nodiscard]] bool is_ours(const mad::Bytes& mad);
/// Errors: Invalid for another version, method or attribute. Precondition: is_ours().
[[nodiscard]] Result<Envelope> read_envelope(const mad::Bytes& mad);

/// To the agent of the port at this LID. The TID is the transaction engine's, sequence and tag the sealer's.
[[nodiscard]] mad::Packet request(mad::Method method, Attribute attribute, Lid dlid, PortGuid port);
/// The answer to it, back to its sender.
[[nodiscard]] mad::Packet answer_to(const mad::Packet& request, std::uint16_t status);
void set_sequence(std::uint64_t sequence, mad::Bytes& mad);

void encode(const MoveOrder& order, mad::Bytes& mad);
/// Errors: Invalid for a plane that there is not.
[[nodiscard]] Result<MoveOrder> read_move(const mad::Bytes& mad);
/// The trouble is cut at its bound.
void encode(const Standing& standing, mad::Bytes& mad);
/// Errors: Invalid for figures that contradict each other.
[[nodiscard]] Result<Standing> read_standing(const mad::Bytes& mad);

}  // namespace heddle::apm

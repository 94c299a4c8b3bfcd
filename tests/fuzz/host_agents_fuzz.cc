// What hosts' agents are asked, and what they say, of any bytes: nothing is obeyed that is not sealed, and
// what was read is written as the same again.
//
// The input: MADs of 256 bytes, the last one filled up with zeros. The last byte of each says whether it is
// sealed with the key on its way (1), and whether it comes from the manager (2). All of it is also read as a
// key, as text.

#include <algorithm>
#include <set>

#include "apm/agent.h"
#include "fuzz/fuzz_target.h"

namespace {

using namespace heddle;

constexpr Lid manager{1};

class CountingHost final : public apm::Host {
 public:
  apm::Standing standing() override { return {.connections = 2, .in_plane = {2, 0}, .trouble = "none"}; }
  void arm() override { ++done; }
  void move(unsigned plane) override {
    fuzz::require(plane < apm::planes, "there is such a plane");
    ++done;
  }
  Result<void> keep(std::uint64_t sequence) override {
    fuzz::require(sequences.insert(sequence).second, "an order is obeyed once");
    return {};
  }
  std::size_t done = 0;
  std::set<std::uint64_t> sequences;
};

void standing(const mad::Bytes& mad) {
  const auto read = apm::read_standing(mad);
  if (!read) return;
  mad::Bytes written{};
  apm::encode(*read, written);
  fuzz::require(apm::read_standing(written).value() == *read, "a standing is read as it was written");
  fuzz::require(!to_string(read->progress).empty(), "progress has a word");
  fuzz::require(!read->all_can_move() || read->unable == 0, "who cannot move does not");
}

/// What the daemon orders is obeyed once, and its answer counts.
void ordered(const apm::Key& key, const mad::Bytes& mad) {
  const auto order = apm::read_move(mad);
  if (!order) return;
  CountingHost host;
  apm::Agent agent{{.key = key, .port = PortGuid{0x1234}}, host};
  apm::Sealer sealer{key};
  mad::Packet packet = apm::request(mad::Method::Set, apm::Attribute::Move, Lid{9}, PortGuid{0x1234});
  packet.address.slid = manager;
  encode(*order, packet.mad);
  fuzz::require(apm::read_move(packet.mad).value() == *order, "an order is read as it was written");
  sealer.seal_request(1 + order->number % 1'000'000, packet.mad);
  const auto answer = agent.answer(packet, manager);
  fuzz::require(answer && sealer.admit_answer(answer->mad), "an order is answered");
  fuzz::require(host.done == 1, "an order is obeyed");
  const auto again = agent.answer(packet, manager);
  fuzz::require(host.done == 1, "a copy of it is not");
  fuzz::require(again && sealer.admit_answer(again->mad), "the daemon hears how far numbers have come");
}

void key_as_text(std::string_view text) {
  const auto key = apm::parse_key(text);
  if (!key) return fuzz::require(key.error().message.starts_with("a key is"), "a refusal says what a key is");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string written;
  for (const std::uint8_t byte : *key) written += {digits[byte >> 4U], digits[byte & 15U]};
  fuzz::require(apm::parse_key(written).value() == *key, "a key is read as it was written");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  apm::Key key{};
  CountingHost host;
  apm::Agent agent{{.key = key, .port = PortGuid{0x1234}}, host};
  for (std::size_t at = 0; at < size; at += mad::mad_size) {
    mad::Packet packet;
    std::copy_n(data + at, std::min(size - at, mad::mad_size), packet.mad.begin());
    const std::uint8_t how = packet.mad.back();
    packet.address.slid = (how & 2U) != 0 ? manager : Lid{9};
    if ((how & 1U) != 0) apm::seal(key, packet.mad);
    const bool counts = apm::is_ours(packet.mad) && apm::is_sealed(key, packet.mad) && (how & 2U) != 0;
    const std::size_t before = host.done;
    const auto answer = agent.answer(packet, manager);
    fuzz::require(counts || (!answer && host.done == before), "nothing is done for who is not known");
    if (answer) {
      fuzz::require(apm::is_ours(answer->mad) && apm::is_sealed(key, answer->mad), "an answer is sealed");
      fuzz::require(apm::read_standing(answer->mad).has_value(), "an answer says how things stand");
    }
    apm::Sealer sealer{key};
    (void)sealer.admit_answer(packet.mad);
    standing(packet.mad);
    ordered(key, packet.mad);
  }
  key_as_text(fuzz::text(data, size));
  return 0;
}

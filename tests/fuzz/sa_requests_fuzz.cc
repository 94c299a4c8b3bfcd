// Requests to the subnet administrator, of any bytes: each is answered once or not at all, what is kept of
// them is bounded, and an answer never says more than there is.
//
// The input: requests of 96 bytes. Who asks, method, attribute, RMPP type and flags, the component mask, a
// byte of which bit 0 says whether the SM_Key is right; then the record.

#include <algorithm>
#include <array>
#include <cstring>

#include "authority/own/survey_change.h"
#include "fabric/generators.h"
#include "fuzz/fuzz_target.h"
#include "routing/updn.h"
#include "sa/administrator.h"
#include "sa/rmpp.h"

namespace {

using namespace heddle;

constexpr std::size_t request_size = 96;
constexpr std::size_t head_size = 16;
constexpr sa::Groups::Limits limits{.groups = 8, .per_port = 3};

std::shared_ptr<const sa::Directory> make_directory() {
  auto survey = std::make_shared<Survey>();
  survey->fabric = provision::rebuild(**assign_lids(**generate("tree:k=2,n=2"), 1), 1,
                                      [](LinkEnd, Port& port) { port.state = PortState::Active; });
  survey->local = NodeIndex{0};
  for (const Node& node : survey->fabric->nodes()) {
    SurveyNode& known = survey->nodes.emplace_back();
    known.info.node_guid = node.guid;
    known.info.type = node.type;
    known.info.port_count = node.port_count;
    known.description = node.description;
    known.ports.resize(node.port_count + 1U);
    for (std::size_t p = 0; p < known.ports.size(); ++p) {
      known.ports[p].known = true;
      known.ports[p].info.neighbor_mtu = 5;
      known.ports[p].info.gid_prefix = 0xfe80000000000000;
    }
  }
  const auto router = *routing::UpDownRouter::make(*survey->fabric);
  auto tables = std::make_shared<const routing::ForwardingTables>(router.tables());
  return std::make_shared<const sa::Directory>(survey, tables, 2, 1);
}

mad::Packet request_of(const std::uint8_t* bytes) {
  constexpr std::array methods{0x01, 0x02, 0x12, 0x14, 0x15, 0x05, 0x81};
  constexpr std::array attributes{0x01, 0x03, 0x11, 0x12, 0x31, 0x35, 0x38, 0x3a};
  mad::Packet packet;
  mad::Header header;
  header.mgmt_class = mad::MgmtClass::SubnAdm;
  header.class_version = bytes[0] % 16U == 15 ? 1 : 2;
  header.method = static_cast<mad::Method>(methods[bytes[1] % methods.size()]);
  header.attribute = static_cast<std::uint16_t>(attributes[bytes[2] % attributes.size()]);
  header.tid = bytes[3];
  mad::write_header(header, packet.mad);
  packet.address = {.dlid = Lid{2}, .slid = Lid{bytes[0]}, .dqp = mad::gsi_qp, .sqp = mad::gsi_qp};
  sa::write_rmpp({.type = static_cast<sa::Rmpp::Type>(bytes[4] % 6U),
                  .flags = static_cast<std::uint8_t>(bytes[4] >> 5U),
                  .segment = bytes[5],
                  .length_or_window = bytes[6]},
                 packet.mad);
  std::uint64_t components = 0;
  std::memcpy(&components, bytes + 8, sizeof components);
  sa::write_header({(bytes[7] & 1U) != 0 ? 1U : bytes[7] % 4U, 0, components}, packet.mad);
  std::copy(bytes + head_size, bytes + request_size, packet.mad.begin() + sa::data_offset);
  return packet;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto directory = make_directory();
  sa::Administrator administrator{
      {.groups = limits, .subscriptions_per_port = 2, .pace = {.burst = 0, .per_second = 0}}};
  administrator.use(directory);
  std::size_t sent = 0;
  sa::RmppSender segments{{.transfers = 3}, [&](const mad::Packet&) { ++sent; }};
  Instant now{};
  std::size_t asked = 0;
  for (; size >= request_size && asked < 256; data += request_size, size -= request_size, ++asked) {
    const mad::Packet request = request_of(data);
    now += std::chrono::milliseconds{100};
    segments.on_timer(now);
    if (!sa::Administrator::is_request(request)) {
      segments.on_packet(request, now);
      continue;
    }
    auto reply = administrator.answer(request, now);
    if (!reply) continue;
    const mad::Header header = mad::read_header(reply->head.mad);
    fuzz::require(mad::is_response(header.method), "an answer is one");
    fuzz::require(reply->head.address.dlid == request.address.slid, "it goes to who asked");
    fuzz::require(directory->find(request.address.slid) != no_port, "strangers are not answered");
    fuzz::require(reply->in_segments || reply->data.empty(), "data go in segments");
    fuzz::require(header.status == 0 || reply->data.empty(), "a refusal has no data");
    if (reply->in_segments) (void)segments.begin(reply->head, std::move(reply->data), now);
    fuzz::require(segments.under_way() <= 3, "transfers are bounded");
  }
  fuzz::require(administrator.groups().size() <= limits.groups, "groups are bounded");
  for (const auto& [mlid, members] : administrator.groups().members()) {
    fuzz::require(mlid >= Lid{0xc000} && mlid < Lid{0xc008}, "an MLID is within the bounds");
    fuzz::require(!members.empty(), "a group in the tables has members");
  }
  fuzz::require(administrator.subscriptions().size() <= 2 * 256, "subscriptions are bounded");
  for (int i = 0; i < 64; ++i) segments.on_timer(now += std::chrono::seconds{1});
  fuzz::require(segments.under_way() == 0, "nobody is waited for for ever");
  return 0;
}

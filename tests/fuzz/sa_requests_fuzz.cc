// Requests to the subnet administrator, of any bytes: each is answered once or not at all, what is kept of
// them is bounded, and an answer never says more than there is, nor anything else than was asked for.
//
// The input: requests of 96 bytes. Who asks, method, attribute (highest bit: masks are contained), TID, RMPP
// type and flags, segment, window, a byte of which bit 0 says whether the SM_Key is right and bit 7 whether
// the class version is wrong, the component mask; then the record. From 0xf0 on the method is something that
// happens: a notice, as the record says (if the TID is odd, nobody answers it), another directory, time that
// passes.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

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
constexpr std::uint8_t first_event = 0xf0;
constexpr sa::Groups::Limits limits{.groups = 8, .per_port = 3};
constexpr std::size_t subscriptions_per_port = 2;
constexpr std::size_t transfers = 3;
/// Further on is another client's queue pair.
constexpr std::uint8_t first_of_other_qp = 0xa0;

enum class Links : std::uint8_t {
  Alike,
  AllKinds,  ///< every speed and MTU, one that is not Active, and a host without LID
};

std::shared_ptr<const Fabric> of_all_kinds(const Fabric& fabric) {
  constexpr std::array speeds{LinkSpeed::Sdr, LinkSpeed::Ddr, LinkSpeed::Qdr, LinkSpeed::Fdr10,
                              LinkSpeed::Fdr, LinkSpeed::Edr, LinkSpeed::Hdr, LinkSpeed::Ndr,
                              LinkSpeed::Xdr, LinkSpeed::None};
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) (void)builder.add_node(node);
  for (std::size_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    (void)builder.add_link(link.a, link.b, link.width, speeds[i % speeds.size()]);
  }
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    Port port = fabric.port(PortIndex{i});
    const LinkEnd end{port.node, port.num};
    if (port.link.raw() + 1U == fabric.links().size()) port.state = PortState::Init;
    if (i + 1U == fabric.ports().size()) port.lid = no_lid;
    (void)builder.set_port(end.node, port);
  }
  return builder.build(2);
}

std::shared_ptr<const sa::Directory> make_directory(Links links, std::optional<unsigned> idle_plane) {
  auto survey = std::make_shared<Survey>();
  survey->fabric = provision::rebuild(**assign_lids(**generate("tree:k=2,n=2"), 1), 1,
                                      [](LinkEnd, Port& port) { port.state = PortState::Active; });
  if (links == Links::AllKinds) survey->fabric = of_all_kinds(*survey->fabric);
  survey->local = NodeIndex{0};
  std::uint8_t mtu = 5;
  for (const Node& node : survey->fabric->nodes()) {
    SurveyNode& known = survey->nodes.emplace_back();
    known.info.node_guid = node.guid;
    known.info.type = node.type;
    known.info.port_count = node.port_count;
    known.description = node.description;
    known.ports.resize(node.port_count + 1U);
    if (links == Links::AllKinds) mtu = static_cast<std::uint8_t>(1 + mtu % 5U);
    for (std::size_t p = 0; p < known.ports.size(); ++p) {
      known.ports[p].known = links == Links::Alike || p != 1 || node.type != NodeType::Switch;
      known.ports[p].info.neighbor_mtu = mtu;
      known.ports[p].info.mtu_cap = mtu;
      known.ports[p].info.gid_prefix = 0xfe80000000000000;
      known.ports[p].info.capability_mask = 0x02514868;
    }
  }
  const auto router = *routing::UpDownRouter::make(*survey->fabric);
  auto tables = std::make_shared<const routing::ForwardingTables>(router.tables());
  return std::make_shared<const sa::Directory>(survey, tables, 2, idle_plane);
}

mad::Packet request_of(const std::uint8_t* bytes) {
  constexpr std::array methods{0x01, 0x02, 0x12, 0x14, 0x15, 0x05, 0x81};
  constexpr std::array attributes{0x01, 0x03, 0x11, 0x12, 0x31, 0x35, 0x38, 0x3a};
  mad::Packet packet;
  mad::Header header;
  header.mgmt_class = mad::MgmtClass::SubnAdm;
  header.class_version = (bytes[7] & 0x80U) != 0 ? 1 : sa::class_version;
  header.method = static_cast<mad::Method>(methods[bytes[1] % methods.size()]);
  header.attribute = static_cast<std::uint16_t>(attributes[bytes[2] % attributes.size()]);
  header.modifier = (bytes[2] & 0x80U) != 0 ? 1U << 31U : 0;
  header.tid = bytes[3];
  mad::write_header(header, packet.mad);
  const std::uint32_t qp = bytes[3] < first_of_other_qp ? mad::gsi_qp : 0x1234U;
  packet.address = {.dlid = Lid{2}, .slid = Lid{bytes[0]}, .dqp = mad::gsi_qp, .sqp = qp};
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

/// As the standard has it (IBA 15.2.5.16): a field that counts is what was asked for.
template <class Rank>
bool is_met(std::uint64_t components, std::uint64_t bits, sa::Selected wish, sa::Selected got, Rank rank) {
  if ((components & bits) != bits) return true;
  switch (wish.selector) {
    case sa::Selector::Above:
      return rank(got.code) > rank(wish.code);
    case sa::Selector::Below:
      return rank(got.code) < rank(wish.code);
    case sa::Selector::Exactly:
      return rank(got.code) == rank(wish.code);
    case sa::Selector::Best:
      return true;
  }
  return false;
}
unsigned as_it_is(std::uint8_t code) { return code; }

/// What is under way: an administrator, what it sends, and what was asked.
class Desk {
 public:
  explicit Desk(std::span<const std::shared_ptr<const sa::Directory>> directories)
      : directories_{directories} {
    administrator_.use(directories_.front());
  }

  void take(const std::uint8_t* bytes) {
    now_ += std::chrono::milliseconds{100};
    segments_.on_timer(now_);
    fuzz::require(!segments_.next_deadline() || *segments_.next_deadline() > now_, "what is due is done");
    if (bytes[1] >= first_event) return happen(bytes);
    const mad::Packet request = request_of(bytes);
    if (!sa::Administrator::is_request(request)) return segments_.on_packet(request, now_);
    answer(request);
    fuzz::require(segments_.under_way() <= transfers, "transfers are bounded");
  }

  void end() {
    check_groups();
    fuzz::require(administrator_.subscriptions().size() <= subscriptions_per_port * 256,
                  "subscriptions are bounded");
    const auto& statistics = administrator_.statistics();
    fuzz::require(statistics.refused <= statistics.answered, "what is refused is answered");
    for (int i = 0; i < 64 && segments_.next_deadline(); ++i) segments_.on_timer(*segments_.next_deadline());
    fuzz::require(segments_.under_way() == 0, "nobody is waited for for ever");
  }

 private:
  [[nodiscard]] const sa::Directory& directory() const { return *administrator_.directory(); }

  void happen(const std::uint8_t* bytes) {
    switch (bytes[1] % 3U) {
      case 0: {
        std::array<std::uint8_t, mad::smp_data_size> details{};
        std::copy_n(bytes + head_size, details.size(), details.begin());
        const auto notice = mad::decode<mad::Notice>(mad::ConstSmpData{details});
        const auto told = administrator_.subscriptions().of(notice);
        const std::size_t before = administrator_.subscriptions().size();
        fuzz::require(told.size() <= before, "nobody is told who has not asked");
        if (told.empty() || (bytes[3] & 1U) == 0) return;
        administrator_.subscriptions().forget(told.front());
        fuzz::require(administrator_.subscriptions().size() < before, "who is gone is forgotten");
        return;
      }
      case 1:
        return administrator_.use(directories_[bytes[2] % directories_.size()]);
      default:
        now_ += std::chrono::seconds{bytes[2]};
    }
  }

  void answer(const mad::Packet& request) {
    auto reply = administrator_.answer(request, now_);
    (void)administrator_.groups().take_events();
    if (!reply) return;
    const mad::Header header = mad::read_header(reply->head.mad);
    fuzz::require(mad::is_response(header.method), "an answer is one");
    fuzz::require(reply->head.address.dlid == request.address.slid, "it goes to who asked");
    fuzz::require(reply->head.address.dqp == request.address.sqp, "it goes to the queue pair that asked");
    fuzz::require(directory().find(request.address.slid) != no_port, "strangers are not answered");
    fuzz::require(reply->in_segments || reply->data.empty(), "data go in segments");
    fuzz::require(header.status == 0 || reply->data.empty(), "a refusal has no data");
    if (header.status == 0) check(request, *reply);
    if (reply->in_segments) (void)segments_.begin(reply->head, std::move(reply->data), now_);
  }

  void check(const mad::Packet& request, const sa::Reply& reply) {
    const mad::Header header = mad::read_header(request.mad);
    const sa::Header asked = sa::read_header(request.mad);
    const auto query = std::span{request.mad}.subspan(sa::data_offset);
    const auto single = std::span{reply.head.mad}.subspan(sa::data_offset);
    const std::size_t stride = std::size_t{sa::read_header(reply.head.mad).attribute_offset} * 8;
    const std::span<const std::uint8_t> all = reply.in_segments ? std::span{reply.data} : single;
    const std::size_t count = !reply.in_segments ? 1 : stride == 0 ? 0 : all.size() / stride;
    fuzz::require(!reply.in_segments || all.size() == count * stride, "records are whole");
    for (std::size_t i = 0; i < count; ++i) {
      const auto record = all.subspan(i * stride);
      switch (static_cast<sa::Attribute>(header.attribute)) {
        case sa::Attribute::PathRecord:
          check_path(query, asked.components, sa::decode<sa::PathRecord>(record));
          break;
        case sa::Attribute::McMemberRecord:
          check_member(header, asked, query, sa::decode<sa::McMemberRecord>(record));
          break;
        case sa::Attribute::ClassPortInfo:
          fuzz::require(sa::decode<sa::ClassPortInfo>(record).version == sa::class_version, "it is itself");
          break;
        default:
          break;
      }
    }
  }

  void check_path(std::span<const std::uint8_t> query, std::uint64_t components, const sa::PathRecord& got) {
    using R = sa::PathRecord;
    const auto wish = sa::decode<R>(query);
    fuzz::require(directory().find(got.dlid) != no_port && directory().find(got.slid) != no_port,
                  "a path is between ports that are there");
    fuzz::require(directory().walk(directory().find(got.slid), got.dlid).has_value(), "a path leads there");
    fuzz::require((components & R::has_slid) == 0 || got.slid == wish.slid, "from where it was asked for");
    fuzz::require((components & R::has_dlid) == 0 || got.dlid == wish.dlid, "to where it was asked for");
    fuzz::require(is_met(components, R::has_mtu, wish.mtu, got.mtu, as_it_is), "a path has the MTU");
    fuzz::require(is_met(components, R::has_rate, wish.rate, got.rate, sa::rate_of), "a path has the rate");
    fuzz::require(is_met(components, R::has_life, wish.life, got.life, as_it_is), "a path has the life");
  }

  void check_member(const mad::Header& header, const sa::Header& asked, std::span<const std::uint8_t> query,
                    const sa::McMemberRecord& got) {
    using R = sa::McMemberRecord;
    const auto wish = sa::decode<R>(query);
    if (header.method == mad::Method::Get || header.method == sa::method::get_table) {
      fuzz::require(asked.sm_key != 0 || got.port == sa::Gid{}, "who is not trusted is told no members");
      return;
    }
    const PortIndex port = directory().find(wish.port);
    fuzz::require(port != no_port, "a member is a port");
    const auto members = administrator_.groups().members();
    const auto group = members.find(got.mlid);
    const PortGuid guid = directory().survey().fabric->port(port).guid;
    const bool is_member = group != members.end() && group->second.contains(guid);
    const unsigned has = is_member ? group->second.at(guid) : 0U;
    if (header.method == sa::method::remove) {
      fuzz::require((has & wish.join_state) == 0, "who left is no member");
      return;
    }
    fuzz::require((has & wish.join_state) == wish.join_state, "who joined is a member");
    fuzz::require(is_met(asked.components, R::has_mtu, wish.mtu, got.mtu, as_it_is), "a group has the MTU");
    fuzz::require(is_met(asked.components, R::has_rate, wish.rate, got.rate, sa::rate_of),
                  "a group has the rate");
    const sa::Capacity capacity = directory().capacity(port);
    fuzz::require(got.mtu.code <= capacity.mtu && sa::rate_of(got.rate.code) <= sa::rate_of(capacity.rate),
                  "a member can have what its group has");
  }

  void check_groups() {
    const sa::Groups& groups = administrator_.groups();
    fuzz::require(groups.size() <= limits.groups, "groups are bounded");
    std::map<PortGuid, std::size_t> joined;
    for (const auto& [mlid, members] : groups.members()) {
      fuzz::require(mlid >= Lid{0xc000} && mlid < Lid{0xc008}, "an MLID is within the bounds");
      fuzz::require(!members.empty(), "a group in the tables has members");
      for (const auto& [port, states] : members) {
        fuzz::require(states != 0, "a member has a state");
        fuzz::require(++joined[port] <= limits.per_port, "the groups of a port are bounded");
        const PortIndex index = directory().survey().fabric->find_port(port);
        if (index != no_port) (void)directory().attached_at(index);
      }
    }
  }

  std::span<const std::shared_ptr<const sa::Directory>> directories_;
  sa::Administrator administrator_{{.groups = limits,
                                    .subscriptions_per_port = subscriptions_per_port,
                                    .pace = {.burst = 0, .per_second = 0}}};
  std::uint64_t sent_ = 0;
  sa::RmppSender segments_{{.transfers = transfers}, [this](const mad::Packet& packet) {
                             ++sent_;
                             fuzz::require(sa::read_rmpp(packet.mad).type != sa::Rmpp::Type::None,
                                           "a segment says that it is one");
                           }};
  Instant now_{};
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array directories{make_directory(Links::Alike, 1),
                                      make_directory(Links::AllKinds, std::nullopt)};
  Desk desk{directories};
  for (std::size_t asked = 0; size >= request_size && asked < 256; ++asked) {
    desk.take(data);
    data += request_size;
    size -= request_size;
  }
  desk.end();
  return 0;
}

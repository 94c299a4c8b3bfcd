#include "authority/own/administration.h"

#include <algorithm>
#include <utility>

#include "mad/header.h"

namespace heddle::provision {
namespace {

using transport::Outcome;

/// Notices of a subnet administrator (IBA 14.4.10).
constexpr std::uint16_t port_came = 64;
constexpr std::uint16_t port_went = 65;
constexpr std::uint16_t group_created = 66;
constexpr std::uint16_t group_deleted = 67;
constexpr std::uint8_t subnet_management = 3;
constexpr std::uint32_t class_manager = 4;
/// GIDADDR in the details of these (IBA 14.2.5.1), behind 6 bytes of nothing.
constexpr std::size_t gid_in_details = 6;
/// IssuerGID follows the 64 bytes that notices have elsewhere (IBA 13.4.8.2).
constexpr std::size_t issuer_gid_offset = sa::data_offset + mad::smp_data_size;
/// More that nobody has answered: what subscribes may be slow, and reports are not kept for it.
constexpr std::size_t most_reports = 256;

void put_number(std::uint64_t value, std::uint8_t* to) {
  for (int i = 7; i >= 0; --i, value >>= 8U) to[i] = static_cast<std::uint8_t>(value);
}
void put_gid(const sa::Gid& gid, std::uint8_t* to) {
  put_number(gid.prefix, to);
  put_number(gid.id, to + 8);
}

/// Apart from the agents that counters are asked of: who hears no reports may count all the same.
transport::AgentKey subscriber_agent(Lid lid) {
  constexpr std::uint64_t subscribers = 0x5ab5'0000'0000'0000;
  return transport::AgentKey{subscribers | lid.raw()};
}

mad::Notice own_notice(std::uint16_t trap, Lid issuer) {
  mad::Notice notice;
  notice.type = subnet_management;
  notice.producer = class_manager;
  notice.trap = trap;
  notice.issuer = issuer;
  return notice;
}

std::set<PortGuid> active_end_ports(const Fabric& fabric) {
  std::set<PortGuid> ports;
  for (const Port& port : fabric.ports()) {
    const bool is_switch = port.num == PortNum{0};
    if (port.lid != no_lid && (is_switch || port.state == PortState::Active)) ports.insert(port.guid);
  }
  return ports;
}

}  // namespace

Administration::Administration(transport::TransactionEngine& engine, transport::Transport& transport,
                               const sa::AdministratorOptions& options)
    : engine_{engine},
      transport_{transport},
      administrator_{options},
      segments_{{}, [this](const mad::Packet& packet) { (void)engine_.send_only(packet); }} {}

void Administration::use(std::shared_ptr<const Survey> survey, std::shared_ptr<const Routes> routes,
                         Instant now) {
  const auto before = std::exchange(survey_, std::move(survey));
  routes_ = std::move(routes);
  directory_is_old_ = true;
  if (before && before->fabric != survey_->fabric) tell_of_ports(*before, *survey_, now);
}

void Administration::rest() {
  survey_.reset();
  routes_.reset();
  segments_.clear();
}

/// Not before somebody asks: tables change more often than that.
void Administration::look_at_fabric() {
  if (!std::exchange(directory_is_old_, false)) return;
  administrator_.use(std::make_shared<const sa::Directory>(
      survey_, std::shared_ptr<const routing::ForwardingTables>{routes_, &routes_->tables}, routes_->planes,
      routes_->idle_plane));
}

bool Administration::take(const mad::Packet& packet, Instant now) {
  if (mad::read_header(packet.mad).mgmt_class != mad::MgmtClass::SubnAdm) return false;
  if (!survey_) return true;
  if (!sa::Administrator::is_request(packet)) {
    segments_.on_packet(packet, now);
    return true;
  }
  look_at_fabric();
  if (auto reply = administrator_.answer(packet, now)) send(*std::move(reply), now);
  tell_of_groups(now);
  return true;
}

void Administration::send(sa::Reply reply, Instant now) {
  if (!reply.in_segments) {
    // Lost or refused: whoever asked will ask again.
    (void)engine_.send_only(reply.head);
  } else if (transport_.segments()) {
    (void)transport_.send_long(reply.head, reply.data);
  } else if (!segments_.begin(reply.head, std::move(reply.data), now)) {
    mad::Header header = mad::read_header(reply.head.mad);
    header.status = mad::status::busy;
    mad::write_header(header, reply.head.mad);
    (void)engine_.send_only(reply.head);
  }
}

void Administration::tell(const mad::Notice& notice, Instant now) { report(notice, {}, now); }

void Administration::tell_of_groups(Instant now) {
  for (const auto& [event, gid] : administrator_.groups().take_events()) {
    const bool created = event == sa::Groups::Event::Created;
    report(own_notice(created ? group_created : group_deleted, transport_.local().lid), gid, now);
  }
}

void Administration::tell_of_ports(const Survey& before, const Survey& after, Instant now) {
  if (administrator_.subscriptions().size() == 0) return;
  const auto then = active_end_ports(*before.fabric);
  const auto there = active_end_ports(*after.fabric);
  look_at_fabric();
  const Lid issuer = transport_.local().lid;
  const auto tell_missing = [&](const std::set<PortGuid>& all, const std::set<PortGuid>& others,
                                const Survey& survey, std::uint16_t trap) {
    for (const PortGuid guid : all) {
      if (others.contains(guid)) continue;
      const Port& port = survey.fabric->port(survey.fabric->find_port(guid));
      report(own_notice(trap, issuer), {survey.port({port.node, port.num}).info.gid_prefix, guid.raw()}, now);
    }
  };
  tell_missing(there, then, after, port_came);
  tell_missing(then, there, before, port_went);
}

void Administration::report(const mad::Notice& notice, const sa::Gid& about, Instant now) {
  if (!survey_ || administrator_.subscriptions().size() == 0) return;
  mad::Notice told = notice;
  if (about != sa::Gid{}) put_gid(about, &told.details[gid_in_details]);
  const transport::LocalPort local = transport_.local();
  for (const sa::Subscriber& who : administrator_.subscriptions().of(notice)) {
    if (reported_.size() >= most_reports) return;
    mad::Packet packet;
    packet.address = who.at;
    std::swap(packet.address.dlid, packet.address.slid);
    std::swap(packet.address.dqp, packet.address.sqp);
    mad::Header header;
    header.mgmt_class = mad::MgmtClass::SubnAdm;
    header.class_version = sa::class_version;
    header.method = mad::Method::Report;
    header.attribute = static_cast<std::uint16_t>(sa::Attribute::Notice);
    mad::write_header(header, packet.mad);
    mad::encode(told, std::span{packet.mad}.subspan<sa::data_offset, mad::smp_data_size>());
    put_gid({survey_->port({survey_->local, local.port}).info.gid_prefix, local.guid.raw()},
            &packet.mad[issuer_gid_offset]);
    const std::uint64_t context = next_report_++;
    if (engine_.submit({.packet = packet, .agent = subscriber_agent(packet.address.dlid)}, *this, context,
                       now)) {
      reported_.emplace(context, who);
    }
  }
}

void Administration::on_completion(const transport::Completion& completion) {
  const auto found = reported_.find(completion.context);
  if (found == reported_.end()) return;
  if (completion.outcome == Outcome::TimedOut) administrator_.subscriptions().forget(found->second);
  reported_.erase(found);
}

std::map<Lid, MulticastGroups::Joined> Administration::joined(const Fabric& fabric) {
  told_ = administrator_.groups().revision();
  std::map<Lid, MulticastGroups::Joined> all;
  for (const auto& [mlid, ports] : administrator_.groups().members()) {
    MulticastGroups::Joined& group = all[mlid];
    for (const auto& [guid, states] : ports) {
      const PortIndex port = fabric.find_port(guid);
      if (port == no_port) continue;
      const Port& where = fabric.port(port);
      PortRef at = fabric.ref(port);
      if (where.num != PortNum{0}) {
        const auto peer = fabric.peer({where.node, where.num});
        if (!peer || fabric.node(peer->node).type != NodeType::Switch) continue;
        at = fabric.ref(*peer);
      }
      const bool hears = (states & (sa::join::full | sa::join::non_member)) != 0;
      if (hears) {
        group.members.insert(at);
      } else {
        group.senders.insert(at.node);
      }
    }
  }
  return all;
}

}  // namespace heddle::provision

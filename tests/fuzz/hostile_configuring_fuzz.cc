// A fabric whose nodes lie to the subnet manager that configures it, in which there are other subnet
// managers, cables come and go, and strangers send what nobody asked for. Each run comes to an end and says
// something; it is master of no fabric that another one is master of.
//
// The input: one byte for the fabric, then four bytes each:
// - a lie: which attribute, every how many answers, which byte of it (lies.h), and what stands there;
// - from 0xd0 to 0xdf a step: which, and three bytes of what it takes. Without any the fabric is configured.
// Lies are told while the fabric is being configured, unless a step says otherwise.

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "authority/own/subnet_manager.h"
#include "authority/own/survey_change.h"
#include "authority/own/up_down_keeper.h"
#include "discovery/discovery.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/lies.h"
#include "fuzz/survey_checks.h"
#include "support/other_sm.h"
#include "support/sim_world.h"

namespace {

using namespace heddle;
using namespace std::chrono_literals;
using fuzz::Fate;
using fuzz::Lie;
using fuzz::Plan;
using fuzz::sm;
using fuzz::Step;

constexpr std::array fabrics{"torus:3,hosts=1,links=2", "torus:3,hosts=1", "tree:k=2,n=2"};
constexpr std::size_t most_lies_or_steps = 12;

constexpr std::array attributes{
    sm(mad::SmAttr::PortInfo),    sm(mad::SmAttr::SwitchInfo), sm(mad::SmAttr::LinearForwardingTable),
    sm(mad::SmAttr::SmInfo),      sm(mad::SmAttr::PKeyTable),  sm(mad::SmAttr::MulticastForwardingTable),
    sm(mad::SmAttr::SlToVlTable), sm(mad::SmAttr::NodeInfo)};
fuzz::Lied lied_about(std::uint8_t byte) { return attributes[byte % attributes.size()]; }

enum class Lying : std::uint8_t { Never, WhileConfiguring, Always };

void check(const provision::ProvisionReport& report) {
  fuzz::require(report.survey != nullptr, "a run is of a survey");
  fuzz::require(report.ended >= report.begun, "a run ends after it began");
  for (const auto& trouble : report.troubles)
    fuzz::require(!trouble.text.empty(), "trouble is said in words");
  if (report.failure) return;
  for (const provision::OtherSm& other : report.other_sms)
    fuzz::require(other.info.state != mad::SmInfo::State::Master, "a fabric has one master");
  const Survey& survey = *report.survey;
  fuzz::check(survey);
  for (const Port& port : survey.fabric->ports()) {
    if (port.lid == no_lid) continue;
    fuzz::require(port.lid <= last_unicast_lid, "a LID is a unicast one");
    fuzz::require(&survey.fabric->port(survey.fabric->find_port(port.lid)) == &port, "a LID is of one port");
  }
  fuzz::require(!report.routes || report.tables, "routes have tables");
}

class World {
 public:
  World(Plan plan, std::shared_ptr<const Fabric> fabric)
      : lies_{std::move(plan.lies)}, world_{std::move(fabric), {.mad_latency = 5us}} {
    world_.receive_with([this](const mad::Packet& packet, Instant at) { receive(packet, at); });
    world_.engine.unsolicited_to([this](const mad::Packet& packet, Instant at) { hear(packet, at); });
    world_.engine.unmatched_to(
        [this](const mad::Packet& packet, Instant at) { manager_.on_unmatched(packet, at); });
    world_.next_deadline = [this] { return manager_.next_deadline(); };
    world_.on_timer = [this](Instant now) { manager_.on_timer(now); };
    manager_.allow_turns_by(
        [this](const std::vector<routing::KeptTurn>& turns) { return keeper_.allow(turns); });
    manager_.ask_for_others([this] {
      return keeper_.leave_lost([this](const PortRef& port) { return manager_.may_use(port); });
    });
    keeper_.look_at([this](const routing::SwitchGraph& graph, Lid top) { return manager_.held(graph, top); });
    for (const Step& step : plan.steps) take(step);
  }

  void end() {
    settle();
    world_.engine.stop(world_.now);
    fuzz::require(world_.engine.pending() == 0, "every request is completed");
  }

 private:
  void receive(const mad::Packet& packet, Instant at) {
    mad::Packet changed = packet;
    const bool lies = lying_ == Lying::Always || (lying_ == Lying::WhileConfiguring && manager_.busy());
    const Fate fate = lies ? tell(lies_, changed) : Fate::Arrives;
    if (fate != Fate::Lost) world_.engine.on_packet(changed, at);
    if (fate == Fate::ArrivesTwice) world_.engine.on_packet(changed, at);
  }

  /// As own_fabric.cc does.
  void hear(const mad::Packet& packet, Instant at) {
    if (const auto survey = discovery_.survey()) (void)provision::unknown_manager(*survey, packet);
    if (const auto notice = manager_.on_unsolicited(packet, at)) discovery_.on_notice(*notice, at);
  }

  void found(const discovery::SweepReport& report) {
    ++reports_;
    if (!report.survey || report.survey == report.before) return;
    discovery_.hold();
    if (last_) check_change(*last_, *report.survey);
    auto completed = provision::complete_avoiding(report.survey, known_, avoid_);
    fuzz::require(provision::complete(completed, known_) == completed, "a survey is completed once");
    if (!avoid_.empty()) manager_.take_routes(*completed);
    manager_.configure(std::move(completed), world_.now);
  }

  void check_change(const Survey& before, const Survey& after) const {
    const auto all = [](const LinkRef&) { return true; };
    fuzz::require(!provision::only_gains(before, before, all), "what has not changed gains nothing");
    (void)provision::only_gains(before, after, all);
    const auto around = provision::with_routes_avoiding(after, avoid_);
    fuzz::require(around->nodes.size() == after.nodes.size(), "other routes lead to the same nodes");
  }

  void configured(const provision::ProvisionReport& report) {
    ++reports_;
    check(report);
    fuzz::require(report.failure || manager_.is_master(), "who has configured a fabric is its master");
    if (!report.failure) {
      last_ = report.survey;
      discovery_.adopt(report.survey);
      known_.clear();
      for (const Link& link : last_->fabric->links())
        known_.push_back({link_ref(*last_->fabric, link), link.width, link.speed});
      for (std::uint32_t i = 0; i < last_->fabric->ports().size(); ++i)
        check_port(last_->fabric->ref(PortIndex{i}));
    }
    discovery_.release(report.ended);
  }

  void check_port(const PortRef& port) const {
    const auto lids = manager_.lids_through(port);
    fuzz::require(!lids || lids->empty() || manager_.may_use(port), "what is forwarded there may use it");
  }

  /// Where nodes say another thing each time it goes on without end, and there is a report each time.
  void settle() {
    constexpr std::size_t enough = 8;
    const std::size_t last = reports_ + enough;
    const bool ends =
        world_.run([&] { return (!discovery_.busy() && !manager_.busy()) || reports_ >= last; }, 200s);
    fuzz::require(ends || !manager_.busy(), "configuring comes to an end");
  }
  void wait(FabricClock::duration time) {
    (void)world_.run([] { return false; }, time);
  }

  void take(const Step& step) {
    constexpr std::array steps{&World::sweep,    &World::light,   &World::rediscover, &World::other_sm,
                               &World::other_is, &World::happens, &World::passes,     &World::rewrite,
                               &World::late,     &World::ask_sm,  &World::midway,     &World::force,
                               &World::keep_off, &World::lie,     &World::ask_sa,     &World::stop};
    (this->*steps[step.what % steps.size()])(step);
  }

  void sweep(const Step& /*step*/) {
    discovery_.full(world_.now);
    settle();
  }
  void light(const Step& /*step*/) {
    discovery_.light(world_.now);
    settle();
  }
  void rediscover(const Step& step) {
    if (!last_) return;
    const NodeGuid node = last_->nodes[step.which % last_->nodes.size()].guid();
    discovery_.rediscover({&node, 1}, world_.now);
    settle();
  }

  [[nodiscard]] PortIndex seat(std::uint8_t which) const {
    const Fabric& truth = world_.fabric.description();
    std::vector<PortIndex> seats;
    for (std::uint32_t i = 0; i < truth.ports().size(); ++i) {
      const Port& port = truth.port(PortIndex{i});
      const bool is_host = truth.node(port.node).type == NodeType::ChannelAdapter;
      if (is_host && port.link != no_link && PortIndex{i} != world_.port()) seats.emplace_back(i);
    }
    return seats[which % seats.size()];
  }
  void other_sm(const Step& step) {
    auto& other = others_[step.how % others_.size()];
    other.reset();
    if (step.which >= 0xf0) return;
    other.emplace(
        world_.fabric, seat(step.how), [this] { return world_.ps(); },
        static_cast<mad::SmInfo::State>(step.which % 4U), step.more % 16U);
  }
  void other_is(const Step& step) {
    auto& other = others_[step.how % others_.size()];
    if (!other) return;
    const Lid ours = world_.local().lid;
    switch (step.which % 6U) {
      case 0:
        other->info.state = static_cast<mad::SmInfo::State>(step.more % 4U);
        break;
      case 1:
        other->silent = (step.more & 1U) != 0;
        break;
      case 2:
        other->takes = (step.more & 1U) != 0;
        break;
      case 3:
        other->ask(ours);
        break;
      case 4:
        other->set_master_of(world_.port(), Lid{step.more});
        break;
      default:
        other->clear_first_block(Lid{step.more});
    }
    wait(1ms);
  }

  void happens(const Step& step) {
    const Fabric& truth = world_.fabric.description();
    const LinkIndex link{step.how % static_cast<std::uint32_t>(truth.links().size())};
    const NodeIndex node{step.how % static_cast<std::uint32_t>(truth.nodes().size())};
    switch (step.which % 4U) {
      case 0:
        return world_.fabric.cut(link, world_.ps());
      case 1:
        return world_.fabric.mend(link, world_.ps());
      case 2:
        return world_.fabric.kill(node, world_.ps());
      default:
        return world_.fabric.revive(node, world_.ps());
    }
  }
  void passes(const Step& step) {
    wait(std::chrono::milliseconds{100 * step.which} + std::chrono::seconds{10 * step.how});
  }
  void rewrite(const Step& step) {
    manager_.rewrite_tables(world_.now, [](const Result<void>&, Instant) {});
    if ((step.which & 1U) == 0) settle();
  }

  /// An answer that nobody waits for: of a block of a forwarding table, say.
  void late(const Step& step) {
    std::vector<PortNum> path;
    if (last_) path = last_->nodes[step.which % last_->nodes.size()].path;
    if (step.which >= 0xf0) path.assign(step.which - 0xc1U, PortNum{step.how});
    mad::Packet packet = transport::directed_smp({.method = mad::Method::GetResp,
                                                  .attribute = mad::SmAttr::LinearForwardingTable,
                                                  .modifier = step.how},
                                                 path);
    std::ranges::fill(mad::smp_data(packet.mad), step.more);
    world_.engine.on_packet(packet, world_.now);
    if ((step.more & 1U) != 0) settle();
  }
  /// Somebody asks who is master, or tells something, from wherever he says that he is.
  void ask_sm(const Step& step) {
    constexpr std::array methods{mad::Method::Get, mad::Method::Set, mad::Method::Trap};
    const transport::SmpRequest smp{
        .method = methods[step.which % methods.size()],
        .attribute = step.which % 3U == 2 ? mad::SmAttr::Notice : mad::SmAttr::SmInfo};
    mad::Packet packet;
    if ((step.which & 0x80U) != 0) {
      packet = transport::directed_smp(smp, {});
      mad::DirectedRoute route;
      route.hop_count = step.how;
      route.return_path.fill(PortNum{step.more});
      mad::write_directed_route(route, packet.mad);
    } else {
      packet = transport::lid_smp(smp, world_.local().lid);
    }
    packet.address.slid = Lid{step.how};
    if (step.which % 3U == 2) {
      mad::Notice notice;
      notice.trap = (step.which & 4U) != 0 ? 128 : 144;
      notice.set_data_lid(Lid{step.more});
      mad::encode(notice, mad::smp_data(packet.mad));
    }
    world_.engine.on_packet(packet, world_.now);
    settle();
  }
  /// Orders in the middle of a sweep, or of a run.
  void midway(const Step& step) {
    if ((step.which & 2U) != 0) discovery_.full(world_.now);
    if ((step.which & 4U) != 0) discovery_.light(world_.now);
    wait(std::chrono::microseconds{10 * step.how});
    if ((step.which & 1U) != 0) rewrite({.which = 1});
    wait(std::chrono::microseconds{10 * step.more});
    if ((step.which & 8U) != 0 && last_) manager_.configure(last_, world_.now);
    settle();
  }
  void force(const Step& /*step*/) {
    manager_.pass_over_silent_sms();
    sweep({});
  }
  /// These cables are about to go off.
  void keep_off(const Step& step) {
    avoid_.clear();
    for (unsigned i = 0; last_ && i < step.which % 8U; ++i) {
      const auto links = last_->fabric->links();
      if (links.empty()) break;
      avoid_.push_back(link_ref(*last_->fabric, links[(step.how + i) % links.size()]));
    }
    std::ranges::sort(avoid_);
    keeper_.close(avoid_);
  }
  void lie(const Step& step) { lying_ = static_cast<Lying>(step.which % 3U); }
  /// A host joins a group, leaves it, or asks for all there is.
  void ask_sa(const Step& step) {
    const PortIndex host = seat(step.how);
    mad::Packet packet;
    constexpr std::array methods{mad::Method::Set, sa::method::remove, sa::method::get_table};
    mad::write_header({.mgmt_class = mad::MgmtClass::SubnAdm,
                       .class_version = sa::class_version,
                       .method = methods[step.which % methods.size()],
                       .tid = step.more,
                       .attribute = static_cast<std::uint16_t>(sa::Attribute::McMemberRecord)},
                      packet.mad);
    using R = sa::McMemberRecord;
    sa::write_header({1, 0, R::has_mgid | R::has_port_gid | R::has_join_state}, packet.mad);
    packet.address = {.dlid = world_.local().lid,
                      .slid = world_.fabric.port_info(host).lid,
                      .dqp = mad::gsi_qp,
                      .sqp = mad::gsi_qp};
    R wish;
    wish.mgid = sa::ipoib_broadcast;
    wish.port = {0xfe80000000000000, world_.fabric.port_guid(host).raw()};
    wish.join_state = static_cast<std::uint8_t>(1U + step.more % 15U);
    sa::encode(wish, std::span{packet.mad}.subspan(sa::data_offset));
    world_.engine.on_packet(packet, world_.now);
    settle();
  }
  void stop(const Step& step) {
    discovery_.full(world_.now);
    wait(std::chrono::microseconds{10 * step.which + 100 * step.how});
    world_.engine.stop(world_.now);
  }

  std::vector<Lie> lies_;
  Lying lying_ = Lying::WhileConfiguring;
  test::SimWorld world_;
  std::size_t reports_ = 0;
  std::shared_ptr<const Survey> last_;
  std::vector<provision::KnownLink> known_;
  std::vector<LinkRef> avoid_;
  std::array<std::optional<test::OtherSm>, 2> others_;
  provision::UpDownKeeper keeper_;
  provision::SubnetManager manager_{world_.engine,
                                    world_,
                                    {.priority = 7, .administrator = sa::AdministratorOptions{}},
                                    [this](const Fabric& seen) { return keeper_.route(seen); },
                                    [this](const provision::ProvisionReport& report) { configured(report); }};
  discovery::Discovery discovery_{world_.engine,
                                  {.change_bits = discovery::ChangeBits::Clear,
                                   .on_inactive = [this](const PortRef& port) { manager_.keep_off(port); },
                                   .on_active = [this](const PortRef& port) { manager_.found_active(port); },
                                   .most_nodes = 50},
                                  [this](const discovery::SweepReport& report) { found(report); }};
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::array built{*generate(fabrics[0]), *generate(fabrics[1]), *generate(fabrics[2])};
  World world{fuzz::plan_of(data + 1, size - 1, most_lies_or_steps, lied_about),
              built[data[0] % built.size()]};
  world.end();
  return 0;
}

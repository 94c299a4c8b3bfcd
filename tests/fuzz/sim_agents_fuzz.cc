// Any MADs into the simulated fabric: its subnet management and performance agents, its forwarding. The
// fabric goes on, answers are of what was asked, and well-formed questions are answered afterwards, if they
// have the M_Key that may have been set (IBA 14.2.4.1).
//
// The input: a byte of what the nodes are like, then records of 1 + 256 bytes, a byte of address bits and a
// MAD; what is cut short is filled with zeros.

#include <algorithm>
#include <array>
#include <set>

#include "fuzz/fuzz_target.h"
#include "mad/counters.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "support/sim_world.h"
#include "transport/requests.h"

namespace {

using namespace heddle;
using fuzz::require;

// Bits of the first byte; the two below these are a sim::ExtendedSpeeds.
constexpr std::uint8_t old_firmware = 0x04;
constexpr std::uint8_t old_links = 0x08;  ///< FDR10, without RS-FEC
constexpr std::uint8_t redirecting = 0x10;
constexpr std::uint8_t stuck = 0x20;
constexpr std::uint8_t congested = 0x40;
constexpr std::uint8_t with_traps = 0x80;

// Bits of an address; the five between the first two are a LID.
constexpr std::uint8_t by_lid = 0x01;
constexpr std::uint8_t to_other_qp = 0x40;
constexpr std::uint8_t to_gsi = 0x80;
constexpr std::uint32_t redirect_qp = 2;

sim::Options options_for(std::uint8_t like) {
  sim::Options options;
  options.traits.extended_speeds = static_cast<sim::ExtendedSpeeds>(like & 3U);
  options.traits.rs_fec = (like & old_links) == 0;
  if ((like & old_firmware) != 0) {
    options.traits.extended_counters = false;
    options.traits.all_ports = false;
    options.traits.phy_counters = false;
    options.traits.error_details = false;
    options.traits.samples = false;
  }
  options.congested_gmps = (like & congested) != 0;
  options.count_management = options.congested_gmps;
  return options;
}

/// Traffic from every host to the next one, and what makes nodes as the first byte says.
class Traffic {
 public:
  Traffic(test::SimWorld& world, std::uint8_t like) : world_{world} {
    const Fabric& described = world.fabric.description();
    const bool traps = (like & with_traps) != 0;
    sim::bring_up(world.fabric, {.sm_lid = traps ? described.port(world.port()).lid : no_lid});
    if (traps) (void)world.claim_sm(transport::SmClaim::Hold);
    world.fabric.set_counter_source(&plane_);
    world.fabric.set_change_listener(&plane_);
    std::vector<PortIndex> hosts;
    for (const Node& node : described.nodes()) {
      const PortIndex first{node.first_port.raw() + 1};
      if (node.type == NodeType::ChannelAdapter) hosts.push_back(first);
      if (node.type != NodeType::Switch) continue;
      const NodeIndex index = described.port(first).node;
      world.fabric.add_error_details(first, sim::ErrorDetail::Malformed, 3, world.ps());
      if ((like & stuck) != 0) world.fabric.set_agent_faults(index, {.stuck_counters = true});
      if ((like & redirecting) != 0)
        world.fabric.set_redirect(index, sim::Redirect{world.port(), redirect_qp});
    }
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      (void)plane_.add({.from = hosts[i], .to = hosts[(i + 1) % hosts.size()]}, world.ps());
    }
  }
  ~Traffic() {
    world_.fabric.set_change_listener(nullptr);
    world_.fabric.set_counter_source(nullptr);
  }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

 private:
  test::SimWorld& world_;
  sim::FabricView view_{world_.fabric};
  sim::FlowPlane plane_{view_};
};

/// What an answer has of its question: the TID but for the 16 bits that the fabric may write, the attribute.
using Question = std::array<std::uint8_t, 8>;
Question question_of(const mad::Bytes& mad) {
  Question question{};
  std::copy_n(mad.begin() + 10, question.size(), question.begin());
  return question;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto fabric = *assign_lids(**generate("tree:k=2,n=2"));
  static const auto slow_fabric = *assign_lids(**generate("tree:k=2,n=2,speed=FDR10"));
  constexpr std::size_t record = 1 + mad::mad_size;
  constexpr std::size_t most = 64;
  if (size == 0) return 0;
  test::SimWorld world{(data[0] & old_links) != 0 ? slow_fabric : fabric, options_for(data[0])};
  const Traffic traffic{world, data[0]};
  std::set<Question> asked;
  std::size_t answers = 0;
  std::uint16_t last_status = 0;
  world.receive_with([&](const mad::Packet& packet, Instant) {
    const mad::Header header = mad::read_header(packet.mad);
    if (!mad::is_response(header.method)) return;
    require(asked.contains(question_of(packet.mad)), "an answer is of what was asked");
    last_status = header.status;
    ++answers;
  });
  world.on_send = [&](const mad::Packet& packet) { asked.insert(question_of(packet.mad)); };
  const auto answered = [&](const mad::Packet& packet) {
    answers = 0;
    (void)world.send(packet);
    (void)world.run([&] { return answers > 0; }, std::chrono::seconds{10});
    return answers > 0 && last_status == mad::status::ok;
  };
  for (std::size_t at = 1, n = 0; at < size && n < most; at += record, ++n) {
    mad::Packet packet;
    const std::uint8_t address = data[at];
    if ((address & by_lid) != 0) packet.address.dlid = Lid{static_cast<std::uint16_t>(address >> 1U & 0x1fU)};
    if ((address & to_gsi) != 0)
      packet.address.dqp = (address & to_other_qp) != 0 ? redirect_qp : mad::gsi_qp;
    const std::size_t length = std::min(size - at - 1, mad::mad_size);
    std::copy_n(data + at + 1, length, packet.mad.begin());
    (void)world.send(packet);
    (void)world.run([] { return false; }, std::chrono::milliseconds{1});
  }
  (void)world.run([] { return false; }, std::chrono::seconds{10});
  const mad::PortInfo& own = world.fabric.port_info(world.port());
  require(answered(transport::directed_smp({.attribute = mad::SmAttr::NodeInfo, .m_key = own.m_key}, {})),
          "the local node answers after all of it");
  for (const auto attribute : {mad::PmAttr::ClassPortInfo, mad::PmAttr::PortCounters}) {
    transport::PmaAddress to{};
    to.dlid = own.lid;
    mad::Packet request = transport::perf_gmp(mad::Method::Get, attribute, 0, to);
    mad::select_port(world.local().port, mad::gmp_data(request.mad));
    require(answered(request), "its counters can be read");
  }
  return 0;
}

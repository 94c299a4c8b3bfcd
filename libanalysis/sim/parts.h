/// How the halves of the simulated fabric are put together. Only for simulated_fabric*.cc.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "sim/carrier.h"
#include "sim/counters.h"
#include "sim/links.h"
#include "sim/model.h"
#include "sim/pma.h"
#include "sim/schedule.h"
#include "sim/simulated_fabric.h"
#include "sim/sma.h"
#include "sim/traps.h"

namespace heddle::sim {

struct SimulatedFabric::Parts {
  Parts(std::shared_ptr<const Fabric> description, const Options& options);

  struct Client {
    PortIndex port = no_port;  ///< no_port: free
    std::uint16_t generation = 0;
    bool informed = false;      ///< has asked a subnet administrator for reports
    bool takes_others = false;  ///< requests of classes that no agent answers
    Receiver receiver;
  };
  struct Delivery {
    ClientId client;
    Picoseconds at{0};
    mad::Packet packet;
  };
  /// A MAD that waits: on its way, or in line at an agent.
  struct Parcel {
    enum class Stage : std::uint8_t { Arrive, Handle };
    Stage stage = Stage::Arrive;
    Arrival where;
    mad::Packet packet;
  };

  // The course of a MAD.
  void run(Picoseconds now);
  void carry_out(const Event& event);
  void transmit(PortIndex from, mad::Packet& packet, Picoseconds now);
  void arrive(const Arrival& where, mad::Packet& packet, Picoseconds now);
  void arrive_smp(const Arrival& where, mad::Packet& packet, Picoseconds now);
  [[nodiscard]] bool represses_a_program(PortIndex port, const mad::Packet& packet) const;
  void answer_vendor(const Arrival& where, mad::Packet& packet);
  void arrive_gmp(const Arrival& where, mad::Packet& packet, Picoseconds now);
  void to_agent(const Arrival& where, mad::Packet& packet, Picoseconds service, Picoseconds now);
  void handle(const Arrival& where, mad::Packet& packet, Picoseconds now);
  void handle_smp(const Arrival& where, mad::Packet& packet, Picoseconds now);
  void handle_perf(const Arrival& where, mad::Packet& packet, Picoseconds now);
  void respond(const Arrival& where, mad::Packet& packet, Picoseconds now);
  void park(Parcel::Stage stage, const Arrival& where, const mad::Packet& packet, Picoseconds due);
  [[nodiscard]] Carrier::Way find_way(PortIndex from, mad::Packet& packet, Picoseconds now);
  void apply(const LinkOrder& order, Picoseconds now);

  // Clients.
  [[nodiscard]] Client* find(ClientId id);
  void deliver(std::size_t slot, const mad::Packet& packet, Picoseconds now);
  /// To whom a response belongs, by its TID.
  void deliver_response(PortIndex port, const mad::Packet& packet, Picoseconds now);
  void deliver_to_sm(PortIndex port, const mad::Packet& packet, Picoseconds now);

  Model model;
  Schedule schedule;
  Counters counters;
  Carrier carrier;
  Links links;
  Traps traps;
  Sma sma;
  Pma pma;
  Random random;
  MadFaults mad_faults;
  std::unordered_map<PortIndex, Ratio> intakes;  ///< of ports that take less than all
  bool faulty = false;                           ///< any of mad_faults
  std::vector<std::pair<NodeIndex, Redirect>> redirects;

  std::vector<Client> clients;
  std::unordered_map<PortIndex, std::size_t> sm_at;  ///< slot of the client that is SM of a port
  std::vector<Delivery> ready;
  std::vector<Delivery> delivering;
  std::vector<Parcel> parcels;
  std::vector<std::uint32_t> free_parcels;
  Picoseconds now{0};
  Statistics statistics;
};

}  // namespace heddle::sim

// A day on a published fabric by the governor alone: no MADs, no daemon, nobody who looks on, and so in
// minutes what scenario.real_days_night takes hours for. Traffic at flow level, links that train for 2 to 180
// s each, loads by the hour, another pattern every quarter of an hour, as there.
//   regulation_day [--seed=N] [--hours=FROM-TO] [--quiet=SECONDS] [--policy=trunk|general] [--for=any]
//     [--quarters]
//   FABRIC
// Prints by the hour what was saved, what the bound allows, what arrived beside what arrives with all links
// on, and why links came back.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "fabric/source.h"
#include "sim/scenario_player.h"
#include "sim/training.h"
#include "support/day_of_loads.h"
#include "support/regulated_flows.h"

namespace heddle::testing_support {
namespace {

using namespace std::chrono_literals;

struct Arguments {
  std::string fabric;
  std::uint64_t seed = 1;
  int from = 0;
  int to = 24;
  regulation::GovernorOptions governor;
  bool quarters = false;
};

/// Of an hour, or of all.
struct Account {
  double wanted = 0;
  double delivered = 0;
  double with_all_on = 0;
  double all_on = 0;  ///< J that links between switches would draw
  double least = 0;   ///< J of the bound
  double saved = 0;   ///< J
  std::size_t closed = 0;
  std::size_t opened = 0;
  std::map<std::string, std::size_t> reasons;  ///< of what came back, by their first words

  void add(const Account& more) {
    wanted += more.wanted;
    delivered += more.delivered;
    with_all_on += more.with_all_on;
    all_on += more.all_on;
    least += more.least;
    saved += more.saved;
    closed += more.closed;
    opened += more.opened;
    for (const auto& [reason, count] : more.reasons) reasons[reason] += count;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format(
        "saved {:5.1f} % of {:5.1f} %: {:.2f}; delivered {:6.2f} % ({:6.2f} with all on); {} off, {} on",
        100 * saved / all_on, 100 * (1 - least / all_on), saved / (all_on - least), 100 * delivered / wanted,
        100 * with_all_on / wanted, closed, opened);
  }
};

class Day {
 public:
  explicit Day(const Arguments& given)
      : arguments_{given},
        fabric_{*assign_lids(*load_fabric(given.fabric).value().fabric, 1)},
        governor_{given.governor} {
    regulation::NetworkOptions make;
    make.planes = 2;
    make.managers = {manager()};
    network_ = *regulation::Network::make(fabric_, make);
    up_ = tables_[0] = tables_[1] = routing::LinkSet::all(*fabric_);
    modes_ = power::all_on(*fabric_);
    trainings_.assign(fabric_->links().size(), 0);
    tell(regulation::TopologyChanged{fabric_, {manager()}, network_->ranks_by_guid()});
  }

  void run() {
    Account all;
    for (int hour = arguments_.from; hour < arguments_.to; ++hour) {
      hour_ = {};
      for (int quarter = 4 * hour; quarter < 4 * hour + 4; ++quarter) {
        send(quarter);
        pass(15min);
        if (arguments_.quarters)
          fmt::print("  quarter {}: {} off, {:.2f} arrives of {:.2f}\n", quarter,
                     fabric_->links().size() - up_.count(), now().delivered / now().wanted,
                     with_all_on_ / now().wanted);
      }
      all.add(hour_);
      fmt::print("{:2} h: {}; {} links off; left on for what they took: {}\n", hour + 1, hour_.text(),
                 fabric_->links().size() - up_.count(), slow());
      for (const auto& [reason, count] : hour_.reasons) fmt::print("      {} x {}\n", count, reason);
      std::fflush(stdout);
    }
    fmt::print("all: {}; {:.0f} s of processor time\n", all.text(),
               static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  }

 private:
  [[nodiscard]] Lid manager() const {
    for (const Port& port : fabric_->ports()) {
      if (fabric_->node(port.node).type == NodeType::ChannelAdapter && port.lid != no_lid) return port.lid;
    }
    return no_lid;
  }

  void send(int quarter) {
    sim::Phase phase;
    phase.pattern = test::pattern_of_day(arguments_.seed, quarter);
    phase.load = test::load_of_day(quarter);
    phase.destinations = 16;
    phase.hot = 0.05;
    phase.targets = 8;
    phase.seed = arguments_.seed * 1000 + static_cast<std::uint64_t>(quarter);
    const auto forwarding = TableView{*fabric_, network_->graph(), network_->tables(up_, 0), up_, modes_};
    sim::FlowPlane scratch{forwarding};
    sim::ScenarioPlayer player{*fabric_};
    scratch.set_schedule(&player);
    if (const auto added = player.add(phase, Picoseconds{0}); !added) std::abort();
    scratch.advance(Picoseconds{0});
    if (latest_) before_ = latest_;
    changed_at_ = time_;
    flows_.clear();
    for (const sim::TrafficId id : scratch.ids()) flows_.push_back(scratch.flow(id));
    latest_.reset();
    const auto all = routing::LinkSet::all(*fabric_);
    with_all_on_ = deliver(all, all, plane_).delivered;
  }

  [[nodiscard]] Delivery deliver(const routing::LinkSet& active, const routing::LinkSet& up, unsigned plane) {
    const TableView view{*fabric_, network_->graph(), network_->tables(active, plane), up, modes_};
    sim::FlowPlane flows{view};
    for (sim::TrafficFlow flow : flows_) {
      flow.path_offset = static_cast<std::uint8_t>(plane);
      (void)flows.add(flow, Picoseconds{0});
    }
    const sim::FlowFigures figures = flows.figures(Picoseconds{0});
    Delivery result{figures.wanted.value(),
                    figures.delivered.value(),
                    figures.unroutable + figures.into_off_link,
                    {},
                    {}};
    for (std::uint32_t p = 0; p < fabric_->ports().size(); ++p) {
      const bool cabled = fabric_->ports()[p].link != no_link;
      result.sent.push_back(cabled ? flows.sent(PortIndex{p}, Picoseconds{0}).value() : 0);
      result.waiting.push_back(cabled ? flows.waiting(PortIndex{p}, Picoseconds{0}).value() : 0);
    }
    if (result.lost_flows > 0) fmt::print("LOST: {} flows\n", result.lost_flows);
    return result;
  }
  [[nodiscard]] const Delivery& now() {
    if (!latest_) latest_ = deliver(tables_[plane_], up_, plane_);
    return *latest_;
  }

  void pass(std::chrono::seconds span) {
    const Instant end = time_ + span;
    while (time_ < end) {
      Instant next = std::min(end, next_sample_);
      if (const auto due = governor_.next_deadline(); due && *due < next) next = std::max(time_, *due);
      if (!training_.empty() && training_.begin()->first < next)
        next = std::max(time_, training_.begin()->first);
      time_ = next;
      tell(regulation::Tick{});
      links_arrive();
      if (time_ < next_sample_) continue;
      account(std::chrono::duration<double>(sampling).count());
      next_sample_ += sampling;
      tell(regulation::LoadsMeasured{sample()});
    }
  }

  [[nodiscard]] std::shared_ptr<const load::Sample> sample() {
    auto result = std::make_shared<load::Sample>();
    result->fabric = fabric_;
    result->began = time_;
    result->ports.resize(fabric_->ports().size());
    const Delivery& delivery = now();
    // What was sent until the pattern changed is in it, too.
    double old = 0;
    if (before_ && changed_at_ > time_ - sampling)
      old = std::chrono::duration<double>(changed_at_ - (time_ - sampling)).count() /
            std::chrono::duration<double>(sampling).count();
    for (std::size_t p = 0; p < delivery.sent.size(); ++p) {
      const double sent = (1 - old) * delivery.sent[p] + (old > 0 ? old * before_->sent[p] : 0);
      const double waiting = (1 - old) * delivery.waiting[p] + (old > 0 ? old * before_->waiting[p] : 0);
      result->ports[p].xmit_bytes_per_second = static_cast<float>(sent / 8);
      result->ports[p].congestion = static_cast<float>(waiting);
    }
    return result;
  }

  [[nodiscard]] double watts(const routing::LinkSet& links) const {
    double sum = 0;
    for (std::uint32_t i = 0; i < fabric_->links().size(); ++i) {
      if (network_->trunk_of(LinkIndex{i}) != regulation::Network::no_trunk && links.contains(LinkIndex{i}))
        sum += arguments_.governor.power.link(*fabric_, LinkIndex{i}, modes_[i]).value();
    }
    return sum;
  }

  void account(double seconds) {
    hour_.wanted += now().wanted * seconds;
    hour_.delivered += now().delivered * seconds;
    hour_.with_all_on += with_all_on_ * seconds;
    const auto& plan = governor_.plan();
    if (!plan || plan->watts_now <= Watts{0}) return;
    const double all = watts(routing::LinkSet::all(*fabric_));
    hour_.all_on += all * seconds;
    hour_.least += plan->watts_least.value() * seconds;
    hour_.saved += (all - watts(up_)) * seconds;
  }
  [[nodiscard]] std::size_t slow() const {
    std::size_t count = 0;
    for (const auto& link : governor_.links()) count += link.exempt == regulation::Exempt::SlowWake ? 1 : 0;
    return count;
  }

  /// Those that are up by now, as an order at a time.
  void links_arrive() {
    std::map<regulation::StepId, std::vector<LinkRef>> there;
    while (!training_.empty() && training_.begin()->first <= time_) {
      const auto [step, link] = training_.begin()->second;
      training_.erase(training_.begin());
      up_.insert(link);
      there[step].push_back(link_ref(*fabric_, fabric_->link(link)));
    }
    for (auto& [step, links] : there) {
      auto& left = left_of_[step];
      left -= links.size();
      if (left > 0) {
        tell(regulation::LinksThere{std::move(links)});
      } else {
        left_of_.erase(step);
        tell(regulation::StepDone{step});
      }
    }
  }

  template <class What>
  void tell(What what) {
    std::vector<regulation::Action> todo = governor_.on({time_, std::move(what)});
    for (std::size_t i = 0; i < todo.size(); ++i) {
      const regulation::Action action = todo[i];
      const auto more = carry_out(action);
      todo.insert(todo.end(), more.begin(), more.end());
    }
  }
  std::vector<regulation::Action> carry_out(const regulation::Action& action) {
    if (const auto* look = std::get_if<regulation::LookAtQueues>(&action))
      return governor_.on({time_, regulation::QueuesSeen{look->step, {}}});
    if (const auto* write = std::get_if<regulation::WriteTables>(&action)) {
      for (unsigned p = 0; p < 2; ++p) {
        if (!write->plane || *write->plane == p) tables_[p] = write->active;
      }
      latest_.reset();
      return governor_.on({time_, regulation::StepDone{write->step}});
    }
    if (const auto* migrate = std::get_if<regulation::Migrate>(&action)) {
      plane_ = migrate->plane;
      latest_.reset();
      return governor_.on({time_, regulation::StepDone{migrate->step}});
    }
    if (const auto* report = std::get_if<regulation::Report>(&action)) {
      if (arguments_.quarters && report->kind != regulation::ReportKind::Confirmed &&
          report->kind != regulation::ReportKind::Excluded)
        fmt::print("    {:.0f} s {}: {} links: {}\n",
                   std::chrono::duration<double>(time_.time_since_epoch()).count(), to_string(report->kind),
                   report->links.size(), report->reason.substr(0, 160));
      return {};
    }
    const auto* ports = std::get_if<regulation::SetPorts>(&action);
    return ports == nullptr ? std::vector<regulation::Action>{} : set_ports(*ports);
  }
  std::vector<regulation::Action> set_ports(const regulation::SetPorts& ports) {
    bool trains = false;
    for (const regulation::PortOrder& order : ports.ports) {
      const LinkIndex link = fabric_->port(fabric_->find_port(order.link.a)).link;
      if (!order.mode.on()) {
        up_.erase(link);
        ++hour_.closed;
        continue;
      }
      trains = true;
      ++hour_.opened;
      const std::string reason = why(link);
      ++hour_.reasons[reason];
      const Picoseconds takes = sim::training_time({arguments_.seed, Picoseconds{2s}, Picoseconds{180s}},
                                                   link, trainings_[link.raw()]++);
      // Links are looked at once a second.
      const auto whole = std::chrono::ceil<std::chrono::seconds>(takes);
      training_.emplace(time_ + whole, std::pair{ports.step, link});
      ++left_of_[ports.step];
    }
    latest_.reset();
    if (trains) return {};
    return governor_.on({time_, regulation::StepDone{ports.step}});
  }
  [[nodiscard]] std::string why(LinkIndex link) {
    for (const auto& status : governor_.links()) {
      if (status.link != link_ref(*fabric_, fabric_->link(link))) continue;
      return status.reason.substr(0, status.reason.find_first_of(":0123456789"));
    }
    return "";
  }

  static constexpr std::chrono::seconds sampling = 30s;
  const Arguments& arguments_;
  std::shared_ptr<const Fabric> fabric_;
  regulation::Governor governor_;
  std::unique_ptr<regulation::Network> network_;
  std::vector<sim::TrafficFlow> flows_;
  routing::LinkSet up_;
  std::vector<power::LinkMode> modes_;
  routing::LinkSet tables_[2];
  unsigned plane_ = 0;
  Instant time_{};
  Instant next_sample_{13s};
  Instant changed_at_{};
  std::multimap<Instant, std::pair<regulation::StepId, LinkIndex>> training_;
  std::map<regulation::StepId, std::size_t> left_of_;
  std::vector<std::uint32_t> trainings_;
  std::optional<Delivery> latest_;
  std::optional<Delivery> before_;
  double with_all_on_ = 0;
  Account hour_;
};

bool take(Arguments& arguments, std::string_view text) {
  const auto value = [&](std::string_view key) -> std::optional<std::string> {
    if (!text.starts_with(key)) return std::nullopt;
    return std::string{text.substr(key.size())};
  };
  auto& governor = arguments.governor;
  if (const auto seed = value("--seed=")) {
    arguments.seed = std::stoull(*seed);
  } else if (const auto hours = value("--hours=")) {
    arguments.from = std::stoi(*hours);
    arguments.to = std::stoi(hours->substr(hours->find('-') + 1));
  } else if (const auto quiet = value("--quiet=")) {
    governor.quiet = std::chrono::seconds{std::stol(*quiet)};
  } else if (const auto least = value("--least-on=")) {
    governor.least_on = std::chrono::seconds{std::stol(*least)};
  } else if (const auto every = value("--plan-every=")) {
    governor.plan_every = std::chrono::seconds{std::stol(*every)};
  } else if (const auto policy = value("--policy=")) {
    governor.select.policy = *regulation::select_policy_from(*policy);
  } else if (text == "--for=any") {
    governor.chosen_for = regulation::ChosenFor::Any;
  } else if (text == "--quarters") {
    arguments.quarters = true;
  } else if (text.starts_with("--")) {
    return false;
  } else {
    arguments.fabric = text;
  }
  return true;
}

}  // namespace
}  // namespace heddle::testing_support

int main(int argc, char** argv) {
  using namespace heddle::testing_support;
  Arguments arguments;
  arguments.governor.mode = heddle::regulation::Mode::Enforce;
  arguments.governor.select.policy = heddle::regulation::SelectPolicy::General;
  arguments.governor.power = heddle::power::PowerModel{
      heddle::power::shipped_models(), heddle::power::Unmatched::Unknown, heddle::power::Cable::Aoc};
  for (int i = 1; i < argc; ++i) {
    if (!take(arguments, argv[i])) {
      fmt::print(stderr, "{}: not an option; see the head of regulation_day.cc\n", argv[i]);
      return 2;
    }
  }
  Day{arguments}.run();
  return 0;
}

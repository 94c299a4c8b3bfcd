/// `heddle what-if`: what is lost, by names, in text and in JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fstream>
#include <vector>

#include "base/json_access.h"
#include "fabric/generators.h"
#include "heddle/command.h"
#include "routing/engine.h"
#include "support/scratch.h"
#include "twin/predict.h"
#include "unit/cli/fake_daemon.h"
#include "unit/cli/run_heddle.h"
#include "unit/cli/twin_answer.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;

Ran say_what_if(const std::vector<std::string>& arguments) {
  return run_heddle({add_what_if_commands}, arguments);
}

/// Of two leaves with two hosts each, under two spines.
Ran what_if(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--json", "what-if", "--fabric", "tree:k=2,n=2"});
  return say_what_if(arguments);
}

TEST(WhatIf, ASpineDoublesTheLoadAndALeafTakesItsHosts) {
  const auto spine = what_if({"--without", "spine-0"});
  ASSERT_EQ(spine.status, Status::Done) << spine.err;
  const auto without_spine = boost::json::parse(spine.out);
  EXPECT_EQ(without_spine.at("then").at("largest_load").to_number<double>(),
            2 * without_spine.at("now").at("largest_load").to_number<double>());
  EXPECT_TRUE(without_spine.at("then").at("cut_off").as_array().empty());
  const auto both = what_if({"--without", "leaf-1", "--without", "spine-0"});
  ASSERT_EQ(both.status, Status::Done) << both.err;
  const auto without_both = boost::json::parse(both.out);
  EXPECT_EQ(without_both.at("then").at("cut_off").as_array().size(), 2U);
  EXPECT_EQ(without_both.at("then").at("pairs_cut").to_number<double>(), 10);
}

TEST(WhatIf, EachFailureByItselfTheWorstFirst) {
  const auto switches = what_if({"--fail-each", "switch"});
  ASSERT_EQ(switches.status, Status::Done) << switches.err;
  const auto answer = boost::json::parse(switches.out);
  const auto& failures = answer.at("failures").as_array();
  ASSERT_EQ(failures.size(), 4U);
  EXPECT_THAT(std::string(failures[0].at("without").as_string()), HasSubstr("leaf"));
  EXPECT_THAT(std::string(failures[3].at("without").as_string()), HasSubstr("spine"));
  const auto links = what_if({"--fail-each", "link"});
  ASSERT_EQ(links.status, Status::Done) << links.err;
  const auto of_links = boost::json::parse(links.out);
  ASSERT_EQ(of_links.at("failures").as_array().size(), 4U);
  for (const auto& failure : of_links.at("failures").as_array()) {
    EXPECT_TRUE(failure.at("cut_off").as_array().empty());
  }
}

double largest_then(const Ran& ran) {
  EXPECT_EQ(ran.status, Status::Done) << ran.err;
  return boost::json::parse(ran.out).at("then").at("largest_load").to_number<double>();
}

TEST(WhatIf, WithOtherRootsOrMoreLids) {
  // Hosts at all switches of a ring: the way over the last one, far from the root, is closed.
  const std::vector<std::string> ring{"--json", "what-if", "--fabric", "torus:5,hosts=1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), ring.begin(), ring.end());
    return say_what_if(more);
  };
  const auto other = with({"--roots", "sw-3"});
  ASSERT_EQ(other.status, Status::Done) << other.err;
  const auto answer = boost::json::parse(other.out);
  EXPECT_EQ(answer.at("then").at("pairs_without_path").to_number<double>(), 0);
  EXPECT_EQ(answer.at("then").at("largest_load"), answer.at("now").at("largest_load"))
      << "it looks the same from all";
  EXPECT_LE(largest_then(what_if({"--lmc", "1"})), largest_then(what_if({"--lmc", "0"})));
  EXPECT_GT(largest_then(what_if({"--lmc", "1", "--without", "spine-0"})),
            largest_then(what_if({"--lmc", "1"})));
  EXPECT_THAT(with({"--roots", "nobody"}).err, HasSubstr("--roots"));
  EXPECT_EQ(with({"--lmc", "9"}).status, Status::Usage);
  EXPECT_EQ(with({"--fail-each", "switch", "--lmc", "1"}).status, Status::Failed);
}

TEST(WhatIf, TellsPeopleTheSame) {
  const std::vector<std::string> tree{"what-if", "--fabric", "tree:k=2,n=2"};
  auto leaf = tree;
  leaf.insert(leaf.end(), {"--without", "leaf-1"});
  EXPECT_THAT(say_what_if(leaf).out, HasSubstr("cut off: host-"));
  auto each = tree;
  each.insert(each.end(), {"--fail-each", "switch", "--top", "1"});
  EXPECT_THAT(say_what_if(each).out, HasSubstr("2 of 4 leave every host its paths to all others"));
  EXPECT_THAT(say_what_if(each).out, HasSubstr("and 3 more (--top)"));
}

TEST(WhatIf, GivesNoFigureOfWhatIsNotMeasured) {
  for (const char* option : {"--top", "--samples"}) {
    for (const char* value : {"-1", "x"}) {
      EXPECT_EQ(what_if({"--fail-each", "link", option, value}).status, Status::Usage) << option << value;
    }
  }
  const auto unmeasured = what_if({"--without", "leaf-1", "--samples", "0"});
  EXPECT_TRUE(boost::json::parse(unmeasured.out).at("then").at("effective_bisection").is_null());
}

TEST(WhatIf, SaysWhatItDoesNotKnow) {
  EXPECT_THAT(what_if({"--without", "leaf-7"}).err, HasSubstr("leaf-7"));
  EXPECT_THAT(what_if({"--without", "leaf-1/77"}).err, HasSubstr("no port 77"));
  EXPECT_THAT(what_if({}).err, HasSubstr("one of --without"));
  EXPECT_THAT(what_if({"--without", "leaf-1", "--engine", "nue"}).err, HasSubstr("no engine \"nue\""));
}

/// Of two leaves with two hosts each, under two spines, as heddled would tell of it: min-hop tables, and one
/// host that sends half of what it can to each of the two at the other leaf.
class Running {
 public:
  Running() {
    const routing::LinkSet all = routing::LinkSet::all(*fabric_);
    const twin::View view{*fabric_, routes_.graph, routes_.tables, all, nullptr};
    const auto traffic = twin::predict(view, [this](sim::TrafficPlane& plane) -> Result<void> {
      for (const char* to : {"host-2 mlx5_0", "host-3 mlx5_0"}) {
        const auto added = plane.add(
            {.from = port_of("host-0 mlx5_0"), .to = port_of(to), .demand = BitRate{40e9}}, Picoseconds{0});
        if (!added) return fail(added.error());
      }
      return {};
    });
    load_ = traffic.value().load;
  }

  [[nodiscard]] FakeDaemon::Answer answer(bool outdated = false) const {
    return twin_answer(*fabric_, routes_.graph, routes_.tables, load_, {}, outdated);
  }

 private:
  [[nodiscard]] PortIndex port_of(std::string_view name) const {
    for (const Node& node : fabric_->nodes()) {
      if (node.description == name) return PortIndex{node.first_port.raw() + 1};
    }
    return no_port;
  }

  std::shared_ptr<const Fabric> fabric_ = assign_lids(**generate("tree:k=2,n=2"), 0).value();
  routing::Routes routes_ =
      *routing::route(*fabric_, routing::LinkSet::all(*fabric_), routing::Engine::MinHop, {});
  std::vector<double> load_;
};

Ran of_running(std::vector<std::string> arguments) {
  FakeDaemon daemon{{{"/v1/twin", Running{}.answer()}}};
  arguments.insert(arguments.begin(), {"--socket", daemon.path()});
  return say_what_if(arguments);
}

TEST(WhatIfOfTheRunningFabric, ByItsTablesAndItsLoads) {
  const Ran ran = of_running({"--json", "what-if", "--without", "spine-0"});
  ASSERT_EQ(ran.status, Status::Done) << ran.err;
  const auto answer = boost::json::parse(ran.out);
  EXPECT_EQ(text_at(answer, "tables.made_by"), "updn") << "which makes the same here";
  EXPECT_EQ(number_at(answer, "tables.agreement"), 1);
  EXPECT_EQ(number_at(answer, "tables.age_seconds"), 200);
  EXPECT_EQ(text_at(answer, "flows.source"), "estimated");
  EXPECT_GT(number_at(answer, "flows.error.worst"), 0);
  // What host-0 sends, 80 Gbit/s, over one spine or two, and then over one.
  EXPECT_NEAR(number_at(answer, "now.traffic.carried_bytes_per_second"), 10e9, 1e7);
  EXPECT_NEAR(number_at(answer, "then.traffic.carried_bytes_per_second"), 10e9, 1e7);
  const double all = number_at(answer, "then.traffic.largest_share");
  EXPECT_GE(all, number_at(answer, "now.traffic.largest_share"));
  EXPECT_NEAR(all, number_at(answer, "now.traffic.largest_share_of_hosts"), 1e-3);
  EXPECT_THAT(of_running({"what-if", "--without", "spine-0"}).out,
              testing::AllOf(HasSubstr("tables: read back 3 min ago"), HasSubstr("as updn makes them"),
                             HasSubstr("traffic: estimated"), HasSubstr("busiest link between switches")));
}

// A cable that has gone since leads nowhere by the old tables, and by those of now nobody may miss it.
TEST(WhatIfOfTheRunningFabric, WhetherItsTablesAreOlderThanItsCables) {
  const auto said = [](bool outdated, std::vector<std::string> arguments) {
    FakeDaemon daemon{{{"/v1/twin", Running{}.answer(outdated)}}};
    arguments.insert(arguments.begin(), {"--socket", daemon.path()});
    return say_what_if(std::move(arguments)).out;
  };
  EXPECT_THAT(said(true, {"what-if", "--without", "spine-0"}),
              HasSubstr("outdated: the fabric has changed since"));
  EXPECT_THAT(said(false, {"what-if", "--without", "spine-0"}), testing::Not(HasSubstr("outdated")));
  const std::string answer = said(true, {"--json", "what-if", "--without", "spine-0"});
  EXPECT_TRUE(truth_at(boost::json::parse(answer), "tables.outdated"));
}

TEST(WhatIfOfTheRunningFabric, WithTrafficThatIsGiven) {
  const test::Scratch directory;
  const std::string file = directory / "flows.toml";
  std::ofstream{file} << "[[phase]]\npattern = \"flows\"\nflows = [{ from = \"host-0*\", to = \"host-3*\", "
                         "load = 0.25 }]\n";
  const auto answer =
      boost::json::parse(of_running({"--json", "what-if", "--without", "spine-1", "--flows", file}).out);
  EXPECT_EQ(text_at(answer, "flows.source"), "given");
  EXPECT_NEAR(number_at(answer, "now.traffic.largest_share"), 0.25, 1e-6);
  EXPECT_NEAR(number_at(answer, "then.traffic.largest_share"), 0.25, 1e-6);
  EXPECT_THAT(of_running({"what-if", "--without", "spine-1", "--flows", "/nowhere"}).err,
              HasSubstr("--flows"));
  const auto at = [&](const char* when) {
    return of_running({"what-if", "--without", "spine-1", "--flows", file, "--at", when}).status;
  };
  EXPECT_EQ(at("-1s"), Status::Usage);
  EXPECT_EQ(at("1s"), Status::Done);
  EXPECT_EQ(at("1e300d"), Status::Done) << "its end";
}

TEST(WhatIfOfTheRunningFabric, WithAJobMore) {
  const auto answer =
      boost::json::parse(of_running({"--json", "what-if", "--add-job", "host-[1-3]:all-to-all:0.5",
                                     "--add-job", "host-*:neighbour:0.1"})
                             .out);
  EXPECT_GT(number_at(answer, "then.traffic.flows"), number_at(answer, "now.traffic.flows"));
  EXPECT_GT(number_at(answer, "then.traffic.wanted_bytes_per_second"),
            number_at(answer, "now.traffic.wanted_bytes_per_second"));
  for (const char* job : {"host-1:uniform:0.5", "host-[1-3]:nothing:0.5", "host-[1-3]:uniform:2", "host-1"}) {
    EXPECT_THAT(of_running({"what-if", "--add-job", job}).err, HasSubstr("--add-job")) << job;
  }
}

TEST(WhatIfOfTheRunningFabric, RegulatedOrRoutedInAnotherWay) {
  const auto regulated = boost::json::parse(of_running({"--json", "what-if", "--regulate", "general"}).out);
  EXPECT_EQ(number_at(regulated, "then.pairs_without_path"), 0);
  EXPECT_FALSE(array_at(regulated, "then.switches_on_one_cable").empty()) << "links are off";
  const auto routed = boost::json::parse(of_running({"--json", "what-if", "--engine", "ftree"}).out);
  EXPECT_EQ(text_at(routed, "tables.made_by"), "updn") << "of what is in force";
  EXPECT_EQ(number_at(routed, "then.pairs_without_path"), 0);
  EXPECT_THAT(of_running({"what-if", "--regulate", "general", "--without", "spine-0"}).err,
              HasSubstr("--regulate"));
}

TEST(WhatIfOfTheRunningFabric, EachFailureWithItsLoad) {
  const auto each = boost::json::parse(of_running({"--json", "what-if", "--fail-each", "link"}).out);
  ASSERT_EQ(array_at(each, "failures").size(), 4U);
  EXPECT_GT(number_at(array_at(each, "failures")[0], "traffic.largest_share"), 0);
  EXPECT_THAT(of_running({"what-if", "--fail-each", "switch"}).out, HasSubstr("LOAD"));
}

TEST(WhatIfOfTheRunningFabric, WithQosTables) {
  const test::Scratch directory;
  const std::string file = directory / "plan.json";
  std::ofstream{file} << R"({"qos": {"vlarb_high": [[0, 64]], "vlarb_low": [[1, 64]], "high_limit": 255,
    "sl2vl": [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}})";
  const auto answer = boost::json::parse(of_running({"--json", "what-if", "--qos", file}).out);
  EXPECT_NEAR(number_at(answer, "then.traffic.carried_bytes_per_second"),
              number_at(answer, "now.traffic.carried_bytes_per_second"), 1e7);
  EXPECT_THAT(of_running({"what-if", "--qos", "/nowhere"}).err, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace heddle::cli

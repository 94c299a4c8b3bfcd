#include "app/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <sstream>

#include "support/places.h"

namespace heddle::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto config = parse_config(text, "heddle.toml");
  return config ? "no error" : config.error().message;
}

TEST(Config, TheDefaultFileSaysTheDefaults) {
  const auto config = parse_config(default_config_text(), "default");
  ASSERT_TRUE(config) << config.error().message;
  const Config built_in;
  EXPECT_EQ(config->sampling.interval, built_in.sampling.interval);
  EXPECT_EQ(config->sampling.window, built_in.sampling.window);
  EXPECT_EQ(config->sampling.per_agent, built_in.sampling.per_agent);
  EXPECT_EQ(config->sampling.timeout, built_in.sampling.timeout);
  EXPECT_EQ(config->sampling.retries, built_in.sampling.retries);
  EXPECT_EQ(config->sampling.history, built_in.sampling.history);
  EXPECT_EQ(config->sweep.light_interval, built_in.sweep.light_interval);
  EXPECT_EQ(config->sweep.heavy_interval, built_in.sweep.heavy_interval);
  EXPECT_EQ(config->fabric.backend, built_in.fabric.backend);
  EXPECT_EQ(config->fabric.seed, built_in.fabric.seed);
  EXPECT_EQ(config->sm.mode, built_in.sm.mode);
  EXPECT_EQ(config->sm.sm_key, built_in.sm.sm_key);
  EXPECT_EQ(config->sm.engine, built_in.sm.engine);
  EXPECT_EQ(config->metrics.listen, built_in.metrics.listen);
  EXPECT_EQ(config->control.socket, built_in.control.socket);
  EXPECT_EQ(config->control.group, built_in.control.group);
  EXPECT_EQ(config->control.others_may_read, built_in.control.others_may_read);
  EXPECT_EQ(config->state.directory, built_in.state.directory);
  EXPECT_EQ(config->log.level, built_in.log.level);
}

TEST(Config, AnAnswerIsNotWaitedForForEver) {
  Config config;
  ASSERT_TRUE(override_config(config, "sampling.timeout=10s"));
  EXPECT_TRUE(check_config(config));
  ASSERT_TRUE(override_config(config, "sampling.timeout=11s"));
  const auto bad = check_config(config);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("10s"));
}

// Nobody becomes subnet manager of a real fabric without having said so.
TEST(Config, WithoutAWordASubnetIsManagedOnASimulatedFabricOnly) {
  Config config;
  EXPECT_FALSE(may_manage_subnet(config));
  ASSERT_TRUE(override_config(config, "fabric.backend=sim"));
  EXPECT_TRUE(may_manage_subnet(config));
  ASSERT_TRUE(override_config(config, "fabric.read_only=true"));
  EXPECT_FALSE(may_manage_subnet(config));
  Config asked;
  ASSERT_TRUE(override_config(asked, "sm.mode=auto"));
  EXPECT_TRUE(may_manage_subnet(asked));
  ASSERT_TRUE(override_config(asked, "opensm.plugin=true"));
  EXPECT_FALSE(may_manage_subnet(asked)) << "OpenSM is the subnet manager";
}

TEST(Config, ListsAreListsOrTextWithCommas) {
  const auto config =
      parse_config("[regulation]\npin = [\"spine-*\", \"leaf-0/3\"]\nreduce = [\"1xSDR\"]\n", "t");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->regulation.pin, testing::ElementsAre("spine-*", "leaf-0/3"));
  using Mode = power::LinkMode;
  EXPECT_THAT(config->regulation.governor.select.reductions,
              testing::ElementsAre(Mode{LinkWidth::X1, LinkSpeed::Sdr}));
  Config other;
  ASSERT_TRUE(override_config(other, "regulation.pin=a,b/1 -- c/2"));
  EXPECT_THAT(other.regulation.pin, testing::ElementsAre("a", "b/1 -- c/2"));
  ASSERT_TRUE(override_config(other, "regulation.reduce=4xSDR,1xSDR"));
  EXPECT_EQ(governor_options(other).select.reductions.size(), 2U);
  EXPECT_THAT(error_of("[regulation]\nreduce = [\"half\"]\n"), AllOf(HasSubstr(":2:"), HasSubstr("4xSDR")));
  EXPECT_THAT(error_of("[regulation]\npin = 3\n"), HasSubstr("a list of strings"));
  EXPECT_THAT(error_of("[regulation]\npin = [3]\n"), HasSubstr("list of strings"));
}

TEST(Config, SectionsWithinSections) {
  const auto config =
      parse_config("[metrics.tls]\ncert_file = \"c\"\nmin_version = \"TLS13\"\n", "heddle.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->metrics.tls.cert_file, "c");
  EXPECT_EQ(config->metrics.tls.min_version, "TLS13");
  EXPECT_EQ(check_config(*config).error().message,
            "metrics.tls.cert_file and metrics.tls.key_file go together");
  EXPECT_THAT(error_of("[metrics.tls]\nkey = \"k\"\n"), HasSubstr("there is no key metrics.tls.key"));
  EXPECT_THAT(error_of("[metrics.tls]\nmin_version = \"TLS10\"\n"), HasSubstr("TLS12"));
}

TEST(Config, APriceAndModelsOfSwitchesStandInOneSection) {
  const auto config = parse_config(
      "[power]\nprice = 0.21\ncurrency = \"SEK\"\n[[power.model]]\npattern = \"*\"\nbase = 1\n"
      "ports = [ { mode = \"4xHDR\", watts = 1 } ]\n",
      "heddle.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tariff.price, 0.21);
  EXPECT_EQ(config->tariff.currency, "SEK");
  EXPECT_EQ(config->power_models.size(), 1U);
  EXPECT_FALSE(Config{}.tariff.price);
  EXPECT_THAT(error_of("[power]\nprice = -1\n"), HasSubstr("from 0 to"));
  EXPECT_THAT(error_of("[power]\nmodels = 3\n"), HasSubstr("there is no key power.models"));
}

TEST(Config, SwitchesOnHardwareHaveTheShippedModels) {
  Node quantum;
  quantum.type = NodeType::Switch;
  quantum.vendor_id = 0x2c9;
  quantum.device_id = 0xd2f0;
  Node other = quantum;
  other.device_id = 0xbd36;
  const auto base = [](const std::string& text, const Node& node) {
    const auto config = parse_config(text, "heddle.toml");
    EXPECT_TRUE(config) << config.error().message;
    const power::PowerModel model = governor_options(*config).power;
    return model.is_unknown(node) ? -1 : model.base(node).value();
  };
  EXPECT_DOUBLE_EQ(base("[fabric]\nbackend = \"umad\"\n", quantum), 111);
  EXPECT_DOUBLE_EQ(base("[fabric]\nbackend = \"umad\"\n", other), -1);
  EXPECT_DOUBLE_EQ(base("[power]\nunknown = \"sfs7000d\"\n", other), 43.4);
  EXPECT_DOUBLE_EQ(base("[power]\nswitches = \"sfs7000d\"\n", quantum), 43.4);
  EXPECT_DOUBLE_EQ(base("[fabric]\nbackend = \"sim\"\n", quantum), 43.4);
  EXPECT_DOUBLE_EQ(base("[fabric]\nbackend = \"sim\"\n[power]\nswitches = \"shipped\"\n", quantum), 111);
  // What the configuration says comes first.
  EXPECT_DOUBLE_EQ(
      base("[[power.model]]\ndevice = 0xd2f0\nbase = 7\nports = [ { mode = \"4xHDR\", watts = 1 } ]\n",
           quantum),
      7);
}

TEST(Config, WhatWasMeasuredAtSwitches) {
  const auto config = parse_config(
      "[power]\ncables = \"optical\"\nmeasured = [ { switch = \"leaf-1\", watts = 131.5 }, { switch = "
      "\"leaf-1\", "
      "watts = 118, ports = 20 } ]\n",
      "heddle.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->power.cables, power::Cable::Optical);
  ASSERT_EQ(config->power.measured.size(), 2U);
  EXPECT_EQ(config->power.measured[0].node, "leaf-1");
  EXPECT_EQ(config->power.measured[0].ports, std::nullopt);
  EXPECT_DOUBLE_EQ(config->power.measured[1].watts.value(), 118);
  EXPECT_EQ(config->power.measured[1].ports, 20U);
  for (const char* wrong :
       {"{ watts = 3 }", "{ switch = \"a\" }", "{ switch = \"a\", watts = -1 }",
        "{ switch = \"a\", watts = 1, ports = -1 }", "{ switch = \"a\", watts = 1, price = 2 }", "3"}) {
    EXPECT_THAT(error_of(std::string("[power]\nmeasured = [ ") + wrong + " ]\n"),
                AllOf(HasSubstr("heddle.toml:2"), HasSubstr("power.measured takes")))
        << wrong;
  }
}

// After a change of the keys: heddled --print-config > systemd/heddle.toml
TEST(Config, TheShippedFileIsTheDefault) {
  std::ifstream file{test::source_directory() / "systemd/heddle.toml"};
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), default_config_text());
}

TEST(Config, ErrorsNameFileLineAndKey) {
  EXPECT_THAT(error_of("[sampling]\n\nintervall = \"1s\"\n"),
              AllOf(HasSubstr("heddle.toml:3"), HasSubstr("sampling.intervall"),
                    HasSubstr("did you mean sampling.interval?")));
  EXPECT_THAT(error_of("[sampling]\ninterval = \"fast\"\n"), AllOf(HasSubstr(":2:"), HasSubstr("500ms")));
  EXPECT_THAT(error_of("[sampling]\nwindow = 0\n"), HasSubstr("from 1 to 4096"));
  EXPECT_THAT(error_of("[fabric]\nbackend = \"ethernet\"\n"), HasSubstr("\"umad\" or \"sim\""));
  EXPECT_THAT(error_of("[fabric\n"), HasSubstr("heddle.toml:1"));
  EXPECT_THAT(error_of("backend = 1\n"), HasSubstr("outside of any [section]"));
  EXPECT_THAT(error_of("[sampling]\ninterval = [1]\n"), HasSubstr("plain value"));
}

TEST(Config, ALaterVersionIsRefused) {
  EXPECT_TRUE(parse_config("version = 1\n[sampling]\nwindow = 8\n", "heddle.toml"));
  EXPECT_TRUE(parse_config("[sampling]\nwindow = 8\n", "heddle.toml"));
  EXPECT_THAT(error_of("version = 2\n"), AllOf(HasSubstr("heddle.toml:1"), HasSubstr("later Heddle")));
  EXPECT_THAT(error_of("version = 0\n"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("version = \"1\"\n"), HasSubstr("whole number"));
}

TEST(Config, DurationsInEveryUnit) {
  const auto config = parse_config(
      "[sampling]\ninterval = \"2min\"\ntimeout = \"1.5ms\"\n[sweep]\nlight_interval = 7\nheavy_interval = "
      "\"1h\"\n",
      "x");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->sampling.interval, 2min);
  EXPECT_EQ(config->sampling.timeout, 1500us);
  EXPECT_EQ(config->sweep.light_interval, 7s);
  EXPECT_EQ(config->sweep.heavy_interval, 1h);
}

TEST(Config, NamedSets) {
  const auto config = parse_config("[[locality.set]]\nname = \"rack\"\nnodes = [\"a*\", \"b\"]\n", "x");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->sets.size(), 1U);
  EXPECT_EQ(config->sets[0].nodes.size(), 2U);
  EXPECT_THAT(error_of("[[locality.set]]\nname = \"rack\"\n"), HasSubstr("needs a name and nodes"));
  EXPECT_THAT(error_of("[[locality.set]]\nname = \"rack\"\nnodes = [1]\n"), HasSubstr("list of strings"));
}

TEST(Config, SetOverridesAnyKey) {
  Config config;
  ASSERT_TRUE(override_config(config, "sampling.interval=250ms"));
  EXPECT_EQ(config.sampling.interval, 250ms);
  ASSERT_TRUE(override_config(config, "fabric.file=123"));
  EXPECT_EQ(config.fabric.file, "123");
  ASSERT_TRUE(override_config(config, "control.others_may_read=true"));
  EXPECT_TRUE(config.control.others_may_read);
  EXPECT_FALSE(override_config(config, "sampling.window=many"));
  EXPECT_FALSE(override_config(config, "sampling.windows=3"));
  EXPECT_FALSE(override_config(config, "sampling"));
}

TEST(Config, ASimulatedFabricNeedsADescription) {
  Config config;
  config.fabric.backend = BackendKind::Sim;
  EXPECT_FALSE(check_config(config));
  config.fabric.generate = "tree:k=4,n=2";
  EXPECT_TRUE(check_config(config));
  config.fabric.file = "/no/such/file";
  EXPECT_FALSE(check_config(config));
}

TEST(Config, APacketLifeThatNoPlanCanHaveIsRefused) {
  Config config;
  config.regulation.governor.packet_life = std::chrono::hours{1};
  EXPECT_TRUE(check_config(config));
  config.regulation.governor.packet_life = std::chrono::hours{2};
  const auto checked = check_config(config);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("regulation.packet_life: expected an hour at most"));
  // Of which a plan, in microseconds, would have 0.
  config.regulation.governor.packet_life = std::chrono::nanoseconds{999};
  const auto too_short = check_config(config);
  ASSERT_FALSE(too_short);
  EXPECT_THAT(too_short.error().message, HasSubstr("regulation.packet_life: expected 1us at least"));
  config.regulation.governor.packet_life = std::chrono::nanoseconds{0};
  EXPECT_TRUE(check_config(config));
}

TEST(Config, ADirectoryIsNoFileForTables) {
  Config config;
  config.opensm.lfts_file = testing::TempDir();
  const auto checked = check_config(config);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message,
              HasSubstr("opensm.lfts_file: " + testing::TempDir() + " is a directory"));
  config.opensm.lfts_file += "lfts";
  EXPECT_TRUE(check_config(config));
}

TEST(Config, APathThatNoSocketCanHaveIsRefused) {
  const std::string path = "/tmp/" + std::string(120, 'x');
  Config config;
  config.control.socket = path;
  auto checked = check_config(config);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "control.socket: " + path + ": must have 1 to 107 characters");
  config = {};
  config.opensm.socket = path;
  EXPECT_TRUE(check_config(config)) << "nobody listens there";
  config.opensm.plugin = true;
  checked = check_config(config);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("opensm.socket: " + path));
}

TEST(Config, AnAddressThatNobodyCanListenOnIsRefused) {
  Config config;
  for (const std::string listen : {"127.0.0.1:99999", "127.0.0.1", "localhost:9683", "[::1]9683"}) {
    config.metrics.listen = listen;
    const auto checked = check_config(config);
    ASSERT_FALSE(checked) << listen;
    EXPECT_THAT(checked.error().message, HasSubstr("metrics.listen: " + listen + ": expected an address"));
  }
  for (const std::string listen : {"127.0.0.1:9683", "[::1]:0", ""}) {
    config.metrics.listen = listen;
    EXPECT_TRUE(check_config(config)) << listen;
  }
}

TEST(Config, OnlyASimulatedFabricIsServed) {
  Config config;
  config.fabric.serve = "lab";
  const auto checked = check_config(config);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("fabric.serve"));
  config.fabric.backend = BackendKind::Sim;
  config.fabric.generate = "tree:k=4,n=2";
  EXPECT_TRUE(check_config(config));
}

TEST(Config, AnyTextIsReadOrRefused) {
  EXPECT_TRUE(rc::check([](const std::string& text) { (void)parse_config(text, "x"); }));
  const std::string whole = default_config_text();
  EXPECT_TRUE(rc::check([&whole] {
    std::string text = whole;
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    (void)parse_config(text, "x");
  }));
}

Result<void> checked(const std::string& text) {
  const auto config = parse_config("[fabric]\nbackend = \"umad\"\n" + text, "heddle.toml");
  return config ? check_config(*config) : fail(config.error());
}

TEST(SharedStateConfig, NeedsEndpointsThatNobodyListensTo) {
  const auto etcd = [](const std::string& keys) {
    return checked("[state]\nbackend = \"etcd\"\n[state.etcd]\n" + keys);
  };
  EXPECT_TRUE(etcd("endpoints = [\"https://a:2379\", \"http://127.0.0.1:2379\", \"http://[::1]:2379\"]"));
  EXPECT_TRUE(checked("[state.etcd]\nendpoints = [\"http://a:2379\"]"));  // not in use
  const auto named = [&](const std::string& keys, const char* key) {
    const auto good = etcd(keys);
    ASSERT_FALSE(good);
    EXPECT_THAT(good.error().message, HasSubstr(key));
  };
  const std::string well = "endpoints = [\"https://a:2379\"]\n";
  named("", "state.etcd.endpoints");
  named("endpoints = [\"http://192.0.2.1:2379\"]", "plain HTTP");
  named("endpoints = [\"etcd\"]", "state.etcd.endpoints");
  named(well + "lease = \"1s\"", "state.etcd.lease");
  named(well + "lease = \"2500ms\"", "state.etcd.lease");
  named(well + "prefix = \"/heddle/\"", "state.etcd.prefix");
  named(well + "cert = \"a.pem\"", "state.etcd.key");
  named(well + "[opensm]\nlfts_file = \"/tmp/lfts\"", "opensm.lfts_file");
}

}  // namespace
}  // namespace heddle::app

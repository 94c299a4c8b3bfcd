#include "record/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "record/recorder.h"

namespace heddle::record {
namespace {

using namespace std::chrono_literals;

Opening opening() {
  Opening made;
  made.build = "1.2.3";
  made.configuration = "[fabric]\n";
  made.overrides = {"a.b=1", ""};
  made.node_names = "0x1 \"one\"\n";
  made.calendar = {journal::WallTime{1234567ms}, Instant{5s}};
  made.journal = std::string("\0image", 6);
  made.qos = "{}";
  made.left_off = {{NodeGuid{7}, PortNum{3}}};
  made.hosts = true;
  return made;
}

Entry entry() {
  Entry made;
  made.kind = Kind::Arrived;
  made.now = Instant{17ns};
  made.body = "body";
  made.answers = {{Answer::What::LocalIs, 0, {NodeGuid{1}, PortGuid{2}, PortNum{3}, Lid{4}, Lid{5}}, {}},
                  {Answer::What::SendFailed, 3, {}, {ErrorCode::Refused, "no"}}};
  made.deeds = 4;
  made.digest = 0xfedcba9876543210;
  return made;
}

TEST(Recording, AnOpeningSurvivesARoundTrip) {
  const Opening made = opening();
  const auto read = parse_opening(to_bytes(made));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_bytes(*read), to_bytes(made));
  EXPECT_EQ(read->overrides, made.overrides);
  EXPECT_EQ(read->journal, made.journal);
  EXPECT_EQ(read->calendar.wall, made.calendar.wall);
  EXPECT_EQ(read->calendar.fabric, made.calendar.fabric);
  EXPECT_TRUE(read->hosts);
  EXPECT_FALSE(read->segments);
}

TEST(Recording, AnEntrySurvivesARoundTrip) {
  const Entry made = entry();
  const auto read = parse_entry(to_bytes(made));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_bytes(*read), to_bytes(made));
  EXPECT_EQ(read->now, made.now);
  EXPECT_EQ(read->answers.at(0).port.sm_lid, Lid{5});
  EXPECT_EQ(read->answers.at(1).error.message, "no");
  EXPECT_EQ(read->digest, made.digest);
}

TEST(Recording, WhatIsNotWholeIsAnError) {
  for (const std::string& bytes : {to_bytes(opening()), to_bytes(entry())}) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(parse_opening(bytes.substr(0, size)));
      EXPECT_FALSE(parse_entry(bytes.substr(0, size)));
    }
    EXPECT_FALSE(parse_opening(bytes + "x"));
    EXPECT_FALSE(parse_entry(bytes + "x"));
  }
}

/// An entry whose number at a place is another one.
std::string with_byte(std::string bytes, std::size_t place, char value) {
  bytes.at(place) = value;
  return bytes;
}

TEST(Recording, WhatCannotBeIsAnError) {
  const std::string good = to_bytes(entry());
  const std::size_t answers = 1 + sizeof(std::int64_t) + 4 + entry().body.size() + 4;
  ASSERT_TRUE(parse_entry(with_byte(good, 0, static_cast<char>(Kind::StopAsked))));
  EXPECT_FALSE(parse_entry(with_byte(good, 0, static_cast<char>(Kind::StopAsked) + 1))) << "a kind";
  EXPECT_FALSE(parse_entry(with_byte(good, 8, '\x7f'))) << "a time in 290 years";
  EXPECT_FALSE(parse_entry(with_byte(good, 8, '\x80'))) << "a time 290 years ago";
  EXPECT_FALSE(parse_entry(with_byte(good, answers, 20))) << "an answer";
  const std::string begun = to_bytes(opening());
  const std::size_t wall = begun.find(std::string("\x87\xd6\x12\0", 4));
  ASSERT_NE(wall, std::string::npos);
  EXPECT_FALSE(parse_opening(with_byte(begun, wall + 7, '\x7f'))) << "a year that no calendar has";
}

TEST(Recording, SettingsThatNoConfigurationHasAreRefused) {
  const auto is_good = [](const core::Settings& settings) {
    Writer out;
    put(out, settings);
    Reader in{out.bytes()};
    (void)get_settings(in);
    return in.at_end();
  };
  core::Settings settings;
  EXPECT_TRUE(is_good(settings));
  settings.sampling = 0s;
  EXPECT_FALSE(is_good(settings));
  settings = {};
  settings.heavy_sweep = -1s;
  EXPECT_FALSE(is_good(settings));
  settings = {};
  settings.mode = static_cast<regulation::Mode>(3);
  EXPECT_FALSE(is_good(settings));
}

TEST(Recording, SettingsAndPacketsSurviveARoundTrip) {
  core::Settings settings;
  settings.light_sweep = 3s;
  settings.mode = regulation::Mode::Enforce;
  settings.sets = {{"rack", {"leaf-*", "0x1"}}, {"none", {}}};
  mad::Packet packet;
  packet.address = {Lid{1}, Lid{2}, 3, 4, Sl{5}, 6};
  packet.mad[255] = 7;
  Writer out;
  put(out, settings);
  put(out, packet);
  Reader in{out.bytes()};
  const core::Settings read = get_settings(in);
  EXPECT_EQ(read.light_sweep, 3s);
  EXPECT_EQ(read.mode, regulation::Mode::Enforce);
  ASSERT_EQ(read.sets.size(), 2U);
  EXPECT_EQ(read.sets[0].patterns, settings.sets[0].patterns);
  const mad::Packet again = get_packet(in);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(again.mad, packet.mad);
  EXPECT_EQ(again.address.sl, Sl{5});
  EXPECT_EQ(again.address.pkey_index, 6);
}

TEST(Recording, BlocksAreReadUntilTheyBreakOff) {
  const std::string whole = std::string{magic} + frame(Block::Opening, "one") + frame(Block::Entry, "two");
  std::istringstream in{whole.substr(0, whole.size() - 1)};
  Blocks blocks{in};
  ASSERT_TRUE(blocks.begins());
  EXPECT_EQ(blocks.next()->second, "one");
  EXPECT_EQ(blocks.next(), std::nullopt);
  std::istringstream other{"heddle recording 1\n"};
  EXPECT_FALSE(Blocks{other}.begins());
  // A length that nobody meant takes no memory.
  std::istringstream large{std::string{magic} + "E\xff\xff\xff\xff"};
  Blocks too_large{large};
  ASSERT_TRUE(too_large.begins());
  EXPECT_EQ(too_large.next(), std::nullopt);
}

TEST(Digest, TellsWhatWasDoneInWhichOrder) {
  const auto of = [](std::initializer_list<std::pair<Deed, std::string_view>> deeds) {
    Digest digest;
    for (const auto& [deed, bytes] : deeds) digest.add(deed, bytes);
    return digest.value();
  };
  EXPECT_EQ(of({{Deed::Say, "a"}, {Deed::Say, "b"}}), of({{Deed::Say, "a"}, {Deed::Say, "b"}}));
  EXPECT_NE(of({{Deed::Say, "a"}, {Deed::Say, "b"}}), of({{Deed::Say, "b"}, {Deed::Say, "a"}}));
  EXPECT_NE(of({{Deed::Say, "ab"}}), of({{Deed::Say, "a"}, {Deed::Say, "b"}}));
  EXPECT_NE(of({{Deed::Say, "a"}}), of({{Deed::Log, "a"}}));
  EXPECT_NE(of({{Deed::Say, "12345678"}}), of({{Deed::Say, "12345679"}}));
}

class Nowhere final : public transport::Transport {
 public:
  void receive_with(Receiver /*receiver*/) override {}
  Result<void> send(const mad::Packet& /*packet*/) override { return {}; }
  [[nodiscard]] transport::LocalPort local() const override { return {}; }
};

TEST(Recorder, EndsWithASentenceWhenItHasAllThatItMayHave) {
  Nowhere nowhere;
  std::string bytes;
  Recorder recorder{nowhere,
                    [&](std::string_view more) {
                      bytes += more;
                      return true;
                    },
                    1000};
  recorder.open({});
  for (int i = 0; i < 1000; ++i) {
    recorder.begin(core::TimersDue{}, Instant{});
    recorder.finish();
  }
  EXPECT_TRUE(recorder.ended());
  EXPECT_THAT(bytes, ::testing::EndsWith("record.most was reached"));
  EXPECT_LT(bytes.size(), 1100U);
}

// A replay, which has no such event, would take it for how long the one before took, and wait longer for
// the answers to what that one sent.
TEST(Recorder, LeavesOutHowLongSomebodyLooked) {
  Nowhere nowhere;
  std::ostringstream bytes;
  Recorder recorder{nowhere, [&](std::string_view more) { return bool(bytes << more); }, 1'000'000};
  recorder.open({});
  const std::function<void()> look = [] {};
  const std::function<void()> act = [&] { recorder.said(core::Severity::Info, "done"); };
  for (const auto* what : {&look, &act}) {
    recorder.begin(core::Asked{*what}, Instant{});
    (*what)();
    recorder.finish();
    recorder.begin(core::TookLong{}, Instant{2ms});
    recorder.finish();
  }
  std::istringstream in{bytes.str()};
  Blocks blocks{in};
  ASSERT_TRUE(blocks.begins());
  std::vector<Kind> kinds;
  for (auto block = blocks.next(); block; block = blocks.next()) {
    if (block->first == Block::Entry) kinds.push_back(parse_entry(block->second)->kind);
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre(Kind::Asked, Kind::TookLong));
}

TEST(Recorder, EndsWhereNothingIsTakenAnyMore) {
  Nowhere nowhere;
  std::size_t taken = 0;
  Recorder recorder{nowhere, [&](std::string_view) { return ++taken < 3; }, 1'000'000};
  recorder.open({});
  recorder.begin(core::TimersDue{}, Instant{});
  recorder.finish();
  EXPECT_TRUE(recorder.ended());
  recorder.begin(core::TimersDue{}, Instant{});
  recorder.finish();
  EXPECT_EQ(taken, 3U);
}

}  // namespace
}  // namespace heddle::record

#include "regulate/known_cables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fabric/change.h"
#include "fabric/generators.h"
#include "support/scratch.h"

namespace heddle::regulate {
namespace {

using journal::Cable;
using testing::ElementsAre;
using testing::IsEmpty;

NodeGuid guid(std::uint64_t raw) { return NodeGuid{raw}; }
LinkRef cable(std::uint64_t a, unsigned port_a, std::uint64_t b, unsigned port_b) {
  return {{guid(a), PortNum{static_cast<std::uint8_t>(port_a)}},
          {guid(b), PortNum{static_cast<std::uint8_t>(port_b)}}};
}

/// Switches of 200 ports with these cables; each is called by its GUID.
std::shared_ptr<const Fabric> fabric_of(const std::vector<LinkRef>& cables) {
  FabricBuilder builder;
  const auto node = [&](NodeGuid which) {
    if (const NodeIndex there = builder.find_node(which); there != no_node) return there;
    Node made;
    made.guid = which;
    made.type = NodeType::Switch;
    made.port_count = 200;
    made.description = std::to_string(which.raw());
    return *builder.add_node(made);
  };
  for (const LinkRef& each : cables) {
    const NodeIndex a = node(each.a.node);
    const NodeIndex b = node(each.b.node);
    EXPECT_TRUE(builder.add_link({a, each.a.port}, {b, each.b.port}, LinkWidth::X4, LinkSpeed::Hdr));
  }
  return builder.build();
}

class KnownCablesTest : public testing::Test {
 protected:
  KnownCablesTest() { start(); }

  /// Anew, with what the journal has.
  void start() {
    known_.reset();
    scribe_.emplace(*journal_, Desk{[](const auto& work, const auto& then) {
                                      work();
                                      then();
                                    },
                                    [] { return Instant{}; }});
    known_.emplace(*scribe_);
  }
  void look(const std::vector<LinkRef>& cables) {
    known_->look(*fabric_of(cables), [](const Result<void>& put) { EXPECT_TRUE(put); });
  }
  [[nodiscard]] std::vector<LinkRef> away() const {
    std::vector<LinkRef> links;
    for (const Cable& each : known_->away()) links.push_back(each.link);
    return links;
  }

  test::Scratch directory_;
  std::unique_ptr<journal::Journal> journal_ = journal::open_journal(directory_ / "journal.db", {}).value();
  std::optional<journal::Scribe> scribe_;
  std::optional<KnownCables> known_;
  const LinkRef first_ = cable(1, 1, 2, 1);
  const LinkRef second_ = cable(1, 2, 3, 1);
};

TEST_F(KnownCablesTest, WhatWasSeenByARunBeforeIsAwayUntilItIsSeen) {
  look({first_, second_});
  EXPECT_THAT(away(), IsEmpty());
  start();
  look({first_});
  EXPECT_THAT(away(), ElementsAre(second_));
  EXPECT_EQ(known_->name_of(guid(3)), "3");
  EXPECT_EQ(known_->name_of(guid(2)), "");
  start();
  look({first_});
  EXPECT_THAT(away(), ElementsAre(second_));
  look({first_, second_});
  EXPECT_THAT(away(), IsEmpty());
}

// A cable in another socket, or a switch in the place of another one.
TEST_F(KnownCablesTest, WhatWasMovedIsNotAway) {
  look({first_, second_});
  start();
  look({first_, cable(1, 2, 4, 1)});
  EXPECT_THAT(away(), IsEmpty());
  start();
  look({first_});
  EXPECT_THAT(away(), ElementsAre(cable(1, 2, 4, 1)));
}

TEST_F(KnownCablesTest, WhatIsForgottenIsKnownAgainWhenItIsBack) {
  look({first_, second_});
  start();
  look({first_});
  known_->forget({{guid(3)}, {}}, [](const Result<void>& put) { EXPECT_TRUE(put); });
  EXPECT_THAT(away(), IsEmpty());
  look({first_});
  start();
  look({first_});
  EXPECT_THAT(away(), IsEmpty());
  known_->forget({{guid(3)}, {second_}}, [](const Result<void>&) {});
  const auto is_up = [&](const LinkRef& link) { return link == second_; };
  EXPECT_FALSE(known_->remember_again({guid(1)}, [](const LinkRef&) { return false; }));
  EXPECT_TRUE(known_->remember_again({guid(1), guid(3)}, is_up));
  look({first_, second_});
  start();
  look({first_});
  EXPECT_THAT(away(), ElementsAre(second_));
}

TEST_F(KnownCablesTest, ALiarsCablesAreNotKeptWithoutEnd) {
  constexpr unsigned at_once = 100;
  for (std::uint64_t turn = 1; turn * at_once < KnownCables::most_away + 5 * at_once; ++turn) {
    std::vector<LinkRef> cables;
    for (unsigned p = 1; p <= at_once; ++p) cables.push_back(cable(2 * turn, p, 2 * turn + 1, p));
    look(cables);
  }
  EXPECT_EQ(known_->away().size(), KnownCables::most_away);
  EXPECT_EQ(scribe_->cables()->size(), KnownCables::most_away + at_once);
}

}  // namespace
}  // namespace heddle::regulate

#include "shared/candidate.h"

#include <gtest/gtest.h>

#include "support/memory_store.h"

namespace heddle::shared {
namespace {

using namespace std::chrono_literals;
using Cut = MemoryStore::Cut;

/// A daemon of some host, whose way to the store may be cut while others' is not.
struct Host {
  explicit Host(MemoryStore& store, const std::string& name)
      : way{store}, candidate{way, lease, {.prefix = "/h", .name = name, .lease = 5s}} {}

  /// What this host's calls go through.
  struct Way final : Store {
    explicit Way(MemoryStore& to) : store{to} {}
    MemoryStore& store;
    Cut cut = Cut::None;
    BootTime slow{};  ///< so long before the store is asked to renew

    template <class Call>
    auto through(Call call) {
      store.cut = cut;
      auto result = call();
      store.cut = Cut::None;
      return result;
    }
    Result<Committed> commit(const Transaction& transaction) override {
      return through([&] { return store.commit(transaction); });
    }
    Result<LeaseId> grant(std::chrono::seconds length) override {
      return through([&] { return store.grant(length); });
    }
    Result<void> renew(LeaseId held) override {
      MemoryStore::time += slow;
      return through([&] { return store.renew(held); });
    }
    Result<void> revoke(LeaseId held) override {
      return through([&] { return store.revoke(held); });
    }
  };

  Way way;
  Lease lease{MemoryStore::now};
  Candidate candidate;
};

struct CandidateTest : testing::Test {
  MemoryStore store;
  Host a{store, "a"};
  Host b{store, "b"};
};

TEST_F(CandidateTest, TheFirstOwnsAndTheOtherFollows) {
  const Beat first = a.candidate.beat(Fit::Yes);
  EXPECT_EQ(first.standing, Standing::Owns);
  EXPECT_TRUE(first.taken);
  EXPECT_TRUE(a.lease.held());
  const Beat other = b.candidate.beat(Fit::Yes);
  EXPECT_EQ(other.standing, Standing::Follows);
  EXPECT_EQ(other.owner, "a");
  EXPECT_FALSE(b.lease.held());
}

TEST_F(CandidateTest, WhoIsNotFitNeverOwns) {
  EXPECT_EQ(a.candidate.beat(Fit::No).standing, Standing::Follows);
  EXPECT_TRUE(store.all().empty());
}

TEST_F(CandidateTest, AFollowerIsToldWhatHasChanged) {
  (void)a.candidate.beat(Fit::Yes);
  (void)b.candidate.beat(Fit::No);
  ASSERT_TRUE(
      store.commit({a.candidate.guard(), {{.what = Operation::What::Put, .key = "/h/plan", .value = "1"}}})
          ->done);
  const Beat told = b.candidate.beat(Fit::No);
  ASSERT_EQ(told.changed.size(), 1U);
  EXPECT_EQ(told.changed[0].value, "1");
  EXPECT_TRUE(b.candidate.beat(Fit::No).changed.empty());
}

TEST_F(CandidateTest, TheOwnersDeadlineIsBeforeTheStores) {
  (void)a.candidate.beat(Fit::Yes);
  MemoryStore::time += 4500ms;
  EXPECT_FALSE(a.lease.held());
  (void)b.candidate.beat(Fit::Yes);
  EXPECT_FALSE(b.lease.held());
  MemoryStore::time += 500ms;
  EXPECT_EQ(b.candidate.beat(Fit::Yes).standing, Standing::Owns);
}

TEST_F(CandidateTest, WhoWasStoppedFindsOutBeforeItAsks) {
  (void)a.candidate.beat(Fit::Yes);
  const Guard before = a.candidate.guard();
  MemoryStore::time += 30s;
  EXPECT_FALSE(a.lease.held());
  (void)b.candidate.beat(Fit::Yes);
  EXPECT_EQ(a.candidate.beat(Fit::Yes).standing, Standing::Lost);
  EXPECT_EQ(a.candidate.beat(Fit::Yes).standing, Standing::Lost);
  // What it had under way when it was stopped changes nothing.
  EXPECT_FALSE(
      store.commit({before, {{.what = Operation::What::Put, .key = "/h/plan", .value = "late"}}})->done);
}

TEST_F(CandidateTest, WhoIsCutOffIsOwnerUntilItsDeadline) {
  (void)a.candidate.beat(Fit::Yes);
  a.way.cut = Cut::Before;
  MemoryStore::time += 4s;
  const Beat away = a.candidate.beat(Fit::Yes);
  EXPECT_EQ(away.standing, Standing::Owns);
  EXPECT_FALSE(away.trouble.empty());
  MemoryStore::time += 1s;
  EXPECT_EQ(a.candidate.beat(Fit::Yes).standing, Standing::Lost);
  EXPECT_FALSE(a.lease.held());
}

TEST_F(CandidateTest, AnOwnerThatGotNoAnswerAsksAgainSoon) {
  (void)a.candidate.beat(Fit::Yes);
  EXPECT_EQ(a.candidate.pause(), 500ms);
  a.way.cut = Cut::Before;
  (void)a.candidate.beat(Fit::Yes);
  EXPECT_EQ(a.candidate.pause(), 100ms);
  a.way.cut = Cut::None;
  (void)a.candidate.beat(Fit::Yes);
  EXPECT_EQ(a.candidate.pause(), 500ms);
}

TEST_F(CandidateTest, ARenewalCountsFromBeforeItWasAskedFor) {
  (void)a.candidate.beat(Fit::Yes);
  a.way.slow = 2s;
  (void)a.candidate.beat(Fit::Yes);
  EXPECT_EQ(a.lease.left(), 2500ms);
  a.way.slow = 3s;  // longer than what is left
  EXPECT_EQ(a.candidate.beat(Fit::Yes).standing, Standing::Lost);
}

TEST_F(CandidateTest, AnAnswerThatIsLostMakesNoOwner) {
  a.way.cut = Cut::After;
  EXPECT_EQ(a.candidate.beat(Fit::Yes).standing, Standing::Follows);
  EXPECT_FALSE(a.lease.held());
  a.way.cut = Cut::None;
  EXPECT_EQ(a.candidate.beat(Fit::Yes).standing, Standing::Owns);
}

TEST_F(CandidateTest, AKeyThatWasTakenAwayByHandEndsIt) {
  (void)a.candidate.beat(Fit::Yes);
  (void)store.commit({std::nullopt, {{.what = Operation::What::Delete, .key = "/h/owner"}}});
  EXPECT_EQ(a.candidate.beat(Fit::Yes).standing, Standing::Lost);
}

TEST_F(CandidateTest, TheOwnerHearsOfWhoeverWaits) {
  (void)a.candidate.beat(Fit::Yes);
  EXPECT_FALSE(a.candidate.beat(Fit::Yes).contended);
  (void)b.candidate.beat(Fit::Yes);
  (void)b.candidate.beat(Fit::Yes);
  EXPECT_TRUE(a.candidate.beat(Fit::Yes).contended);
  EXPECT_FALSE(a.candidate.beat(Fit::Yes).contended);
}

TEST_F(CandidateTest, WhoResignsLetsTheNextOneInAtOnce) {
  (void)a.candidate.beat(Fit::Yes);
  a.candidate.resign();
  EXPECT_FALSE(a.lease.held());
  EXPECT_EQ(b.candidate.beat(Fit::Yes).standing, Standing::Owns);
  EXPECT_EQ(a.candidate.beat(Fit::Yes).standing, Standing::Lost);
}

}  // namespace
}  // namespace heddle::shared

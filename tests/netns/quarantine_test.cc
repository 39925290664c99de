// SPDX-License-Identifier: Apache-2.0
#include "datapath/xsk/quarantine.h"

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/time/clock.h"
#include "datapath/xsk/queue_probe.h"
#include "tests/netns/foreign_socket.h"
#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr RingSizes kRings = {.rx = 64, .fill = 64, .tx = 64, .completion = 64};
constexpr uint32_t kQueues = 16;

class QuarantineTest : public NetnsTest {
 protected:
  void SetUp() override {
    with_datapath_ = false;
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container(), {.queues = kQueues});
    auto umem = Umem::Create({.frames = 4096, .hugepages = false}, {});
    ASSERT_OK(umem);
    umem_ = *std::move(umem);
    admission_.emplace(4096);
    quarantine_ = std::make_unique<Quarantine>(umem_.get());
  }

  static DeviceQueue Where(uint32_t queue) { return {.ifindex = IfIndex("p0"), .queue = queue}; }

  // A socket with frames in both directions and a promise, as a Queue has.
  struct Subject {
    XskSocket socket;
    QueueId id;
    FramePromise promise;
  };
  std::optional<Subject> Make(uint32_t queue, bool bind = true) {
    auto socket = XskSocket::Create(umem_->region(), kRings);
    auto id = quarantine_->AllocateId();
    auto promise = admission_->Promise(128);
    EXPECT_OK(socket);
    EXPECT_OK(id);
    EXPECT_OK(promise);
    if (!socket.ok() || !id.ok() || !promise.ok()) return std::nullopt;
    FrameIndex frames[64];
    EXPECT_EQ(umem_->pool().Take(FrameOwner::Receive(*id), frames, 64), 64u);
    EXPECT_EQ(umem_->pool().Take(FrameOwner::Transmit(*id), frames, 10), 10u);
    if (bind) {
      EXPECT_OK(socket->Bind(Where(queue), XskSocket::Copying::kCopy, true));
    }
    return Subject{*std::move(socket), *id, *std::move(promise)};
  }
  void Add(Subject subject, uint32_t queue) {
    quarantine_->Add(std::move(subject.socket), Where(queue), XskSocket::Copying::kCopy, subject.id,
                     std::move(subject.promise));
  }

  std::unique_ptr<Umem> umem_;
  std::optional<Admission> admission_;
  std::unique_ptr<Quarantine> quarantine_;
};

TEST_F(QuarantineTest, FramesPromiseAndNumberComeBackWhenTheQueueIsFree) {
  auto subject = Make(0);
  ASSERT_TRUE(subject.has_value());
  const QueueId id = subject->id;
  EXPECT_EQ(umem_->ledger().Count().pool, 4096u - 74);
  Add(*std::move(subject), 0);
  EXPECT_TRUE(quarantine_->WaitUntilFree(Where(0), absl::Now() + kPatience));
  EXPECT_EQ(umem_->ledger().Count().pool, 4096u);
  EXPECT_EQ(admission_->promised(), 0u);
  EXPECT_THAT(quarantine_->Ids(), IsEmpty());
  EXPECT_TRUE(QueueIsFree(Where(0)));
  EXPECT_EQ(*quarantine_->AllocateId(), id) << "the number can be had again";
}

// Somebody else may take the queue before we see that it is free.
TEST_F(QuarantineTest, InCopyModeASuccessorOnTheQueueKeepsNoFramesForEver) {
  const ForeignSocket successor(Where(0));
  auto subject = Make(0, /*bind=*/false);
  ASSERT_TRUE(subject.has_value());
  Add(*std::move(subject), 0);
  EXPECT_FALSE(quarantine_->WaitUntilFree(Where(0), absl::Now() + absl::Seconds(1)));
  EXPECT_TRUE(quarantine_->WaitUntilFree(Where(0), absl::Now() + absl::Seconds(20)));
  EXPECT_EQ(umem_->ledger().Count().pool, 4096u);
}

TEST_F(QuarantineTest, AddingDoesNotWait) {
  auto subject = Make(0);
  ASSERT_TRUE(subject.has_value());
  const absl::Time start = absl::Now();
  Add(*std::move(subject), 0);
  EXPECT_LT(absl::Now() - start, absl::Milliseconds(20));
}

TEST_F(QuarantineTest, NothingComesBackBeforeTheQueueIsFree) {
  auto subject = Make(0);
  ASSERT_TRUE(subject.has_value());
  if (!QueueIsKnownHeld(Where(0))) {
    GTEST_SKIP() << "this kernel's netlink does not show AF_XDP sockets";
  }
  const QueueId id = subject->id;
  Add(*std::move(subject), 0);
  for (;;) {
    const uint32_t promised = admission_->promised();
    const size_t frames = umem_->ledger().FramesOf(id).size();
    const auto other = quarantine_->AllocateId();
    ASSERT_OK(other);
    // Held now, so it was held when we looked at the rest.
    if (!QueueIsKnownHeld(Where(0))) break;
    EXPECT_EQ(promised, 128u);
    EXPECT_EQ(frames, 74u);
    EXPECT_NE(*other, id);
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_TRUE(quarantine_->WaitUntilFree(Where(0), absl::Now() + kPatience));
}

TEST_F(QuarantineTest, ManyCloseSideBySide) {
  std::vector<Subject> subjects;
  for (uint32_t queue = 0; queue < kQueues; ++queue) subjects.push_back(*Make(queue));
  for (uint32_t queue = 0; queue < kQueues; ++queue) Add(std::move(subjects[queue]), queue);
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    EXPECT_TRUE(quarantine_->WaitUntilFree(Where(queue), absl::Now() + kPatience)) << queue;
  }
  EXPECT_EQ(umem_->ledger().Count().pool, 4096u);
  EXPECT_EQ(admission_->promised(), 0u);
}

TEST_F(QuarantineTest, WaitingForAQueueThatIsNotInThereIsNoWait) {
  EXPECT_TRUE(quarantine_->WaitUntilFree(Where(3), absl::InfinitePast()));
}

TEST_F(QuarantineTest, WaitingHasADeadline) {
  auto subject = Make(0);
  ASSERT_TRUE(subject.has_value());
  Add(*std::move(subject), 0);
  EXPECT_FALSE(quarantine_->WaitUntilFree(Where(0), absl::InfinitePast()));
  EXPECT_TRUE(quarantine_->WaitUntilFree(Where(1), absl::InfinitePast()));
}

TEST_F(QuarantineTest, WhatWasNeverBoundIsBackAtOnce) {
  auto holder = Make(0);
  auto loser = Make(0, /*bind=*/false);
  ASSERT_TRUE(holder && loser);
  EXPECT_THAT(loser->socket.Bind(Where(0), XskSocket::Copying::kCopy, true),
              FailsWith(EBUSY, ::testing::_));
  const QueueId id = loser->id;
  quarantine_->Discard(std::move(loser->socket), id);
  EXPECT_THAT(umem_->ledger().FramesOf(id), IsEmpty());
  EXPECT_EQ(*quarantine_->AllocateId(), id);
  EXPECT_THAT(umem_->ledger().FramesOf(holder->id), SizeIs(74)) << "the other's are untouched";
  Add(*std::move(holder), 0);
  EXPECT_TRUE(quarantine_->WaitUntilFree(Where(0), absl::Now() + kPatience));
}

TEST_F(QuarantineTest, ADeviceThatIsDeletedMeanwhileLetsGo) {
  auto subject = Make(0);
  ASSERT_TRUE(subject.has_value());
  const DeviceQueue where = Where(0);
  Command("ip link del p0");
  quarantine_->Add(std::move(subject->socket), where, XskSocket::Copying::kCopy, subject->id,
                   std::move(subject->promise));
  EXPECT_TRUE(quarantine_->WaitUntilFree(where, absl::Now() + kPatience));
  EXPECT_EQ(umem_->ledger().Count().pool, 4096u);
}

TEST_F(QuarantineTest, EndingWaitsForAll) {
  auto subject = Make(0);
  ASSERT_TRUE(subject.has_value());
  Add(*std::move(subject), 0);
  quarantine_.reset();
  EXPECT_EQ(umem_->ledger().Count().pool, 4096u);
  EXPECT_EQ(admission_->promised(), 0u);
}

TEST_F(QuarantineTest, NumbersAreUniqueAndRunOut) {
  std::set<QueueId> ids;
  for (uint32_t i = 0; i < kMaxQueueIds; ++i) {
    const auto id = quarantine_->AllocateId();
    ASSERT_OK(id);
    ASSERT_LT(*id, kMaxQueueIds);
    ASSERT_TRUE(ids.insert(*id).second);
  }
  EXPECT_THAT(quarantine_->AllocateId(), FailsWith(ENOSPC, ::testing::HasSubstr("16384")));
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/frame_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace afxdp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FrameLedgerTest, AllFramesStartInThePool) {
  const FrameLedger ledger(100);
  EXPECT_EQ(ledger.frames(), 100u);
  for (FrameIndex frame = 0; frame < 100; ++frame) EXPECT_TRUE(ledger.Owner(frame).is_pool());
  EXPECT_EQ(ledger.Count().pool, 100u);
}

TEST(FrameLedgerTest, TransferChangesTheOwner) {
  FrameLedger ledger(4);
  EXPECT_TRUE(ledger.Transfer(2, FrameOwner::Pool(), FrameOwner::Receive(9)));
  EXPECT_EQ(ledger.Owner(2), FrameOwner::Receive(9));
  EXPECT_TRUE(ledger.Transfer(2, FrameOwner::Receive(9), FrameOwner::Held()));
  EXPECT_EQ(ledger.Owner(2), FrameOwner::Held());
  EXPECT_TRUE(ledger.Owner(1).is_pool());
  EXPECT_TRUE(ledger.Owner(3).is_pool());
}

TEST(FrameLedgerTest, TransferFromTheWrongOwnerChangesNothing) {
  FrameLedger ledger(4);
  ASSERT_TRUE(ledger.Transfer(1, FrameOwner::Pool(), FrameOwner::Receive(1)));
  for (const FrameOwner stranger :
       {FrameOwner::Pool(), FrameOwner::Held(), FrameOwner::Receive(2), FrameOwner::Transmit(1)}) {
    EXPECT_FALSE(ledger.Transfer(1, stranger, FrameOwner::Held()));
    EXPECT_EQ(ledger.Owner(1), FrameOwner::Receive(1));
  }
}

TEST(FrameLedgerTest, TransferOfNoFrameIsRefused) {
  FrameLedger ledger(4);
  for (const FrameIndex beyond : {FrameIndex{4}, FrameIndex{5}, FrameIndex{UINT32_MAX}}) {
    // Volatile, because GCC 12 warns of the access that the check in Transfer() prevents.
    const volatile FrameIndex frame = beyond;
    EXPECT_FALSE(ledger.Transfer(frame, FrameOwner::Pool(), FrameOwner::Held()));
  }
  EXPECT_EQ(ledger.Count().pool, 4u);
}

TEST(FrameLedgerTest, CensusCountsEveryFrameOnce) {
  FrameLedger ledger(20);
  const auto move = [&](FrameIndex from, FrameIndex to, FrameOwner owner) {
    for (FrameIndex frame = from; frame < to; ++frame) {
      ASSERT_TRUE(ledger.Transfer(frame, FrameOwner::Pool(), owner));
    }
  };
  move(0, 3, FrameOwner::Held());
  move(3, 8, FrameOwner::Receive(5));
  move(8, 10, FrameOwner::Transmit(5));
  move(10, 11, FrameOwner::Transmit(6));
  const FrameLedger::Census census = ledger.Count();
  EXPECT_EQ(census.pool, 9u);
  EXPECT_EQ(census.held, 3u);
  ASSERT_EQ(census.queues.size(), 2u);
  EXPECT_EQ(census.queues.at(5).receive, 5u);
  EXPECT_EQ(census.queues.at(5).transmit, 2u);
  EXPECT_EQ(census.queues.at(6).receive, 0u);
  EXPECT_EQ(census.queues.at(6).transmit, 1u);
}

TEST(FrameLedgerTest, FramesOfFindsBothDirectionsOfOneQueue) {
  FrameLedger ledger(10);
  ASSERT_TRUE(ledger.Transfer(1, FrameOwner::Pool(), FrameOwner::Receive(3)));
  ASSERT_TRUE(ledger.Transfer(4, FrameOwner::Pool(), FrameOwner::Transmit(3)));
  ASSERT_TRUE(ledger.Transfer(5, FrameOwner::Pool(), FrameOwner::Transmit(2)));
  ASSERT_TRUE(ledger.Transfer(6, FrameOwner::Pool(), FrameOwner::Held()));
  ASSERT_TRUE(ledger.Transfer(9, FrameOwner::Pool(), FrameOwner::Receive(3)));
  EXPECT_THAT(ledger.FramesOf(3), ElementsAre(1, 4, 9));
  EXPECT_THAT(ledger.FramesOf(2), ElementsAre(5));
  // Queue 0's owner numbers must not be taken for the pool's or a holder's.
  EXPECT_THAT(ledger.FramesOf(0), IsEmpty());
}

}  // namespace
}  // namespace afxdp

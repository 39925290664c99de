// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "datapath/umem/frame.h"

namespace afxdp {
namespace {

TEST(FrameOwnerTest, KnowsWhatItIs) {
  EXPECT_TRUE(FrameOwner::Pool().is_pool());
  EXPECT_FALSE(FrameOwner::Pool().is_held());
  EXPECT_TRUE(FrameOwner::Held().is_held());
  EXPECT_FALSE(FrameOwner::Held().is_pool());
  const FrameOwner receive = FrameOwner::Receive(7);
  EXPECT_TRUE(receive.is_receive());
  EXPECT_FALSE(receive.is_transmit());
  EXPECT_EQ(receive.queue(), 7);
  const FrameOwner transmit = FrameOwner::Transmit(7);
  EXPECT_TRUE(transmit.is_transmit());
  EXPECT_FALSE(transmit.is_receive());
  EXPECT_EQ(transmit.queue(), 7);
}

TEST(FrameOwnerTest, EveryOwnerHasItsOwnNumber) {
  std::set<uint16_t> raw = {FrameOwner::Pool().raw(), FrameOwner::Held().raw()};
  for (uint32_t queue = 0; queue < kMaxQueueIds; ++queue) {
    raw.insert(FrameOwner::Receive(static_cast<QueueId>(queue)).raw());
    raw.insert(FrameOwner::Transmit(static_cast<QueueId>(queue)).raw());
  }
  EXPECT_EQ(raw.size(), 2u + 2 * kMaxQueueIds);
}

TEST(FrameOwnerTest, SurvivesTheWayThroughItsNumber) {
  for (const FrameOwner owner :
       {FrameOwner::Pool(), FrameOwner::Held(), FrameOwner::Receive(0),
        FrameOwner::Receive(kMaxQueueIds - 1), FrameOwner::Transmit(kMaxQueueIds - 1)}) {
    EXPECT_EQ(FrameOwner::FromRaw(owner.raw()), owner);
  }
}

TEST(FrameOwnerTest, FrameSizesFitTogether) {
  EXPECT_EQ(kFrameSize, 4096u);
  EXPECT_EQ(kMaxReceiveLength, 4096u - 256u);
  // A fresh table of zeroes means that the pool owns everything.
  EXPECT_EQ(FrameOwner::Pool().raw(), 0);
}

}  // namespace
}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// Options that change while a port runs: only what differs is rebuilt.
#include <cerrno>
#include <string>
#include <vector>

#include "tests/netns/netns_test.h"
#include "tests/netns/xdp_query.h"

namespace afxdp::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReconfigureTest : public NetnsTest {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container(), {.queues = 4});
    port_ = Open("p0");
    ASSERT_NE(port_, nullptr);
    socket_.emplace(container(), "c0");
  }

  ino_t Inode(uint32_t queue) const { return InodeOf(port_->queue(queue)->fd()); }

  void Change(const PortOptions& options) {
    const auto changed = port_->Prepare(options);
    ASSERT_OK(changed);
    EXPECT_TRUE(*changed);
    ASSERT_OK(port_->Apply());
    const auto again = port_->Prepare(options);
    ASSERT_OK(again);
    EXPECT_FALSE(*again) << "what has been applied is no change";
  }

  // A packet goes in and out again.  The container's stack chooses its queue, so all are looked at.
  void ExpectTraffic() {
    ASSERT_TRUE(socket_->Send(MakePacket(100, ++number_)));
    bool received = false;
    EXPECT_TRUE(WaitFor([&] {
      for (uint32_t i = 0; i < port_->queue_count() && !received; ++i) {
        received = Forward(*port_->queue(i), *port_->queue(i), 1, absl::ZeroDuration()) == 1;
      }
      return received;
    }));
    EXPECT_THAT(socket_->ReceiveNumbers(1), ElementsAre(number_));
  }

  Port* port_ = nullptr;
  std::optional<PacketSocket> socket_;
  uint32_t number_ = 0;
};

TEST_F(ReconfigureTest, UnchangedOptionsAreNoChange) {
  const auto changed = port_->Prepare({});
  ASSERT_OK(changed);
  EXPECT_FALSE(*changed);
  const ino_t before = Inode(0);
  ASSERT_OK(port_->Apply());
  EXPECT_EQ(Inode(0), before);
}

TEST_F(ReconfigureTest, MoreAndFewerQueuesKeepTheOnesThatStay) {
  const ino_t first = Inode(0);
  Change({.n_rxq = 3});
  ASSERT_EQ(port_->queue_count(), 3u);
  EXPECT_EQ(Inode(0), first);
  const ino_t second = Inode(1);
  Change({.n_rxq = 2});
  ASSERT_EQ(port_->queue_count(), 2u);
  EXPECT_EQ(Inode(0), first);
  EXPECT_EQ(Inode(1), second);
  Change({.n_rxq = 4});
  ASSERT_EQ(port_->queue_count(), 4u);
  EXPECT_EQ(Inode(0), first);
  EXPECT_EQ(Inode(1), second);
  ExpectTraffic();
  ExpectAllFramesConserved();
}

TEST_F(ReconfigureTest, MovingTheStartQueueKeepsTheOverlap) {
  Change({.n_rxq = 2});
  const ino_t second = Inode(1);
  Change({.n_rxq = 2, .start_queue = 1});
  EXPECT_EQ(Inode(0), second);
  EXPECT_EQ(port_->queue(0)->config().where.queue, 1u);
  EXPECT_EQ(port_->queue(1)->config().where.queue, 2u);
  ExpectAllFramesConserved();
}

TEST_F(ReconfigureTest, RingSizesRebuildTheQueues) {
  const ino_t before = Inode(0);
  Change({.n_rxq_desc = 1024, .n_txq_desc = 256});
  EXPECT_NE(Inode(0), before);
  EXPECT_EQ(port_->queue(0)->config().rings,
            (RingSizes{.rx = 1024, .fill = 1024, .tx = 256, .completion = 256}));
  Change({.n_rxq = 4, .n_rxq_desc = 1024, .n_txq_desc = 256});
  ExpectTraffic();
  ExpectAllFramesConserved();
  EXPECT_EQ(Pool("reserved"), 4u * (1024 + 256));
}

TEST_F(ReconfigureTest, NeedWakeupRebuildsTheQueues) {
  const ino_t before = Inode(0);
  Change({.n_rxq = 4, .need_wakeup = false});
  EXPECT_NE(Inode(0), before);
  EXPECT_FALSE(port_->queue(0)->config().need_wakeup);
  ExpectTraffic();
  ExpectAllFramesConserved();
}

TEST_F(ReconfigureTest, NativeAndGenericUseTheSameSockets) {
  Change({.n_rxq = 4});
  const ino_t before = Inode(0);
  Change({.mode = XdpMode::kGeneric, .n_rxq = 4});
  EXPECT_EQ(Inode(0), before);
  EXPECT_NE(QueryXdp("p0").generic, 0u);
  EXPECT_EQ(QueryXdp("p0").native, 0u);
  EXPECT_EQ(port_->Report().mode, XdpMode::kGeneric);
  ExpectTraffic();
  Change({.mode = XdpMode::kNative, .n_rxq = 4});
  EXPECT_EQ(Inode(0), before);
  EXPECT_NE(QueryXdp("p0").native, 0u);
  EXPECT_EQ(QueryXdp("p0").generic, 0u);
  ExpectTraffic();
  ExpectAllFramesConserved();
}

TEST_F(ReconfigureTest, CountersGoOnWhereTheyWere) {
  Change({.n_rxq = 4});
  for (int i = 0; i < 5; ++i) ExpectTraffic();
  const auto sum = [&](const char* name) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < port_->queue_count(); ++i) all += CounterOf(*port_, name, i);
    return all;
  };
  EXPECT_EQ(sum("rx_packets"), 5u);
  Change({.n_rxq = 4, .n_rxq_desc = 64});
  EXPECT_EQ(sum("rx_packets"), 5u);
  for (int i = 0; i < 5; ++i) ExpectTraffic();
  EXPECT_EQ(sum("rx_packets"), 10u);
  EXPECT_EQ(sum("tx_in_place"), 10u);
}

TEST_F(ReconfigureTest, WhatCannotBeIsRefusedAndChangesNothing) {
  const ino_t before = Inode(0);
  EXPECT_THAT(port_->Prepare({.n_rxq = 5}), FailsWith(EINVAL, HasSubstr("the device has 4")));
  EXPECT_THAT(port_->Prepare({.n_rxq = 4, .n_rxq_desc = 4096}),
              FailsWith(ENOMEM, HasSubstr("afxdp-umem-frames")));
  EXPECT_EQ(Inode(0), before);
  // And what Apply() does is what was last accepted.
  ASSERT_OK(port_->Apply());
  EXPECT_EQ(Inode(0), before);
  EXPECT_EQ(port_->queue_count(), 1u);
}

TEST_F(ReconfigureTest, WhatThePortGivesBackCountsForItsNewRings) {
  // 6,000 of some 7,000 frames now; the same again in another shape must fit.
  Change({.n_rxq = 1, .n_rxq_desc = 4096, .n_txq_desc = 2048});
  Change({.n_rxq = 4, .n_rxq_desc = 1024, .n_txq_desc = 512});
  ExpectTraffic();
  ExpectAllFramesConserved();
}

TEST_F(ReconfigureTest, AModeThatCannotBeFailsAndTheOldOneComesBack) {
  Change({.n_rxq = 4});
  const PortOptions impossible = {.mode = XdpMode::kNativeZeroCopy, .n_rxq = 4};
  absl::Status status = port_->Prepare(impossible).status();
  if (status.ok()) status = port_->Apply();
  EXPECT_THAT(status, FailsWith(EOPNOTSUPP, HasSubstr("native-with-zerocopy")));
  ASSERT_OK(port_->Prepare({.n_rxq = 4}));
  ASSERT_OK(port_->Apply());
  EXPECT_EQ(port_->queue_count(), 4u);
  EXPECT_EQ(port_->Report().mode, XdpMode::kNative);
  ExpectTraffic();
  ExpectAllFramesConserved();
}

TEST_F(ReconfigureTest, AnotherPortDoesNotNotice) {
  MakeVeth("p1", "c1", container());
  Port* other = Open("p1");
  ASSERT_NE(other, nullptr);
  const ino_t before = InodeOf(other->queue(0)->fd());
  PacketSocket socket(container(), "c1");
  for (uint32_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(socket.Send(MakePacket(100, i)));
    Change({.n_rxq = 1 + i % 3, .n_rxq_desc = 128u << i % 2});
    EXPECT_THAT(ReceiveNumbers(*datapath_, *other->queue(0), 1), ElementsAre(i));
  }
  EXPECT_EQ(InodeOf(other->queue(0)->fd()), before);
  ExpectAllFramesConserved();
}

}  // namespace
}  // namespace afxdp::testing

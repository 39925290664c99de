// SPDX-License-Identifier: Apache-2.0
//
// Whether a queue is free: both ways of asking, before, while and after a socket holds it.
#include "datapath/xsk/queue_probe.h"

#include <cerrno>
#include <memory>

#include "tests/netns/foreign_socket.h"
#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

class QueueProbeTest : public NetnsTest {
 protected:
  void SetUp() override {
    with_datapath_ = false;
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container(), {.queues = 2});
    first_ = {.ifindex = IfIndex("p0"), .queue = 0};
    second_ = {.ifindex = IfIndex("p0"), .queue = 1};
  }

  // Whether this kernel's netlink shows sockets at all (Linux 6.15).
  bool NetlinkShows() {
    const ForeignSocket holder(first_);
    const auto free = QueueIsFreeByNetlink(first_);
    return free.ok() && !*free;
  }

  DeviceQueue first_;
  DeviceQueue second_;
};

TEST_F(QueueProbeTest, BindTellsBeforeWhileAndAfter) {
  EXPECT_TRUE(WaitFor([&] { return QueueIsFreeByBind(first_); }));
  auto holder = std::make_unique<ForeignSocket>(first_);
  EXPECT_FALSE(QueueIsFreeByBind(first_));
  EXPECT_TRUE(QueueIsFreeByBind(second_)) << "another queue is another matter";
  holder.reset();
  EXPECT_TRUE(WaitFor([&] { return QueueIsFreeByBind(first_); }));
}

TEST_F(QueueProbeTest, NetlinkTellsTheSame) {
  if (!NetlinkShows()) GTEST_SKIP() << "this kernel's netlink does not show AF_XDP sockets";
  EXPECT_TRUE(WaitFor([&] { return *QueueIsFreeByNetlink(first_); }));
  auto holder = std::make_unique<ForeignSocket>(first_);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(*QueueIsFreeByNetlink(first_));
  EXPECT_FALSE(QueueIsFreeByBind(first_));
  EXPECT_TRUE(*QueueIsFreeByNetlink(second_));
  holder.reset();
  EXPECT_TRUE(WaitFor([&] { return *QueueIsFreeByNetlink(first_); }));
  // What netlink calls free can be bound to.
  EXPECT_TRUE(QueueIsFreeByBind(first_));
}

TEST_F(QueueProbeTest, TheChosenWayAgrees) {
  EXPECT_TRUE(WaitFor([&] { return QueueIsFree(first_); }));
  auto holder = std::make_unique<ForeignSocket>(first_);
  EXPECT_FALSE(QueueIsFree(first_));
  holder.reset();
  EXPECT_TRUE(WaitFor([&] { return QueueIsFree(first_); }));
}

TEST_F(QueueProbeTest, ADeviceThatIsDownIsStillAnswered) {
  Command("ip link set p0 down");
  EXPECT_TRUE(WaitFor([&] { return QueueIsFree(first_); }));
  auto holder = std::make_unique<ForeignSocket>(first_);
  EXPECT_FALSE(QueueIsFree(first_));
  holder.reset();
  EXPECT_TRUE(WaitFor([&] { return QueueIsFree(first_); }));
}

TEST_F(QueueProbeTest, WhatDoesNotExistHoldsNothing) {
  EXPECT_TRUE(QueueIsFree({.ifindex = 99999, .queue = 0}));
  EXPECT_TRUE(QueueIsFree({.ifindex = IfIndex("p0"), .queue = 17}));
  const ForeignSocket holder(first_);
  Command("ip link del p0");
  EXPECT_TRUE(WaitFor([&] { return QueueIsFree(first_); }));
}

// The probe that decides which way to ask binds to the loopback device.
TEST_F(QueueProbeTest, WorksInANamespaceWhoseLoopbackIsDown) {
  Command("ip link set lo down");
  EXPECT_TRUE(WaitFor([&] { return QueueIsFree(first_); }));
  const ForeignSocket holder(first_);
  EXPECT_FALSE(QueueIsFree(first_));
}

TEST_F(QueueProbeTest, AskingWhetherItIsKnownToBeHeldNeverHoldsIt) {
  const bool shows = NetlinkShows();
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(QueueIsKnownHeld(second_));
  const ForeignSocket holder(second_);
  EXPECT_EQ(QueueIsKnownHeld(second_), shows);
  EXPECT_FALSE(QueueIsKnownHeld({.ifindex = 99999, .queue = 0}));
  // No queue of a device that is down is listed.
  Command("ip link set p0 down");
  EXPECT_FALSE(QueueIsKnownHeld(second_));
}

TEST_F(QueueProbeTest, AVethsDriverHasNoZeroCopy) {
  const auto able = DriverHasZeroCopy(IfIndex("p0"));
  if (!able.ok()) GTEST_SKIP() << "this kernel does not list XDP features: " << able.status();
  EXPECT_FALSE(*able);
  EXPECT_THAT(DriverHasZeroCopy(99999), FailsWith(ENODEV, ::testing::_));
}

TEST_F(QueueProbeTest, CountsTheDevicesQueues) {
  const auto count = CountRxQueuesByNetlink(IfIndex("p0"));
  if (!count.ok()) GTEST_SKIP() << "this kernel does not list queues: " << count.status();
  EXPECT_EQ(*count, 2u);
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// Queues that somebody else holds, or that we held a moment ago.
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "tests/netns/foreign_socket.h"
#include "tests/netns/netns_test.h"
#include "tests/netns/xdp_query.h"

namespace afxdp::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BusyTest : public NetnsTest {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container());
    socket_.emplace(container(), "c0");
  }

  void ExpectTraffic(Port* port, uint32_t number) {
    ASSERT_NE(port, nullptr);
    ASSERT_TRUE(socket_->Send(MakePacket(100, number)));
    EXPECT_EQ(Forward(*port->queue(0), *port->queue(0), 1), 1u);
    EXPECT_THAT(socket_->ReceiveNumbers(1), ElementsAre(number));
  }

  std::optional<PacketSocket> socket_;
};

TEST_F(BusyTest, AQueueThatStaysHeldIsGivenUpAfterABoundedWait) {
  const ForeignSocket foreign({.ifindex = IfIndex("p0"), .queue = 0});
  const absl::Time start = absl::Now();
  EXPECT_THAT(TryOpen("p0"),
              FailsWith(EBUSY, AllOf(HasSubstr("p0: "), HasSubstr("queue 0"), HasSubstr("EBUSY"))));
  const absl::Duration took = absl::Now() - start;
  EXPECT_GE(took, absl::Milliseconds(500)) << "a queue that is being closed takes a moment";
  EXPECT_LE(took, absl::Seconds(8));
  EXPECT_EQ(QueryXdp("p0").native, 0u) << "nothing may be left behind";
}

TEST_F(BusyTest, WhatIsKnownToBeTakenIsNotWaitedForAgain) {
  const ForeignSocket foreign({.ifindex = IfIndex("p0"), .queue = 0});
  EXPECT_FALSE(TryOpen("p0").ok());
  const absl::Time start = absl::Now();
  EXPECT_THAT(TryOpen("p0"), FailsWith(EBUSY, HasSubstr("queue 0")));
  EXPECT_LE(absl::Now() - start, absl::Milliseconds(500));
}

// The kernel lists no queues of a device that is down, so whether one is free shows only in
// binding.
TEST_F(BusyTest, ADeviceThatIsDownCanBeOpenedAndComesUpLater) {
  Command("ip link set p0 down");
  for (int round = 0; round < 3; ++round) {
    Port* port = Open("p0");
    ASSERT_NE(port, nullptr);
    Close(port);
  }
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  Command("ip link set p0 up");
  EXPECT_TRUE(WaitFor([&] { return port->Report().link_up; }));
  ExpectTraffic(port, 3);
}

TEST_F(BusyTest, FailedAttemptsKeepNoFrames) {
  const ForeignSocket foreign({.ifindex = IfIndex("p0"), .queue = 0});
  EXPECT_FALSE(TryOpen("p0").ok());
  // While the other program still has the queue.
  ExpectAllFramesConserved();
  EXPECT_EQ(Pool("reserved"), 0u);
  EXPECT_FALSE(TryOpen("p0").ok());
  EXPECT_EQ(datapath_->quarantine().Ids().size(), 0u);
}

TEST_F(BusyTest, OtherPortsGoOnMeanwhile) {
  MakeVeth("p1", "c1", container());
  const ForeignSocket foreign({.ifindex = IfIndex("p1"), .queue = 0});
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  std::thread opener([&] { EXPECT_THAT(TryOpen("p1"), FailsWith(EBUSY, HasSubstr("p1"))); });
  for (uint32_t i = 0; i < 200; ++i) ExpectTraffic(port, i);
  opener.join();
  ExpectAllFramesConserved();
}

TEST_F(BusyTest, AQueueThatComesFreeMeanwhileIsTaken) {
  auto foreign = std::make_unique<ForeignSocket>(DeviceQueue{.ifindex = IfIndex("p0"), .queue = 0});
  std::thread leaver([&] {
    absl::SleepFor(absl::Milliseconds(200));
    foreign.reset();
  });
  Port* port = Open("p0");
  leaver.join();
  ExpectTraffic(port, 1);
  ExpectAllFramesConserved();
}

TEST_F(BusyTest, ReopeningStraightAfterClosingWorksEachTime) {
  for (uint32_t round = 0; round < 20; ++round) {
    Port* port = Open("p0", {.mode = round % 2 == 0 ? XdpMode::kNative : XdpMode::kGeneric});
    ExpectTraffic(port, round);
    Close(port);
  }
  ExpectAllFramesConserved();
  EXPECT_EQ(Pool("reserved"), 0u);
}

TEST_F(BusyTest, ClosingReturnsAtOnce) {
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  const absl::Time start = absl::Now();
  Close(port);
  // A socket's close() alone takes 5 to 15 ms and its queue another 16 to 70.
  EXPECT_LE(absl::Now() - start, absl::Milliseconds(50));
}

TEST_F(BusyTest, OpeningTheSameDeviceTwiceIsRefusedAndHarmless) {
  Port* port = Open("p0");
  EXPECT_THAT(TryOpen("p0"), FailsWith(EEXIST, HasSubstr("afxdp_redirect")));
  ExpectTraffic(port, 3);
}

}  // namespace
}  // namespace afxdp::testing

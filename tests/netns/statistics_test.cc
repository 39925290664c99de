// SPDX-License-Identifier: Apache-2.0
//
// What the kernel counts reaches the port's counters, and packets that do not fit are accounted
// for.
#include <string>

#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StatisticsTest : public NetnsTest {
 protected:
  void Start(const PortOptions& options, const VethOptions& veth = {}) {
    MakeVeth("p0", "c0", container(), veth);
    port_ = Open("p0", options);
    ASSERT_NE(port_, nullptr);
    socket_.emplace(container(), "c0");
  }

  void ExpectTraffic() {
    ASSERT_TRUE(socket_->Send(MakePacket(100, 12345)));
    EXPECT_THAT(ReceiveNumbers(*datapath_, *port_->queue(0), 1), ElementsAre(12345u));
    ASSERT_TRUE(TransmitCopy(*port_->queue(0), MakePacket(100, 54321)));
    EXPECT_THAT(socket_->ReceiveNumbers(1), ElementsAre(54321u));
    ExpectAllFramesConserved();
  }

  Port* port_ = nullptr;
  std::optional<PacketSocket> socket_;
};

TEST_F(StatisticsTest, MorePacketsThanPostedFramesAreCountedByTheKernel) {
  Start({.n_rxq_desc = 64});
  for (uint32_t i = 0; i < 200; ++i) ASSERT_TRUE(socket_->Send(MakePacket(100, i)));
  // Nobody has received yet: 64 frames are full and the rest found none.
  EXPECT_TRUE(WaitFor([&] {
    return CounterOf(*port_, "rx_fill_ring_empty_descs") + CounterOf(*port_, "rx_dropped") +
               CounterOf(*port_, "rx_ring_full") >=
           136;
  })) << datapath_->DescribePorts("p0").value_or("");
  EXPECT_EQ(ReceiveNumbers(*datapath_, *port_->queue(0), 64), Sequence(64));
  EXPECT_THAT(ReceiveNumbers(*datapath_, *port_->queue(0), 1, absl::Milliseconds(50)), IsEmpty());
  ExpectTraffic();
}

TEST_F(StatisticsTest, KernelCountersGoOnOverARebuild) {
  Start({.n_rxq_desc = 64});
  for (uint32_t i = 0; i < 200; ++i) ASSERT_TRUE(socket_->Send(MakePacket(100, i)));
  ASSERT_TRUE(WaitFor([&] { return CounterOf(*port_, "rx_fill_ring_empty_descs") >= 136; }));
  ASSERT_OK(port_->Prepare({.n_rxq_desc = 128}));
  ASSERT_OK(port_->Apply());
  EXPECT_GE(CounterOf(*port_, "rx_fill_ring_empty_descs"), 136u);
  ExpectTraffic();
}

// Larger than the device's MTU: the device drops it, and the frame comes back.
TEST_F(StatisticsTest, SendingMoreThanTheMtuLosesThePacketOnly) {
  Start({});
  for (uint32_t i = 0; i < 200; ++i) {
    EXPECT_TRUE(TransmitCopy(*port_->queue(0), MakePacket(2000, i)));
  }
  EXPECT_THAT(socket_->ReceiveNumbers(1, absl::Milliseconds(50)), IsEmpty());
  ExpectTraffic();
}

// Larger than a frame: only possible when the MTU grows while the port runs.
TEST_F(StatisticsTest, ReceivingMoreThanAFrameHoldsIsDroppedAndCounted) {
  Start({.mode = XdpMode::kGeneric});
  Command("ip link set p0 mtu 9000");
  {
    const InNamespace inside(container());
    Command("ip link set c0 mtu 9000");
  }
  for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(socket_->Send(MakePacket(5000, i)));
  EXPECT_TRUE(WaitFor([&] { return CounterOf(*port_, "rx_dropped") == 10; }))
      << datapath_->DescribePorts("p0").value_or("");
  EXPECT_THAT(ReceiveNumbers(*datapath_, *port_->queue(0), 1, absl::Milliseconds(50)), IsEmpty());
  EXPECT_EQ(port_->Report().drops.receive, 10u) << "which nobody else counts in generic mode";
  ExpectTraffic();
}

TEST_F(StatisticsTest, TheLongestPacketThatFitsIsReceivedAndSentOn) {
  Start({.mode = XdpMode::kGeneric}, {.mtu = 3822});
  const uint32_t length = kMaxReceiveLength;
  ASSERT_EQ(length, 3840u);
  {
    const InNamespace inside(container());
    Command("ip link set c0 mtu 9000");
  }
  ASSERT_TRUE(socket_->Send(MakePacket(3822 + 14, 3)));
  EXPECT_EQ(Forward(*port_->queue(0), *port_->queue(0), 1), 1u);
  EXPECT_THAT(socket_->ReceiveNumbers(1), ElementsAre(3u));
  ExpectTraffic();
}

TEST_F(StatisticsTest, TheShortestPacketIsSent) {
  Start({});
  ASSERT_TRUE(TransmitCopy(*port_->queue(0), MakePacket(kMinTestPacket, 1).substr(0, 14)));
  const auto received = socket_->Receive();
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(*received, MakePacket(kMinTestPacket, 1).substr(0, 14));
  EXPECT_FALSE(TransmitCopy(*port_->queue(0), std::string(13, 'x')));
  EXPECT_EQ(CounterOf(*port_, "tx_drop_invalid"), 1u);
  EXPECT_EQ(CounterOf(*port_, "tx_invalid_descs"), 0u) << "the kernel must not see it";
  ExpectTraffic();
}

TEST_F(StatisticsTest, NothingThatCannotBeSentReachesTheKernel) {
  Start({});
  const std::string bytes(5000, 'x');
  for (const uint32_t length : {0u, 13u, 3841u, 4097u, 5000u}) {
    EXPECT_FALSE(TransmitCopy(*port_->queue(0), bytes.substr(0, length))) << length;
  }
  EXPECT_EQ(CounterOf(*port_, "tx_drop_invalid"), 5u);
  EXPECT_EQ(CounterOf(*port_, "tx_invalid_descs"), 0u);
  EXPECT_EQ(CounterOf(*port_, "tx_completion_invalid"), 0u);
  ExpectTraffic();
}

// Whoever holds all frames stops the port, and nothing worse.
TEST_F(StatisticsTest, WithoutFramesReceivingStopsUntilThereAreSome) {
  Start({});
  std::vector<FrameIndex> all(kFrames);
  all.resize(datapath_->umem().pool().Take(FrameOwner::Held(), all.data(), all.size()));
  for (uint32_t i = 0; i < 600; ++i) ASSERT_TRUE(socket_->Send(MakePacket(100, i)));
  EXPECT_EQ(ReceiveNumbers(*datapath_, *port_->queue(0), 512).size(), 512u);
  datapath_->umem().pool().Give(FrameOwner::Held(), all.data(), all.size());
  ReceiveNumbers(*datapath_, *port_->queue(0), 1000, absl::Milliseconds(50));
  ExpectTraffic();
}

}  // namespace
}  // namespace afxdp::testing

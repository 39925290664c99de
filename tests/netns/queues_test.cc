// SPDX-License-Identifier: Apache-2.0
//
// Several queues of one device, and where the port's first one is.
#include <algorithm>
#include <memory>
#include <vector>

#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr uint32_t kQueues = 4;

// A container whose end of the veth has an XSK per queue too: what is sent on its queue N arrives
// on ours (skb_get_queue_mapping() in the kernel's veth_xmit()).
class QueuesTest : public NetnsTest {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container(), {.queues = kQueues});
    const InNamespace inside(container());
    auto datapath = Datapath::Create(
        {.region = {.frames = 4096, .hugepages = false}, .headers = {.size = 8, .align = 8}});
    ASSERT_OK(datapath);
    peer_datapath_ = *std::move(datapath);
    const auto port = peer_datapath_->OpenPort(
        "c0", {.n_rxq = kQueues}, {.wants_reconfigure = [] {}, .status_changed = [] {}});
    ASSERT_OK(port);
    peer_ = *port;
  }

  void TearDown() override {
    peer_datapath_.reset();
    NetnsTest::TearDown();
  }

  // Sends packets numbered 100 * queue + 0..count-1 on each queue of the container's end.
  void SendOnAllQueues(uint32_t count) {
    for (uint32_t queue = 0; queue < kQueues; ++queue) {
      for (uint32_t i = 0; i < count; ++i) {
        ASSERT_TRUE(TransmitCopy(*peer_->queue(queue), MakePacket(80, 100 * queue + i)));
      }
    }
  }

  static std::vector<uint32_t> Numbers(uint32_t queue, uint32_t count) {
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < count; ++i) numbers.push_back(100 * queue + i);
    return numbers;
  }

  std::unique_ptr<Datapath> peer_datapath_;
  Port* peer_ = nullptr;
};

TEST_F(QueuesTest, EachQueueGetsItsOwnPackets) {
  Port* port = Open("p0", {.n_rxq = kQueues});
  ASSERT_NE(port, nullptr);
  ASSERT_EQ(port->queue_count(), kQueues);
  SendOnAllQueues(20);
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    EXPECT_THAT(ReceiveNumbers(*datapath_, *port->queue(queue), 20),
                ElementsAreArray(Numbers(queue, 20)));
    EXPECT_EQ(CounterOf(*port, "rx_packets", queue), 20u);
  }
  ExpectAllFramesConserved();
}

TEST_F(QueuesTest, EachQueueSendsOnItsOwn) {
  Port* port = Open("p0", {.n_rxq = kQueues});
  ASSERT_NE(port, nullptr);
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    for (uint32_t i = 0; i < 20; ++i) {
      ASSERT_TRUE(TransmitCopy(*port->queue(queue), MakePacket(80, 100 * queue + i)));
    }
  }
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    EXPECT_THAT(ReceiveNumbers(*peer_datapath_, *peer_->queue(queue), 20),
                ElementsAreArray(Numbers(queue, 20)));
  }
}

TEST_F(QueuesTest, StartQueueMovesThePortsFirst) {
  PacketSocket kernel(NetNamespace::Current(), "p0");
  Port* port = Open("p0", {.n_rxq = 2, .start_queue = 1});
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->queue(0)->config().where.queue, 1u);
  EXPECT_EQ(port->queue(1)->config().where.queue, 2u);
  SendOnAllQueues(10);
  EXPECT_THAT(ReceiveNumbers(*datapath_, *port->queue(0), 10), ElementsAreArray(Numbers(1, 10)));
  EXPECT_THAT(ReceiveNumbers(*datapath_, *port->queue(1), 10), ElementsAreArray(Numbers(2, 10)));
  // Queues 0 and 3 are the kernel's still.
  std::vector<uint32_t> passed = kernel.ReceiveNumbers(20);
  std::sort(passed.begin(), passed.end());
  std::vector<uint32_t> expected = Numbers(0, 10);
  for (const uint32_t number : Numbers(3, 10)) expected.push_back(number);
  EXPECT_THAT(passed, ElementsAreArray(expected));
  ExpectAllFramesConserved();
}

TEST_F(QueuesTest, CountersAreNamedByTheDevicesQueue) {
  Port* port = Open("p0", {.n_rxq = 2, .start_queue = 2});
  ASSERT_NE(port, nullptr);
  const PortReport report = port->Report();
  ASSERT_EQ(report.queues.size(), 2u);
  EXPECT_EQ(report.queues[0].queue, 2u);
  EXPECT_EQ(report.queues[1].queue, 3u);
  EXPECT_THAT(datapath_->DescribePool(), HasSubstr("port p0 queue 3: rx 512 tx 0\n"));
}

TEST_F(QueuesTest, MoreThanTheDeviceHasAreRefused) {
  EXPECT_THAT(TryOpen("p0", {.n_rxq = 5}), FailsWith(EINVAL, HasSubstr("Too big 'n_rxq'")));
  EXPECT_THAT(TryOpen("p0", {.n_rxq = 1, .start_queue = 4}),
              FailsWith(EINVAL, HasSubstr("the device has 4")));
  ExpectAllFramesConserved();
  EXPECT_NE(Open("p0", {.n_rxq = 4}), nullptr);
}

}  // namespace
}  // namespace afxdp::testing

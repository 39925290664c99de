// SPDX-License-Identifier: Apache-2.0
//
// Packets through one queue pair: every size, byte for byte, in every mode.
#include <string>
#include <tuple>
#include <vector>

#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

using ::testing::Combine;
using ::testing::ElementsAreArray;
using ::testing::Values;

// Mode, and whether with need-wakeup.
using Setup = std::tuple<XdpMode, bool>;

std::string SetupName(const ::testing::TestParamInfo<Setup>& setup) {
  return std::string(std::get<0>(setup.param) == XdpMode::kNative ? "Native" : "Generic") +
         (std::get<1>(setup.param) ? "NeedWakeup" : "NoWakeup");
}

// Packet lengths: around each bound there is, and what lies between.
std::vector<uint32_t> Lengths(uint32_t longest) {
  std::vector<uint32_t> lengths = {60, 61, 63, 64, 65, 127, 128, 129, 1499, 1513, 1514};
  for (uint32_t length = 66; length < longest; length += 37) lengths.push_back(length);
  for (uint32_t below = 0; below < 3; ++below) lengths.push_back(longest - below);
  return lengths;
}

class TrafficTest : public NetnsTest, public ::testing::WithParamInterface<Setup> {
 protected:
  static PortOptions options() {
    return {.mode = std::get<0>(GetParam()), .need_wakeup = std::get<1>(GetParam())};
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, TrafficTest,
                         Combine(Values(XdpMode::kNative, XdpMode::kGeneric), Values(true, false)),
                         SetupName);

// The largest MTU that native XDP on a veth takes in 6.x kernels (veth_xdp_set()).
constexpr uint32_t kVethMtu = 3506;

TEST_P(TrafficTest, VethReceivesEverySize) {
  MakeVeth("p0", "c0", container(), {.mtu = kVethMtu});
  Port* port = Open("p0", options());
  ASSERT_NE(port, nullptr);
  PacketSocket socket(container(), "c0");
  uint32_t number = 0;
  for (const uint32_t length : Lengths(3506)) {
    ASSERT_TRUE(socket.Send(MakePacket(length, number))) << length;
    ASSERT_THAT(ReceiveNumbers(*datapath_, *port->queue(0), 1), ElementsAreArray({number}))
        << length;
    ++number;
  }
  EXPECT_EQ(CounterOf(*port, "rx_packets"), number);
  EXPECT_EQ(CounterOf(*port, "rx_drop_invalid"), 0u);
  ExpectAllFramesConserved();
}

TEST_P(TrafficTest, VethSendsEverySize) {
  MakeVeth("p0", "c0", container(), {.mtu = kVethMtu});
  Port* port = Open("p0", options());
  ASSERT_NE(port, nullptr);
  PacketSocket socket(container(), "c0");
  uint32_t number = 0;
  uint64_t bytes = 0;
  for (const uint32_t length : Lengths(3506)) {
    ASSERT_TRUE(TransmitCopy(*port->queue(0), MakePacket(length, number))) << length;
    ASSERT_THAT(socket.ReceiveNumbers(1), ElementsAreArray({number})) << length;
    ++number;
    bytes += length;
  }
  EXPECT_EQ(CounterOf(*port, "tx_packets"), number);
  EXPECT_EQ(CounterOf(*port, "tx_bytes"), bytes);
  EXPECT_EQ(CounterOf(*port, "tx_copied_foreign"), number);
  EXPECT_EQ(CounterOf(*port, "tx_in_place"), 0u);
  ExpectAllFramesConserved();
}

TEST_P(TrafficTest, TapReceivesAndSendsEverySize) {
  Tap vm("t0");
  Port* port = Open("t0", options());
  ASSERT_NE(port, nullptr);
  uint32_t number = 0;
  for (const uint32_t length : Lengths(1514)) {
    ASSERT_TRUE(vm.Send(MakePacket(length, number))) << length;
    ASSERT_THAT(ReceiveNumbers(*datapath_, *port->queue(0), 1), ElementsAreArray({number}))
        << length;
    ASSERT_TRUE(TransmitCopy(*port->queue(0), MakePacket(length, number))) << length;
    ASSERT_THAT(vm.ReceiveNumbers(1), ElementsAreArray({number})) << length;
    ++number;
  }
  EXPECT_EQ(CounterOf(*port, "rx_packets"), number);
  EXPECT_EQ(CounterOf(*port, "tx_packets"), number);
  ExpectAllFramesConserved();
}

// More than the rings hold, so that every index wraps around the ring and every frame is reused.
TEST_P(TrafficTest, ThousandsInOrder) {
  MakeVeth("p0", "c0", container());
  Port* port = Open("p0", options());
  ASSERT_NE(port, nullptr);
  PacketSocket socket(container(), "c0");
  constexpr uint32_t kPackets = 6000;
  std::vector<uint32_t> received;
  for (uint32_t number = 0; number < kPackets; ++number) {
    ASSERT_TRUE(socket.Send(MakePacket(100, number)));
    if (number % 100 != 99) continue;
    for (const uint32_t n : ReceiveNumbers(*datapath_, *port->queue(0), 100)) {
      received.push_back(n);
      ASSERT_TRUE(TransmitCopy(*port->queue(0), MakePacket(200, n)));
    }
  }
  EXPECT_THAT(received, ElementsAreArray(Sequence(kPackets)));
  EXPECT_THAT(socket.ReceiveNumbers(kPackets), ElementsAreArray(Sequence(kPackets)));
  EXPECT_EQ(CounterOf(*port, "tx_kick_busy"), 0u);
  EXPECT_EQ(CounterOf(*port, "tx_drop_no_descriptor"), 0u);
  ExpectAllFramesConserved();
}

}  // namespace
}  // namespace afxdp::testing

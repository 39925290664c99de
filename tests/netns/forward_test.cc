// SPDX-License-Identifier: Apache-2.0
//
// From port to port without a copy: the frame that a packet was received into is the one it is sent
// from.
#include <string>
#include <vector>

#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

using ::testing::ElementsAreArray;

constexpr uint32_t kPackets = 500;
// Sent at a time; less than a ring or a tap's queue holds.
constexpr uint32_t kBurst = 50;

class ForwardTest : public NetnsTest, public ::testing::WithParamInterface<XdpMode> {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    other_.emplace(NetNamespace::Create());
    MakeVeth("p0", "c0", container());
    MakeVeth("p1", "c1", *other_);
    tap_.emplace("t0");
    veth0_ = Open("p0", options());
    veth1_ = Open("p1", options());
    vm_ = Open("t0", options());
    ASSERT_TRUE(veth0_ && veth1_ && vm_);
    socket0_.emplace(container(), "c0");
    socket1_.emplace(*other_, "c1");
  }

  static PortOptions options() { return {.mode = GetParam()}; }

  // Sends packets of all sizes into `from` and expects each at the other end of `to`, unharmed, in
  // order, and sent in place.
  template <typename Source, typename Sink>
  void ExpectForwarded(Source& source, Port& from, Port& to, Sink& sink) {
    std::vector<uint32_t> arrived;
    for (uint32_t number = 0; number < kPackets; number += kBurst) {
      for (uint32_t i = 0; i < kBurst; ++i) {
        const uint32_t length = 60 + (number + i) * 2897 % 1455;
        ASSERT_TRUE(source.Send(MakePacket(length, number + i)));
      }
      ASSERT_EQ(Forward(*from.queue(0), *to.queue(0), kBurst), kBurst);
      for (const uint32_t n : sink.ReceiveNumbers(kBurst)) arrived.push_back(n);
    }
    EXPECT_THAT(arrived, ElementsAreArray(Sequence(kPackets)));
    EXPECT_EQ(CounterOf(from, "rx_packets"), kPackets);
    EXPECT_EQ(CounterOf(to, "tx_packets"), kPackets);
    EXPECT_EQ(CounterOf(to, "tx_in_place"), kPackets);
    for (const char* copied : {"tx_copied_clone", "tx_copied_foreign", "tx_copied_unfit"}) {
      EXPECT_EQ(CounterOf(to, copied), 0u) << copied;
    }
    ExpectAllFramesConserved();
  }

  std::optional<NetNamespace> other_;
  std::optional<Tap> tap_;
  std::optional<PacketSocket> socket0_;
  std::optional<PacketSocket> socket1_;
  Port* veth0_ = nullptr;
  Port* veth1_ = nullptr;
  Port* vm_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Modes, ForwardTest, ::testing::Values(XdpMode::kNative, XdpMode::kGeneric),
                         [](const auto& mode) { return std::string(XdpModeName(mode.param)); });

TEST_P(ForwardTest, VethToVeth) { ExpectForwarded(*socket0_, *veth0_, *veth1_, *socket1_); }

TEST_P(ForwardTest, VethToTap) { ExpectForwarded(*socket0_, *veth0_, *vm_, *tap_); }

TEST_P(ForwardTest, TapToVeth) { ExpectForwarded(*tap_, *vm_, *veth1_, *socket1_); }

TEST_P(ForwardTest, BackOutOfTheSamePort) {
  ExpectForwarded(*socket0_, *veth0_, *veth0_, *socket0_);
}

// The data may have been moved to the front, as when a tunnel header is pushed.
TEST_P(ForwardTest, WithAHeaderPushedIntoTheHeadroom) {
  ASSERT_TRUE(socket0_->Send(MakePacket(200, 7)));
  ReceivedPacket packet;
  ASSERT_TRUE(WaitFor([&] { return veth0_->queue(0)->Receive(&packet, 1) == 1; }));
  const std::string pushed = MakePacket(450, 8);
  char* front = packet.data - 250;
  pushed.copy(front, pushed.size());
  const TransmitPacket transmit = SendInPlace(front, 450);
  ASSERT_EQ(veth1_->queue(0)->Transmit(&transmit, 1), 1u);
  EXPECT_THAT(socket1_->ReceiveNumbers(1), ElementsAreArray({8u}));
  ExpectAllFramesConserved();
}

// A port in another mode shares the memory all the same.
TEST_P(ForwardTest, BetweenModes) {
  Close(veth1_);
  veth1_ =
      Open("p1", {.mode = GetParam() == XdpMode::kNative ? XdpMode::kGeneric : XdpMode::kNative});
  ASSERT_NE(veth1_, nullptr);
  ExpectForwarded(*socket0_, *veth0_, *veth1_, *socket1_);
}

}  // namespace
}  // namespace afxdp::testing

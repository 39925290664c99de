// SPDX-License-Identifier: Apache-2.0
//
// Links that go down and come up again: what is sent meanwhile is dropped, counted, and never
// delivered late.
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/netns/netns_test.h"
#include "tests/netns/xdp_query.h"

namespace afxdp::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;

// Packets from this number on were sent when the link was up again.
constexpr uint32_t kFresh = 1000000;

class LinksTest : public NetnsTest {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container());
    port_ = Open("p0", {}, &events_);
    ASSERT_NE(port_, nullptr);
    socket_.emplace(container(), "c0");
  }

  void SetPeer(const char* state) {
    const InNamespace inside(container());
    Command(std::string("ip link set c0 ") + state);
  }

  bool LinkUp() { return port_->Report().link_up; }

  // Sends until the port knows that its link is down, and a little longer.
  void SendUntilDown() {
    EXPECT_TRUE(WaitFor([&] {
      for (int i = 0; i < 10; ++i) Send(number_++);
      return !LinkUp();
    }));
    for (int i = 0; i < 10; ++i) Send(number_++);
  }
  bool Send(uint32_t number) { return TransmitCopy(*port_->queue(0), MakePacket(100, number)); }

  // As the switch does when it is asked to, or not at all.
  void ApplyIfWanted() {
    const auto changed = port_->Prepare({});
    ASSERT_OK(changed);
    if (*changed) {
      ASSERT_OK(port_->Apply());
    }
  }

  // The link is up: fresh packets get through, and nothing from before does.
  void ExpectOnlyFreshPackets() {
    EXPECT_TRUE(WaitFor([&] { return LinkUp(); }));
    ApplyIfWanted();
    port_->Poll();
    EXPECT_THAT(socket_->ReceiveNumbers(1000000, absl::Milliseconds(100)), IsEmpty())
        << "something stale was delivered";
    for (uint32_t i = 0; i < 50; ++i) EXPECT_TRUE(Send(kFresh + i));
    EXPECT_THAT(socket_->ReceiveNumbers(50), Each(Ge(kFresh)));
    ASSERT_TRUE(socket_->Send(MakePacket(100, 5)));
    EXPECT_THAT(ReceiveNumbers(*datapath_, *port_->queue(0), 1), ElementsAre(5u));
    ExpectAllFramesConserved();
  }

  // Takes what had arrived before the link went down.
  void DrainSocket() { socket_->ReceiveNumbers(10000000, absl::Milliseconds(100)); }

  // Sends `size` packets as one batch; returns how many went onto the ring.
  size_t SendBatch(size_t size) {
    const std::string packet = MakePacket(100, number_++);
    const std::vector<TransmitPacket> batch(
        size, SendCopy(packet.data(), static_cast<uint32_t>(packet.size())));
    return port_->queue(0)->Transmit(batch.data(), size);
  }

  // Holds the link watcher's thread in a callback of another port, so that the test can act in the
  // moment between the kernel's knowing that a link is down and ours.
  class HeldWatcher {
   public:
    explicit HeldWatcher(LinksTest& test) : test_(test) {
      MakeVeth("p9", "c9", test.container());
      const auto port = test.datapath_->OpenPort(
          "p9", {}, {.wants_reconfigure = [] {}, .status_changed = [this] { Hold(); }});
      EXPECT_OK(port);
      port_ = port.value_or(nullptr);
      Command("ip link set p9 promisc on");
      EXPECT_TRUE(WaitFor([this] { return held_.load(); }));
    }
    ~HeldWatcher() {
      release_ = true;
      test_.Close(port_);
      Command("ip link del p9");
    }
    HeldWatcher(const HeldWatcher&) = delete;
    HeldWatcher& operator=(const HeldWatcher&) = delete;

   private:
    void Hold() {
      held_ = true;
      WaitFor([this] { return release_.load(); }, absl::InfiniteDuration());
    }

    LinksTest& test_;
    std::atomic<bool> held_{false};
    std::atomic<bool> release_{false};
    Port* port_ = nullptr;
  };

  Port* port_ = nullptr;
  PortEvents events_;
  std::optional<PacketSocket> socket_;
  uint32_t number_ = 0;
};

TEST_F(LinksTest, OurEndDownAndUp) {
  for (int round = 0; round < 3; ++round) {
    number_ = 0;
    const uint64_t before = CounterOf(*port_, "tx_drop_link_down");
    for (uint32_t i = 0; i < 100; ++i) Send(number_++);
    Command("ip link set p0 down");
    SendUntilDown();
    EXPECT_GE(CounterOf(*port_, "tx_drop_link_down"), before + 10);
    DrainSocket();
    Command("ip link set p0 up");
    ExpectOnlyFreshPackets();
  }
  EXPECT_GT(events_.status_changed, 0);
}

TEST_F(LinksTest, PeersEndDownAndUp) {
  for (int round = 0; round < 3; ++round) {
    number_ = 0;
    for (uint32_t i = 0; i < 100; ++i) Send(number_++);
    SetPeer("down");
    SendUntilDown();
    EXPECT_GE(CounterOf(*port_, "tx_drop_link_down"), 10u);
    SetPeer("up");
    // Its receive queue has kept what came before it went down.
    socket_.reset();
    socket_.emplace(container(), "c0");
    ExpectOnlyFreshPackets();
  }
}

TEST_F(LinksTest, WhatOurEndRefusedMakesTheQueueAbandoned) {
  const ino_t before = InodeOf(port_->queue(0)->fd());
  {
    const HeldWatcher held(*this);
    Command("ip link set p0 down");
    EXPECT_EQ(SendBatch(32), 32u) << "the port does not know yet";
    EXPECT_TRUE(port_->queue(0)->abandoned());
    EXPECT_EQ(CounterOf(*port_, "tx_kick_error"), 1u);
    EXPECT_EQ(SendBatch(32), 0u);
    EXPECT_EQ(CounterOf(*port_, "tx_drop_link_down"), 32u);
  }
  EXPECT_TRUE(WaitFor([&] { return !LinkUp(); }));
  EXPECT_EQ(events_.wants_reconfigure, 0) << "there is no use in it while the link is down";
  const auto changed_while_down = port_->Prepare({});
  ASSERT_OK(changed_while_down);
  EXPECT_FALSE(*changed_while_down);

  Command("ip link set p0 up");
  EXPECT_TRUE(WaitFor([&] { return events_.wants_reconfigure > 0; }));
  const auto changed = port_->Prepare({});
  ASSERT_OK(changed);
  EXPECT_TRUE(*changed);
  ASSERT_OK(port_->Apply());
  EXPECT_NE(InodeOf(port_->queue(0)->fd()), before);
  ExpectOnlyFreshPackets();
}

// While the peer is down the kernel drops what it is given and says EBUSY for each packet.  One
// kick per batch would leave the others on the ring, to go out when the peer is back.
TEST_F(LinksTest, WhatThePeerRefusesIsDrainedAndCounted) {
  {
    const HeldWatcher held(*this);
    SetPeer("down");
    for (int i = 0; i < 10; ++i) EXPECT_EQ(SendBatch(32), 32u);
    EXPECT_EQ(CounterOf(*port_, "tx_kick_busy"), 320u);
    // The device has counted these itself.
    EXPECT_EQ(port_->Report().drops.transmit, 0u);
    EXPECT_FALSE(port_->queue(0)->abandoned());
    SetPeer("up");
  }
  ExpectOnlyFreshPackets();
}

TEST_F(LinksTest, AFlappingLinkLosesNoFrame) {
  std::atomic<bool> stop{false};
  std::thread flapper([&] {
    for (int i = 0; i < 15; ++i) {
      Command("ip link set p0 down && ip link set p0 up");
      SetPeer("down");
      SetPeer("up");
    }
    stop = true;
  });
  while (!stop) {
    Send(number_++);
    ReceiveNumbers(*datapath_, *port_->queue(0), 1, absl::ZeroDuration());
    if (events_.wants_reconfigure.exchange(0) > 0) ApplyIfWanted();
  }
  flapper.join();
  socket_.reset();
  socket_.emplace(container(), "c0");
  ExpectOnlyFreshPackets();
}

class TapLinkTest : public NetnsTest {};

TEST_F(TapLinkTest, WithoutAVmPacketsAreDroppedAndCounted) {
  std::optional<Tap> vm(std::in_place, "t0", /*persistent=*/true);
  Port* port = Open("t0");
  ASSERT_NE(port, nullptr);
  ASSERT_TRUE(TransmitCopy(*port->queue(0), MakePacket(100, 1)));
  EXPECT_THAT(vm->ReceiveNumbers(1), ElementsAre(1u));
  vm.reset();
  EXPECT_TRUE(WaitFor([&] {
    TransmitCopy(*port->queue(0), MakePacket(100, 2));
    return !port->Report().link_up;
  }));
  for (int i = 0; i < 20; ++i) TransmitCopy(*port->queue(0), MakePacket(100, 2));
  EXPECT_GE(CounterOf(*port, "tx_drop_link_down"), 20u);
  ExpectAllFramesConserved();

  // And when it is back it gets what is sent then, not before.
  vm.emplace("t0", true);
  EXPECT_TRUE(WaitFor([&] { return port->Report().link_up; }));
  const auto changed = port->Prepare({});
  ASSERT_OK(changed);
  if (*changed) {
    ASSERT_OK(port->Apply());
  }
  ASSERT_TRUE(TransmitCopy(*port->queue(0), MakePacket(100, 3)));
  EXPECT_THAT(vm->ReceiveNumbers(1), ElementsAre(3u));
  ASSERT_TRUE(vm->Send(MakePacket(100, 4)));
  EXPECT_THAT(ReceiveNumbers(*datapath_, *port->queue(0), 1), ElementsAre(4u));
}

TEST_F(TapLinkTest, APortOpensBeforeItsVmComes) {
  std::optional<Tap> maker(std::in_place, "t0", /*persistent=*/true);
  maker.reset();
  Port* port = Open("t0");
  ASSERT_NE(port, nullptr);
  EXPECT_FALSE(port->Report().link_up);
  EXPECT_FALSE(TransmitCopy(*port->queue(0), MakePacket(100, 1)));
  Tap vm("t0", true);
  EXPECT_TRUE(WaitFor([&] { return port->Report().link_up; }));
  ASSERT_TRUE(vm.Send(MakePacket(100, 4)));
  EXPECT_THAT(ReceiveNumbers(*datapath_, *port->queue(0), 1), ElementsAre(4u));
  ASSERT_TRUE(TransmitCopy(*port->queue(0), MakePacket(100, 3)));
  EXPECT_THAT(vm.ReceiveNumbers(1), ElementsAre(3u));
  ExpectAllFramesConserved();
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// Receiver with the test as the kernel.
#include "datapath/xsk/receiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/fake_xsk.h"
#include "tests/support/status_matchers.h"

namespace afxdp::testing {
namespace {

constexpr uint32_t kFrames = 256;
constexpr uint32_t kRing = 64;
constexpr QueueId kQueue = 5;

class ReceiverTest : public ::testing::Test {
 protected:
  void SetUp() override { Start(0); }

  void Start(uint32_t first_index) {
    receiver_.reset();
    xsk_.emplace(FakeXsk::Options{.ring_size = kRing, .first_index = first_index});
    auto umem = Umem::Create({.frames = kFrames, .hugepages = false}, {.size = 32, .align = 8});
    ASSERT_OK(umem);
    umem_ = *std::move(umem);
    counters_ = std::make_unique<ReceiveCounters>();
    receiver_.emplace(umem_.get(), &xsk_->socket(), kQueue, counters_.get());
  }

  // The kernel receives `text` into the next posted frame.  Returns the packet's address.
  uint64_t Arrive(const std::string& text, uint32_t offset = kReceiveHeadroom) {
    const std::optional<__u64> chunk = xsk_->fill.Consume();
    if (!chunk) {
      ADD_FAILURE() << "the fill ring is empty";
      return 0;
    }
    text.copy(umem_->region().base() + *chunk + offset, text.size());
    EXPECT_TRUE(xsk_->rx.Produce(
        {.addr = *chunk + offset, .len = static_cast<uint32_t>(text.size()), .options = 0}));
    return *chunk + offset;
  }

  std::vector<ReceivedPacket> Receive(size_t max = 32) {
    std::vector<ReceivedPacket> packets(max);
    packets.resize(receiver_->Receive(packets.data(), max));
    return packets;
  }

  FrameIndex FrameOf(const ReceivedPacket& packet) {
    return umem_->headers().FrameOf(packet.header);
  }
  void Free(const ReceivedPacket& packet) {
    const FrameIndex frame = FrameOf(packet);
    EXPECT_EQ(umem_->pool().Give(FrameOwner::Held(), &frame, 1), 1u);
  }
  uint32_t OwnedByQueue() { return umem_->ledger().Count().queues[kQueue].receive; }

  // Lets the kernel put `descriptor` on the RX ring, which must be refused and counted.
  void ExpectRefused(const xdp_desc& descriptor, const char* what) {
    const uint64_t before = counters_->drop_invalid.Get();
    ASSERT_TRUE(xsk_->rx.Produce(descriptor));
    EXPECT_TRUE(Receive().empty()) << what;
    EXPECT_EQ(counters_->drop_invalid.Get(), before + 1) << what;
    EXPECT_EQ(xsk_->rx.Used(), 0u) << what << ": the slot must be given back";
  }

  std::unique_ptr<Umem> umem_;
  std::unique_ptr<ReceiveCounters> counters_;
  std::optional<FakeXsk> xsk_;
  std::optional<Receiver> receiver_;
};

TEST_F(ReceiverTest, RefillPostsAFrameForEachSlot) {
  EXPECT_TRUE(receiver_->Refill());
  EXPECT_EQ(xsk_->fill.Used(), kRing);
  EXPECT_EQ(OwnedByQueue(), kRing);
  std::set<uint64_t> chunks;
  while (const auto chunk = xsk_->fill.Consume()) {
    EXPECT_EQ(*chunk % kFrameSize, 0u);
    EXPECT_LT(*chunk, umem_->region().size());
    EXPECT_EQ(umem_->ledger().Owner(static_cast<FrameIndex>(*chunk >> kFrameShift)),
              FrameOwner::Receive(kQueue));
    chunks.insert(*chunk);
  }
  EXPECT_EQ(chunks.size(), kRing);
}

TEST_F(ReceiverTest, APacketComesWithItsDataHeaderAndLength) {
  receiver_->Refill();
  const uint64_t address = Arrive("a packet, received");
  const auto packets = Receive();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].data, umem_->region().base() + address);
  EXPECT_EQ(std::string(packets[0].data, packets[0].length), "a packet, received");
  EXPECT_EQ(FrameOf(packets[0]), address >> kFrameShift);
  EXPECT_EQ(umem_->ledger().Owner(FrameOf(packets[0])), FrameOwner::Held());
  EXPECT_EQ(counters_->packets.Get(), 1u);
  EXPECT_EQ(counters_->bytes.Get(), 18u);
}

TEST_F(ReceiverTest, NothingThereIsNoPacket) {
  receiver_->Refill();
  EXPECT_TRUE(Receive().empty());
  EXPECT_EQ(counters_->packets.Get(), 0u);
}

TEST_F(ReceiverTest, NeverMoreThanAskedFor) {
  receiver_->Refill();
  for (int i = 0; i < 40; ++i) Arrive("x");
  EXPECT_EQ(Receive(32).size(), 32u);
  EXPECT_EQ(Receive(32).size(), 8u);
}

TEST_F(ReceiverTest, RefillKeepsAsManyPostedAsTheRingHas) {
  receiver_->Refill();
  for (int i = 0; i < 40; ++i) Arrive("x");
  Receive(40);
  EXPECT_EQ(OwnedByQueue(), kRing - 40);
  receiver_->Refill();
  // In whole batches of 32.
  EXPECT_EQ(OwnedByQueue(), kRing - 8);
  EXPECT_EQ(xsk_->fill.Used(), kRing - 8);
}

TEST_F(ReceiverTest, FramesOnTheRxRingCountAsPosted) {
  receiver_->Refill();
  for (uint32_t i = 0; i < kRing; ++i) Arrive("x");
  EXPECT_EQ(xsk_->fill.Used(), 0u);
  EXPECT_TRUE(receiver_->Refill());
  EXPECT_EQ(xsk_->fill.Used(), 0u) << "more would be posted than the RX ring can take";
}

TEST_F(ReceiverTest, TheFillRingIsServedBeforeTheRxRing) {
  receiver_->Refill();
  for (int i = 0; i < 40; ++i) Arrive("x");
  Receive(32);
  EXPECT_LT(xsk_->fill.Used(), kRing - 32);
  Receive(32);  // Refills for the 32 that went before.
  EXPECT_EQ(xsk_->fill.Used(), kRing - 40 + 32);
}

TEST_F(ReceiverTest, WrapsAt32BitsWithoutLosingAFrame) {
  Start(UINT32_MAX - 1000);
  for (uint32_t round = 0; round < 200; ++round) {
    receiver_->Refill();
    for (int i = 0; i < 20; ++i) Arrive("round " + std::to_string(round));
    const auto packets = Receive();
    ASSERT_EQ(packets.size(), 20u);
    for (const ReceivedPacket& packet : packets) {
      ASSERT_EQ(std::string(packet.data, packet.length), "round " + std::to_string(round));
      Free(packet);
    }
  }
  EXPECT_EQ(counters_->packets.Get(), 4000u);
  EXPECT_EQ(counters_->drop_invalid.Get(), 0u);
  const auto census = umem_->ledger().Count();
  EXPECT_EQ(census.held, 0u);
  EXPECT_EQ(census.pool + OwnedByQueue(), kFrames);
}

TEST_F(ReceiverTest, ADescriptorBeyondTheRegionIsRefused) {
  receiver_->Refill();
  for (const uint64_t address : {umem_->region().size(), umem_->region().size() + 256,
                                 uint64_t{1} << 44, UINT64_MAX, uint64_t{1} << 63}) {
    ExpectRefused({.addr = address, .len = 60, .options = 0}, "beyond the region");
  }
  EXPECT_EQ(umem_->ledger().Count().held, 0u);
}

TEST_F(ReceiverTest, AFrameThatIsNotTheQueuesIsRefused) {
  receiver_->Refill();
  FrameIndex held;
  FrameIndex others;
  ASSERT_EQ(umem_->pool().Take(FrameOwner::Held(), &held, 1), 1u);
  ASSERT_EQ(umem_->pool().Take(FrameOwner::Receive(kQueue + 1), &others, 1), 1u);
  const FrameIndex free = kFrames - 1;
  ASSERT_TRUE(umem_->ledger().Owner(free).is_pool());
  for (const FrameIndex frame : {held, others, free}) {
    const FrameOwner owner = umem_->ledger().Owner(frame);
    ExpectRefused({.addr = uint64_t{frame} * kFrameSize + 256, .len = 60, .options = 0},
                  "not the queue's");
    EXPECT_EQ(umem_->ledger().Owner(frame), owner);
  }
}

TEST_F(ReceiverTest, TheSameFrameTwiceIsOnePacket) {
  receiver_->Refill();
  const uint64_t address = Arrive("once");
  ASSERT_TRUE(xsk_->rx.Produce({.addr = address, .len = 4, .options = 0}));
  const auto packets = Receive();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(counters_->drop_invalid.Get(), 1u);
  Free(packets[0]);
  EXPECT_EQ(umem_->pool().misgiven(), 0u);
}

TEST_F(ReceiverTest, LengthsThatDoNotFitAreRefusedAndTheirFrameFreed) {
  receiver_->Refill();
  uint32_t owned = OwnedByQueue();
  for (const auto& [offset, length] : std::vector<std::pair<uint32_t, uint32_t>>{
           {256, 0}, {256, kFrameSize - 255}, {4095, 2}, {0, 4097}, {256, UINT32_MAX}}) {
    const uint64_t chunk = *xsk_->fill.Consume();
    ExpectRefused({.addr = chunk + offset, .len = length, .options = 0}, "length");
    EXPECT_TRUE(umem_->ledger().Owner(static_cast<FrameIndex>(chunk >> kFrameShift)).is_pool());
    EXPECT_EQ(OwnedByQueue(), --owned);
  }
  EXPECT_EQ(umem_->pool().misgiven(), 0u);
}

TEST_F(ReceiverTest, APacketMayFillItsFrameToTheEnd) {
  receiver_->Refill();
  Arrive(std::string(kMaxReceiveLength, 'x'));
  Arrive(std::string(kFrameSize, 'y'), 0);
  const auto packets = Receive();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].length, kMaxReceiveLength);
  EXPECT_EQ(packets[1].length, kFrameSize);
}

TEST_F(ReceiverTest, GoodPacketsBetweenBadOnesArrive) {
  receiver_->Refill();
  Arrive("first");
  ASSERT_TRUE(xsk_->rx.Produce({.addr = UINT64_MAX, .len = 60, .options = 0}));
  Arrive("second");
  ASSERT_TRUE(xsk_->rx.Produce({.addr = 256, .len = 0, .options = 0}));
  Arrive("third");
  const auto packets = Receive();
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_EQ(std::string(packets[0].data, packets[0].length), "first");
  EXPECT_EQ(std::string(packets[1].data, packets[1].length), "second");
  EXPECT_EQ(std::string(packets[2].data, packets[2].length), "third");
  EXPECT_EQ(counters_->packets.Get(), 3u);
}

TEST_F(ReceiverTest, AnEmptyPoolIsCountedAndRecoveredFrom) {
  std::vector<FrameIndex> taken(kFrames - 10);
  ASSERT_EQ(umem_->pool().Take(FrameOwner::Held(), taken.data(), taken.size()), taken.size());
  EXPECT_FALSE(receiver_->Refill());
  EXPECT_TRUE(receiver_->short_of_frames());
  EXPECT_EQ(counters_->refill_short.Get(), 1u);
  EXPECT_EQ(xsk_->fill.Used(), 10u) << "what there is, is posted";
  // What was posted still receives.
  Arrive("x");
  const auto packets = Receive();
  ASSERT_EQ(packets.size(), 1u);
  Free(packets[0]);
  ASSERT_EQ(umem_->pool().Give(FrameOwner::Held(), taken.data(), taken.size()), taken.size());
  EXPECT_TRUE(receiver_->Refill());
  EXPECT_FALSE(receiver_->short_of_frames());
}

TEST_F(ReceiverTest, WakesTheDriverOnlyWhenAskedAndIdle) {
  receiver_->Refill();
  Receive();
  EXPECT_EQ(counters_->wakeups.Get(), 0u);
  xsk_->fill.SetNeedWakeup(true);
  Receive();
  EXPECT_EQ(counters_->wakeups.Get(), 1u);
  Arrive("x");
  EXPECT_EQ(Receive().size(), 1u);
  EXPECT_EQ(counters_->wakeups.Get(), 1u) << "packets come, so the driver is awake";
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// Transmitter and its rings: full ones, completions, kicks, a device that is down.
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/xsk/transmit_fixture.h"

namespace afxdp::testing {
namespace {

using TransmitterRingsTest = TransmitterTest;

const std::string kText(60, 't');

TEST_F(TransmitterRingsTest, AFullRingDropsCountsAndFreesTheRest) {
  std::vector<TransmitPacket> packets;
  for (uint32_t i = 0; i < kRing + 20; ++i) packets.push_back(Held(kText));
  EXPECT_EQ(Transmit(packets), kRing);
  EXPECT_EQ(counters_->drop_no_descriptor.Get(), 20u);
  EXPECT_EQ(umem_->ledger().Count().queues[kQueue].transmit, kRing);
  EXPECT_EQ(umem_->ledger().Count().held, 0u);
  EXPECT_EQ(Transmit({Foreign(kText), Held(kText)}), 0u);
  EXPECT_EQ(counters_->drop_no_descriptor.Get(), 22u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterRingsTest, CompletionsMakeRoomWithoutAPoll) {
  for (int round = 0; round < 10; ++round) {
    std::vector<TransmitPacket> packets;
    for (uint32_t i = 0; i < kRing; ++i) packets.push_back(Held(kText));
    ASSERT_EQ(Transmit(packets), kRing) << "round " << round;
    ASSERT_EQ(xsk_->Send().size(), kRing);
  }
  EXPECT_EQ(counters_->drop_no_descriptor.Get(), 0u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterRingsTest, TheCompletionRingNeverOverflows) {
  // 64 are completed and not reclaimed; a 65th would have no place to complete to.
  std::vector<TransmitPacket> packets;
  for (uint32_t i = 0; i < kRing; ++i) packets.push_back(Held(kText));
  Transmit(packets);
  xsk_->Send();
  EXPECT_EQ(xsk_->completion.Used(), kRing);
  EXPECT_EQ(Transmit({Held(kText)}), 1u);
  EXPECT_LT(xsk_->completion.Used(), kRing);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterRingsTest, WrapsAt32BitsWithoutLosingAFrame) {
  Start({.queue = kQueue, .need_wakeup = false},
        {.ring_size = kRing, .first_index = UINT32_MAX - 1000});
  for (int round = 0; round < 200; ++round) {
    ASSERT_EQ(Transmit(std::vector<TransmitPacket>(20, Foreign(kText))), 20u);
    for (const xdp_desc& descriptor : xsk_->Send()) ASSERT_EQ(Text(descriptor), kText);
  }
  EXPECT_EQ(counters_->packets.Get(), 4000u);
  EXPECT_EQ(counters_->completion_invalid.Get(), 0u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterRingsTest, CompletionsWithLowBitsSetAreTheirFrames) {
  const TransmitPacket packet = Held(kText);
  Transmit({packet});
  ASSERT_TRUE(xsk_->tx.Consume().has_value());
  xsk_->completion.Produce((uint64_t{FrameOf(packet)} << kFrameShift) + 4095);
  transmitter_->Poll();
  EXPECT_TRUE(OwnerOf(packet).is_pool());
  EXPECT_EQ(counters_->completion_invalid.Get(), 0u);
}

TEST_F(TransmitterRingsTest, DuplicateCompletionsAreCountedAndChangeNothing) {
  const TransmitPacket packet = Held(kText);
  Transmit({packet});
  const uint64_t address = xsk_->Send().at(0).addr;
  xsk_->completion.Produce(address);
  xsk_->completion.Produce(address + 8);
  transmitter_->Poll();
  EXPECT_TRUE(OwnerOf(packet).is_pool());
  EXPECT_EQ(counters_->completion_invalid.Get(), 2u);
  EXPECT_EQ(umem_->ledger().Count().pool, kFrames);
  // And the ring still has all of its room.
  EXPECT_EQ(Transmit(std::vector<TransmitPacket>(kRing, Foreign(kText))), kRing);
}

TEST_F(TransmitterRingsTest, ForeignCompletionsAreCountedAndChangeNothing) {
  const TransmitPacket packet = Held(kText);
  const TransmitPacket others = Held(kText);
  Transmit({packet});
  const uint64_t others_address = umem_->region().Address(others.data);
  for (const uint64_t address : {others_address, others_address + 1, umem_->region().size() + 7,
                                 uint64_t{1} << 44, UINT64_MAX}) {
    ASSERT_TRUE(xsk_->completion.Produce(address));
  }
  transmitter_->Poll();
  EXPECT_EQ(counters_->completion_invalid.Get(), 5u);
  EXPECT_EQ(OwnerOf(others), FrameOwner::Held());
  EXPECT_EQ(OwnerOf(packet), FrameOwner::Transmit(kQueue));
  xsk_->Send();
  transmitter_->Poll();
  EXPECT_TRUE(OwnerOf(packet).is_pool());
}

TEST_F(TransmitterRingsTest, IsBusyWhileFramesAreOut) {
  EXPECT_FALSE(transmitter_->busy());
  Transmit({Held(kText)});
  EXPECT_TRUE(transmitter_->busy());
  xsk_->Send();
  EXPECT_TRUE(transmitter_->busy()) << "sent, but not taken back";
  transmitter_->Poll();
  EXPECT_FALSE(transmitter_->busy());
}

TEST_F(TransmitterRingsTest, KicksOncePerBatch) {
  Transmit(std::vector<TransmitPacket>(32, Foreign(kText)));
  EXPECT_EQ(xsk_->CountKicks(), 1);
  EXPECT_EQ(counters_->kicks.Get(), 1u);
}

TEST_F(TransmitterRingsTest, WithNeedWakeupKicksOnlyWhenAsked) {
  Start({.queue = kQueue, .need_wakeup = true});
  Transmit({Foreign(kText)});
  EXPECT_EQ(xsk_->CountKicks(), 0);
  xsk_->tx.SetNeedWakeup(true);
  Transmit({Foreign(kText)});
  EXPECT_EQ(xsk_->CountKicks(), 1);
}

TEST_F(TransmitterRingsTest, ZeroCopyKicksOnce) {
  Start({.queue = kQueue, .zero_copy = true, .need_wakeup = true});
  xsk_->tx.SetNeedWakeup(true);
  Transmit(std::vector<TransmitPacket>(64, Foreign(kText)));
  EXPECT_EQ(xsk_->CountKicks(), 1);
}

TEST_F(TransmitterRingsTest, AKickThatSaysAgainIsTriedWithTheNextPacketsOrPoll) {
  // Nobody reads the socket pair, so its queue fills up.
  while (counters_->kick_again.Get() == 0) {
    ASSERT_LT(counters_->kicks.Get(), 1000u) << "the socket never says EAGAIN";
    Transmit({Foreign(kText)});
    xsk_->Send();
    transmitter_->Poll();
  }
  EXPECT_FALSE(transmitter_->abandoned());
  Transmit({Foreign(kText)});
  EXPECT_GT(xsk_->CountKicks(), 0);
  const uint64_t kicks = counters_->kicks.Get();
  transmitter_->Poll();
  EXPECT_EQ(counters_->kicks.Get(), kicks + 1) << "one packet still waits";
  ExpectAllFramesComeBack();
  transmitter_->Poll();
  EXPECT_EQ(counters_->kicks.Get(), kicks + 1) << "nothing waits any more";
}

TEST_F(TransmitterRingsTest, LinkDownDropsCountsAndFrees) {
  link_up_ = false;
  const TransmitPacket packet = Held(kText);
  EXPECT_EQ(Transmit({packet, Foreign(kText), Held(kText, 256, TransmitKind::kInPlaceClone)}), 0u);
  EXPECT_EQ(counters_->drop_link_down.Get(), 3u);
  EXPECT_EQ(umem_->ledger().Count().pool, kFrames);
  EXPECT_EQ(umem_->pool().misgiven(), 0u);
  EXPECT_EQ(xsk_->tx.Used(), 0u);
  EXPECT_EQ(xsk_->CountKicks(), 0);
  link_up_ = true;
  EXPECT_EQ(Transmit({Held(kText)}), 1u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterRingsTest, WhatTheLinkLeftOnTheRingIsNotSentLater) {
  Transmit({Held(kText)});
  EXPECT_EQ(xsk_->CountKicks(), 1);
  link_up_ = false;
  transmitter_->Poll();
  EXPECT_TRUE(transmitter_->abandoned()) << "the packet would go out when the link is back";
  link_up_ = true;
  transmitter_->Poll();
  EXPECT_EQ(Transmit({Held(kText)}), 0u);
  EXPECT_EQ(xsk_->CountKicks(), 0);
}

TEST_F(TransmitterRingsTest, ALinkThatLeftNothingOnTheRingGoesOnWhereItWas) {
  Transmit({Held(kText)});
  xsk_->Send();
  link_up_ = false;
  transmitter_->Poll();
  EXPECT_FALSE(transmitter_->abandoned());
  EXPECT_EQ(umem_->ledger().Count().pool, kFrames) << "what was sent is taken back all the same";
  link_up_ = true;
  EXPECT_EQ(Transmit({Held(kText)}), 1u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterRingsTest, ADeadSocketIsAbandonedAndDropsFromThenOn) {
  xsk_->Break();
  const TransmitPacket first = Held(kText);
  Transmit({first});
  EXPECT_TRUE(transmitter_->abandoned());
  EXPECT_EQ(counters_->kick_error.Get(), 1u);
  const TransmitPacket second = Held(kText);
  EXPECT_EQ(Transmit({second, Foreign(kText)}), 0u);
  EXPECT_EQ(counters_->drop_link_down.Get(), 2u);
  EXPECT_TRUE(OwnerOf(second).is_pool());
  EXPECT_EQ(counters_->kicks.Get(), 1u) << "an abandoned socket is not kicked";
  transmitter_->Poll();
  EXPECT_EQ(counters_->kicks.Get(), 1u);
  // What was on the ring stays the queue's, for the quarantine to find.
  EXPECT_EQ(OwnerOf(first), FrameOwner::Transmit(kQueue));
}

TEST_F(TransmitterRingsTest, ManySendersAndAPollerAtOnce) {
  constexpr uint32_t kBig = 4096;
  Start({.queue = kQueue, .need_wakeup = true}, {.ring_size = kBig});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) Transmit({Foreign(kText), Foreign(kText)});
      for (int round = 0; round < 100; ++round) transmitter_->Poll();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counters_->packets.Get(), 200u);
  EXPECT_EQ(xsk_->Send().size(), 200u);
  ExpectAllFramesComeBack();
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// Transmitter, packet by packet: what goes onto the ring, what is copied, what is refused.
#include <string>
#include <vector>

#include "tests/unit/xsk/transmit_fixture.h"

namespace afxdp::testing {
namespace {

using TransmitterPacketsTest = TransmitterTest;

const std::string kText(60, 't');

TEST_F(TransmitterPacketsTest, InPlaceIsTheFrameItself) {
  const TransmitPacket packet = Held("a packet of the pool", 300);
  EXPECT_EQ(Transmit({packet}), 1u);
  EXPECT_EQ(OwnerOf(packet), FrameOwner::Transmit(kQueue));
  const auto sent = xsk_->Send();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].addr, umem_->region().Address(packet.data));
  EXPECT_EQ(sent[0].len, 20u);
  EXPECT_EQ(sent[0].options, 0u);
  EXPECT_EQ(counters_->in_place.Get(), 1u);
  EXPECT_EQ(counters_->packets.Get(), 1u);
  EXPECT_EQ(counters_->bytes.Get(), 20u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, ForeignBytesAreCopiedBehindTheHeadroom) {
  EXPECT_EQ(Transmit({Foreign(kText)}), 1u);
  const auto sent = xsk_->Send();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Text(sent[0]), kText);
  EXPECT_EQ(sent[0].addr % kFrameSize, kReceiveHeadroom);
  EXPECT_EQ(counters_->copied_foreign.Get(), 1u);
  EXPECT_EQ(counters_->in_place.Get(), 0u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, EachKindHasItsCounter) {
  const TransmitPacket clone = Held(kText, 256, TransmitKind::kInPlaceClone);
  const TransmitPacket unfit = {kText.data(), nullptr, 60, TransmitKind::kCopyUnfit};
  EXPECT_EQ(Transmit({clone, unfit, unfit, Foreign(kText), Foreign(kText), Foreign(kText),
                      Held(kText), Held(kText), Held(kText), Held(kText)}),
            10u);
  EXPECT_EQ(counters_->copied_clone.Get(), 1u);
  EXPECT_EQ(counters_->copied_unfit.Get(), 2u);
  EXPECT_EQ(counters_->copied_foreign.Get(), 3u);
  EXPECT_EQ(counters_->in_place.Get(), 4u);
  EXPECT_EQ(counters_->packets.Get(), 10u);
  EXPECT_EQ(counters_->bytes.Get(), 600u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, OrderIsKept) {
  const std::string second(14, '2');
  const std::string fourth(14, '4');
  Transmit(
      {Held(std::string(14, '1')), Foreign(second), Held(std::string(14, '3')), Foreign(fourth)});
  const auto sent = xsk_->Send();
  ASSERT_EQ(sent.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(Text(sent[i])[0], static_cast<char>('1' + i));
}

TEST_F(TransmitterPacketsTest, TooShortIsRefusedAndTheFrameFreed) {
  for (const size_t length : {0u, 1u, 13u}) {
    const TransmitPacket packet = Held(std::string(length, 'x'));
    EXPECT_EQ(Transmit({packet}), 0u) << length;
    EXPECT_TRUE(OwnerOf(packet).is_pool()) << length;
  }
  EXPECT_EQ(Transmit({Foreign(""), Foreign(std::string(13, 'x'))}), 0u);
  EXPECT_EQ(counters_->drop_invalid.Get(), 5u);
  EXPECT_EQ(counters_->packets.Get(), 0u);
  EXPECT_EQ(xsk_->tx.Used(), 0u);
  const std::string shortest(14, 'x');
  EXPECT_EQ(Transmit({Held(shortest), Foreign(shortest)}), 2u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, CrossingTheChunkIsRefusedAndTheFrameFreed) {
  for (const auto& [offset, length] : std::vector<std::pair<uint32_t, uint32_t>>{
           {256, 3841}, {4095, 14}, {4083, 14}, {0, 4097}, {256, UINT32_MAX}, {256, 65536}}) {
    TransmitPacket packet = Held("", offset);
    packet.length = length;
    EXPECT_EQ(Transmit({packet}), 0u) << offset << " + " << length;
    EXPECT_TRUE(OwnerOf(packet).is_pool()) << offset << " + " << length;
  }
  EXPECT_EQ(counters_->drop_invalid.Get(), 6u);
  EXPECT_EQ(xsk_->tx.Used(), 0u);
  // To the last byte is no crossing.
  EXPECT_EQ(Transmit({Held(std::string(3840, 'x')), Held(std::string(14, 'x'), 4082),
                      Held(std::string(4096, 'x'), 0)}),
            3u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, AFrameThatIsNotHeldIsRefusedAndStaysWhereItIs) {
  FrameIndex posted;
  ASSERT_EQ(umem_->pool().Take(FrameOwner::Receive(1), &posted, 1), 1u);
  TransmitPacket in_pool = Held(kText);
  const FrameIndex free = FrameOf(in_pool);
  umem_->pool().Give(FrameOwner::Held(), &free, 1);
  const TransmitPacket not_held = {umem_->region().FrameData(posted) + 256,
                                   umem_->region().FrameData(posted), 60, TransmitKind::kInPlace};
  EXPECT_EQ(Transmit({in_pool, not_held}), 0u);
  EXPECT_EQ(counters_->drop_invalid.Get(), 2u);
  EXPECT_TRUE(umem_->ledger().Owner(free).is_pool());
  EXPECT_EQ(umem_->ledger().Owner(posted), FrameOwner::Receive(1));
  EXPECT_EQ(xsk_->tx.Used(), 0u);
}

TEST_F(TransmitterPacketsTest, BytesOutsideTheRegionCannotGoInPlace) {
  const char* base = umem_->region().base();
  for (const char* data : {kText.data(), base - 60, base + umem_->region().size()}) {
    EXPECT_EQ(Transmit({{data, data, 60, TransmitKind::kInPlace}}), 0u);
  }
  EXPECT_EQ(counters_->drop_invalid.Get(), 3u);
  EXPECT_EQ(umem_->ledger().Count().pool, kFrames);
}

TEST_F(TransmitterPacketsTest, AnEmptyPacketAtTheFramesEndDoesNotFreeTheNextFrame) {
  const TransmitPacket victim = Held(kText);
  TransmitPacket empty = Held("");
  // All of it has been pulled: the data pointer is the next frame's first byte.
  empty.data = static_cast<const char*>(empty.frame) + kFrameSize;
  EXPECT_EQ(Transmit({empty}), 0u);
  EXPECT_TRUE(OwnerOf(empty).is_pool());
  EXPECT_TRUE(OwnerOf(victim).is_held());
  EXPECT_EQ(Transmit({victim}), 1u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, BytesInAnotherFrameAreRefused) {
  for (const int64_t offset : {int64_t{-1}, int64_t{kFrameSize}}) {
    TransmitPacket packet = Held(kText);
    packet.data = static_cast<const char*>(packet.frame) + offset;
    EXPECT_EQ(Transmit({packet}), 0u);
    EXPECT_TRUE(OwnerOf(packet).is_pool());
  }
  EXPECT_EQ(counters_->drop_invalid.Get(), 2u);
}

TEST_F(TransmitterPacketsTest, TheSameFrameTwiceGoesOutOnce) {
  const TransmitPacket packet = Held(kText);
  EXPECT_EQ(Transmit({packet, packet}), 1u);
  EXPECT_EQ(counters_->drop_invalid.Get(), 1u);
  EXPECT_EQ(xsk_->tx.Used(), 1u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, ACopyThatDoesNotFitIsRefused) {
  const std::string largest(kMaxReceiveLength, 'x');
  const std::string too_long(kMaxReceiveLength + 1, 'x');
  EXPECT_EQ(Transmit({Foreign(too_long), Foreign(largest), Foreign(too_long)}), 1u);
  EXPECT_EQ(counters_->drop_invalid.Get(), 2u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, WithoutAFrameACopyIsDroppedAndCounted) {
  std::vector<FrameIndex> taken(kFrames - 2);
  ASSERT_EQ(umem_->pool().Take(FrameOwner::Held(), taken.data(), taken.size()), taken.size());
  EXPECT_EQ(Transmit({Foreign(kText), Foreign(kText), Foreign(kText), Foreign(kText)}), 2u);
  EXPECT_EQ(counters_->drop_no_frame.Get(), 2u);
  EXPECT_EQ(counters_->packets.Get(), 2u);
  EXPECT_EQ(xsk_->tx.Used(), 2u);
  umem_->pool().Give(FrameOwner::Held(), taken.data(), taken.size());
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, RefusedPacketsTakeNoSlotFromTheOthers) {
  EXPECT_EQ(Transmit({Held(""), Held(kText), Foreign(""), Held(kText), Held("")}), 2u);
  EXPECT_EQ(counters_->drop_invalid.Get(), 3u);
  EXPECT_EQ(xsk_->Send().size(), 2u);
  ExpectAllFramesComeBack();
}

TEST_F(TransmitterPacketsTest, NothingToSendIsNothing) {
  EXPECT_EQ(Transmit({}), 0u);
  EXPECT_EQ(xsk_->CountKicks(), 0);
}

}  // namespace
}  // namespace afxdp::testing

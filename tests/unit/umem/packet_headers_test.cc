// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/packet_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "tests/support/status_matchers.h"

namespace afxdp {
namespace {

using testing::FailsWith;
using ::testing::HasSubstr;

constexpr uint32_t kFrames = 100;
// An OVS 4.0.0 dp_packet, whose `md` is at 56 and wants a cache line.
constexpr HeaderLayout kDpPacket = {.size = 568, .align = 64, .align_offset = 56};

uintptr_t Number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

TEST(PacketHeadersTest, TheWantedByteIsAligned) {
  for (const HeaderLayout& layout :
       {kDpPacket, HeaderLayout{.size = 1, .align = 1, .align_offset = 0},
        HeaderLayout{.size = 100, .align = 128, .align_offset = 0},
        HeaderLayout{.size = 100, .align = 64, .align_offset = 64},
        HeaderLayout{.size = 10, .align = 4096, .align_offset = 8}}) {
    const auto headers = PacketHeaders::Create(kFrames, layout);
    ASSERT_OK(headers);
    for (FrameIndex frame = 0; frame < kFrames; ++frame) {
      EXPECT_EQ((Number(headers->Slot(frame)) + layout.align_offset) % layout.align, 0u)
          << "size " << layout.size << " align " << layout.align << " frame " << frame;
    }
  }
}

TEST(PacketHeadersTest, SlotsDoNotOverlapAndCanBeWritten) {
  const auto headers = PacketHeaders::Create(kFrames, kDpPacket);
  ASSERT_OK(headers);
  for (FrameIndex frame = 0; frame < kFrames; ++frame) {
    std::memset(headers->Slot(frame), static_cast<int>(frame), kDpPacket.size);
  }
  for (FrameIndex frame = 0; frame < kFrames; ++frame) {
    const auto* bytes = static_cast<const unsigned char*>(headers->Slot(frame));
    EXPECT_EQ(bytes[0], frame);
    EXPECT_EQ(bytes[kDpPacket.size - 1], frame);
  }
}

TEST(PacketHeadersTest, AnAlignedPacketHeaderTakesNoMoreThanItMust) {
  const auto headers = PacketHeaders::Create(kFrames, kDpPacket);
  ASSERT_OK(headers);
  EXPECT_EQ(Number(headers->Slot(1)) - Number(headers->Slot(0)), 576u);
}

TEST(PacketHeadersTest, FrameOfFindsTheSlotsFrame) {
  const auto headers = PacketHeaders::Create(kFrames, kDpPacket);
  ASSERT_OK(headers);
  for (FrameIndex frame = 0; frame < kFrames; ++frame) {
    EXPECT_EQ(headers->FrameOf(headers->Slot(frame)), frame);
  }
}

TEST(PacketHeadersTest, FrameOfAnythingElseIsNoFrame) {
  const auto headers = PacketHeaders::Create(kFrames, kDpPacket);
  ASSERT_OK(headers);
  const char* first = static_cast<const char*>(headers->Slot(0));
  int other = 0;
  EXPECT_GE(headers->FrameOf(first + 1), kFrames);
  EXPECT_GE(headers->FrameOf(first - 576), kFrames);
  EXPECT_GE(headers->FrameOf(first + size_t{576} * kFrames), kFrames);
  EXPECT_GE(headers->FrameOf(&other), kFrames);
  EXPECT_GE(headers->FrameOf(nullptr), kFrames);
}

TEST(PacketHeadersTest, NoHeaderIsFineToo) {
  const auto headers = PacketHeaders::Create(kFrames, {.size = 0, .align = 0});
  ASSERT_OK(headers);
  EXPECT_EQ(headers->FrameOf(headers->Slot(7)), 7u);
}

TEST(PacketHeadersTest, ImpossibleAlignmentsAreRefused) {
  for (const uint32_t align : {3u, 48u, 8192u}) {
    EXPECT_THAT(PacketHeaders::Create(kFrames, {.size = 8, .align = align}),
                FailsWith(EINVAL, HasSubstr(std::to_string(align))));
  }
}

}  // namespace
}  // namespace afxdp

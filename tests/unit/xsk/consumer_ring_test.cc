// SPDX-License-Identifier: Apache-2.0
//
// The rings that we consume from, RX and completion, over plain memory.
#include <gtest/gtest.h>

#include "datapath/xsk/ring.h"
#include "tests/support/plain_ring.h"

namespace afxdp::testing {
namespace {

constexpr uint32_t kSize = 8;

struct RxTraits {
  using Ring = RxRing;
  using Slot = xdp_desc;
  static Slot Make(uint32_t n) { return {.addr = n, .len = n + 1, .options = 0}; }
  static uint32_t Number(const Slot& slot) {
    EXPECT_EQ(slot.len, slot.addr + 1);
    return static_cast<uint32_t>(slot.addr);
  }
};
struct CompletionTraits {
  using Ring = CompletionRing;
  using Slot = __u64;
  static Slot Make(uint32_t n) { return n; }
  static uint32_t Number(const Slot& slot) { return static_cast<uint32_t>(slot); }
};

template <typename Traits>
class ConsumerRingTest : public ::testing::Test {
 protected:
  void SetUp() override { Start(0); }

  void Start(uint32_t index) {
    memory_.emplace(kSize, index);
    ring_ = typename Traits::Ring(memory_->memory());
  }

  void Produce(uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(memory_->Produce(Traits::Make(first + i))) << "slot " << i;
    }
  }

  // Peeks at most `max`, which must be the `count` numbers from `first` on, and releases them.
  void ExpectRead(uint32_t max, uint32_t first, uint32_t count) {
    auto slots = ring_.Peek(max);
    ASSERT_EQ(slots.size(), count);
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(Traits::Number(slots[i]), first + i);
    slots.Release();
    EXPECT_FALSE(slots) << "nothing is left of what was released";
  }

  std::optional<PlainRing<typename Traits::Slot>> memory_;
  typename Traits::Ring ring_;
};

using BothRings = ::testing::Types<RxTraits, CompletionTraits>;
TYPED_TEST_SUITE(ConsumerRingTest, BothRings);

TYPED_TEST(ConsumerRingTest, EmptyRingShowsNothing) {
  EXPECT_EQ(this->ring_.size(), kSize);
  auto slots = this->ring_.Peek(4);
  EXPECT_FALSE(slots);
  EXPECT_EQ(slots.size(), 0u);
}

TYPED_TEST(ConsumerRingTest, ReleasedSlotsAreTheKernelsAgain) {
  this->Produce(10, 3);
  this->ExpectRead(8, 10, 3);
  EXPECT_EQ(this->memory_->Used(), 0u);
  EXPECT_FALSE(this->ring_.Peek(1));
}

TYPED_TEST(ConsumerRingTest, PeekTakesNoMoreThanAskedFor) {
  this->Produce(0, 6);
  this->ExpectRead(4, 0, 4);
  EXPECT_EQ(this->memory_->Used(), 2u);
  this->ExpectRead(4, 4, 2);
}

TYPED_TEST(ConsumerRingTest, LeavingTheScopeCancels) {
  this->Produce(0, 5);
  {
    auto slots = this->ring_.Peek(5);
    EXPECT_EQ(slots.size(), 5u);
  }
  EXPECT_EQ(this->memory_->Used(), 5u) << "the kernel must not get slots that were not released";
  this->ExpectRead(5, 0, 5);
}

TYPED_TEST(ConsumerRingTest, NothingIsReleasedBeforeRelease) {
  this->Produce(0, kSize);
  auto slots = this->ring_.Peek(kSize);
  EXPECT_FALSE(this->memory_->Produce(TypeParam::Make(99))) << "the ring is still full";
  slots.Release();
  EXPECT_TRUE(this->memory_->Produce(TypeParam::Make(99)));
}

TYPED_TEST(ConsumerRingTest, FullRingIsReadToTheEnd) {
  this->Produce(0, kSize);
  EXPECT_FALSE(this->memory_->Produce(TypeParam::Make(kSize)));
  this->ExpectRead(2 * kSize, 0, kSize);
}

TYPED_TEST(ConsumerRingTest, IndicesWrapAt32Bits) {
  for (const uint32_t start : {UINT32_MAX, UINT32_MAX - 3, UINT32_MAX - kSize + 1, 0u - kSize}) {
    this->Start(start);
    uint32_t next = 0;
    uint32_t seen = 0;
    for (int round = 0; round < 5; ++round) {
      EXPECT_FALSE(this->ring_.Peek(1)) << "empty, start " << start << ", round " << round;
      this->Produce(next, kSize);
      next += kSize;
      { auto canceled = this->ring_.Peek(3); }
      this->ExpectRead(5, seen, 5);
      seen += 5;
      this->Produce(next, 2);
      next += 2;
      // libxdp looks at the producer index only when it knows of nothing, so what came later may
      // take a second look.
      while (seen < next) {
        auto slots = this->ring_.Peek(kSize);
        ASSERT_TRUE(slots);
        for (uint32_t i = 0; i < slots.size(); ++i) {
          EXPECT_EQ(TypeParam::Number(slots[i]), seen++);
        }
        slots.Release();
      }
      EXPECT_EQ(this->memory_->Used(), 0u);
    }
  }
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// The rings that we produce into, fill and TX, over plain memory.
#include <gtest/gtest.h>

#include "datapath/xsk/ring.h"
#include "tests/support/plain_ring.h"

namespace afxdp::testing {
namespace {

constexpr uint32_t kSize = 8;

// What differs between the two: how a slot is made from a number and read back.
struct FillTraits {
  using Ring = FillRing;
  using Slot = __u64;
  static Slot Make(uint32_t n) { return n; }
  static uint32_t Number(const Slot& slot) { return static_cast<uint32_t>(slot); }
};
struct TxTraits {
  using Ring = TxRing;
  using Slot = xdp_desc;
  static Slot Make(uint32_t n) { return {.addr = n, .len = n + 1, .options = n + 2}; }
  static uint32_t Number(const Slot& slot) {
    EXPECT_EQ(slot.len, slot.addr + 1);
    EXPECT_EQ(slot.options, slot.addr + 2);
    return static_cast<uint32_t>(slot.addr);
  }
};

template <typename Traits>
class ProducerRingTest : public ::testing::Test {
 protected:
  void SetUp() override { Start(0); }

  // Begins anew with both indices at `index`.
  void Start(uint32_t index) {
    memory_.emplace(kSize, index);
    ring_ = typename Traits::Ring(memory_->memory());
  }

  // Writes the numbers from `first` on into as many of `count` slots as there are, and commits.
  uint32_t Write(uint32_t first, uint32_t count) {
    auto slots = ring_.Reserve(count);
    const uint32_t size = slots.size();
    for (uint32_t i = 0; i < size; ++i) slots[i] = Traits::Make(first + i);
    slots.Commit();
    return size;
  }

  // The kernel takes `count` numbers, which must run from `first` on.
  void ExpectConsumed(uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const auto slot = memory_->Consume();
      ASSERT_TRUE(slot.has_value()) << "slot " << i;
      EXPECT_EQ(Traits::Number(*slot), first + i);
    }
  }

  std::optional<PlainRing<typename Traits::Slot>> memory_;
  typename Traits::Ring ring_;
};

using BothRings = ::testing::Types<FillTraits, TxTraits>;
TYPED_TEST_SUITE(ProducerRingTest, BothRings);

TYPED_TEST(ProducerRingTest, CommittedSlotsReachTheKernelInOrder) {
  EXPECT_EQ(this->ring_.size(), kSize);
  EXPECT_EQ(this->Write(100, 3), 3u);
  EXPECT_EQ(this->memory_->Used(), 3u);
  this->ExpectConsumed(100, 3);
  EXPECT_FALSE(this->memory_->Consume().has_value());
}

TYPED_TEST(ProducerRingTest, NothingIsPublishedBeforeCommit) {
  auto slots = this->ring_.Reserve(2);
  ASSERT_TRUE(slots);
  slots[0] = TypeParam::Make(1);
  EXPECT_EQ(this->memory_->Used(), 0u);
  slots.Commit();
  EXPECT_EQ(this->memory_->Used(), 2u);
  EXPECT_FALSE(slots) << "a committed reservation is empty";
}

TYPED_TEST(ProducerRingTest, LeavingTheScopeRollsBack) {
  {
    auto slots = this->ring_.Reserve(5);
    for (uint32_t i = 0; i < slots.size(); ++i) slots[i] = TypeParam::Make(900 + i);
  }
  EXPECT_EQ(this->memory_->Used(), 0u);
  // All slots are there again, and what was written before is not seen.
  EXPECT_EQ(this->Write(1, kSize), kSize);
  this->ExpectConsumed(1, kSize);
}

TYPED_TEST(ProducerRingTest, ShrinkGivesTheRestBack) {
  {
    auto slots = this->ring_.Reserve(6);
    ASSERT_EQ(slots.size(), 6u);
    for (uint32_t i = 0; i < 6; ++i) slots[i] = TypeParam::Make(i);
    slots.Shrink(2);
    EXPECT_EQ(slots.size(), 2u);
    slots.Commit();
  }
  EXPECT_EQ(this->memory_->Used(), 2u);
  EXPECT_EQ(this->Write(2, kSize), kSize - 2);
  this->ExpectConsumed(0, kSize);
}

TYPED_TEST(ProducerRingTest, ShrinkToNothingCommitsNothing) {
  {
    auto slots = this->ring_.Reserve(4);
    slots.Shrink(0);
    EXPECT_FALSE(slots);
    slots.Commit();
  }
  EXPECT_EQ(this->memory_->Used(), 0u);
  EXPECT_EQ(this->Write(0, kSize), kSize);
}

TYPED_TEST(ProducerRingTest, FullRingGivesNoSlots) {
  EXPECT_EQ(this->Write(0, kSize + 5), kSize);
  {
    auto slots = this->ring_.Reserve(1);
    EXPECT_FALSE(slots);
    EXPECT_EQ(slots.size(), 0u);
  }
  // One taken, one free.
  this->ExpectConsumed(0, 1);
  EXPECT_EQ(this->Write(kSize, 3), 1u);
  this->ExpectConsumed(1, kSize);
}

TYPED_TEST(ProducerRingTest, PendingCountsWhatTheKernelHasNotTaken) {
  EXPECT_EQ(this->ring_.Pending(), 0u);
  this->Write(0, 5);
  EXPECT_EQ(this->ring_.Pending(), 5u);
  this->ExpectConsumed(0, 2);
  EXPECT_EQ(this->ring_.Pending(), 3u);
  this->ExpectConsumed(2, 3);
  EXPECT_EQ(this->ring_.Pending(), 0u);
}

TYPED_TEST(ProducerRingTest, NeedsWakeupIsTheKernelsFlag) {
  EXPECT_FALSE(this->ring_.NeedsWakeup());
  this->memory_->SetNeedWakeup(true);
  EXPECT_TRUE(this->ring_.NeedsWakeup());
  this->memory_->SetNeedWakeup(false);
  EXPECT_FALSE(this->ring_.NeedsWakeup());
}

TYPED_TEST(ProducerRingTest, IndicesWrapAt32Bits) {
  for (const uint32_t start : {UINT32_MAX, UINT32_MAX - 3, UINT32_MAX - kSize + 1, 0u - kSize}) {
    this->Start(start);
    EXPECT_EQ(this->ring_.Pending(), 0u);
    uint32_t next = 0;
    uint32_t seen = 0;
    for (int round = 0; round < 5; ++round) {
      next += this->Write(next, kSize);
      EXPECT_EQ(this->ring_.Pending(), kSize);
      EXPECT_FALSE(this->ring_.Reserve(1)) << "full, start " << start << ", round " << round;
      // Leave some of the old in, so that full and empty are met at every offset.
      this->ExpectConsumed(seen, 5);
      seen += 5;
      EXPECT_EQ(this->ring_.Pending(), kSize - 5);
      { auto rolled_back = this->ring_.Reserve(3); }
      next += this->Write(next, 2);
      this->ExpectConsumed(seen, next - seen);
      seen = next;
      EXPECT_EQ(this->ring_.Pending(), 0u);
    }
  }
}

TYPED_TEST(ProducerRingTest, BeginsWhereTheMemoryIs) {
  // A ring that is taken over with something on it.
  this->Write(7, 3);
  typename TypeParam::Ring adopted(this->memory_->memory());
  EXPECT_EQ(adopted.Pending(), 3u);
  EXPECT_EQ(adopted.Reserve(kSize).size(), kSize - 3);
}

}  // namespace
}  // namespace afxdp::testing

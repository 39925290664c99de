// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/frame_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <vector>

namespace afxdp {
namespace {

constexpr uint32_t kFrames = 1024;

// Frames that lie in any thread's cache.
uint32_t Cached(const FramePool& pool) {
  uint32_t frames = 0;
  for (const FramePool::CacheUse& use : pool.Caches()) frames += use.frames;
  return frames;
}

std::vector<FrameIndex> TakeHeld(FramePool& pool, size_t count) {
  std::vector<FrameIndex> frames(count);
  frames.resize(pool.Take(FrameOwner::Held(), frames.data(), count));
  return frames;
}

size_t GiveHeld(FramePool& pool, const std::vector<FrameIndex>& frames) {
  return pool.Give(FrameOwner::Held(), frames.data(), frames.size());
}

TEST(FramePoolTest, StartsWithAllFramesInTheDepot) {
  const auto pool = FramePool::Create(kFrames);
  EXPECT_EQ(pool->DepotSize(), kFrames);
  EXPECT_THAT(pool->Caches(), ::testing::IsEmpty());
  EXPECT_EQ(pool->misgiven(), 0u);
}

TEST(FramePoolTest, TakenFramesAreDistinctAndTheTakers) {
  const auto pool = FramePool::Create(kFrames);
  const std::vector<FrameIndex> frames = TakeHeld(*pool, 300);
  ASSERT_EQ(frames.size(), 300u);
  EXPECT_EQ(std::set<FrameIndex>(frames.begin(), frames.end()).size(), 300u);
  for (const FrameIndex frame : frames) {
    ASSERT_LT(frame, kFrames);
    EXPECT_EQ(pool->ledger().Owner(frame), FrameOwner::Held());
  }
  EXPECT_EQ(pool->ledger().Count().held, 300u);
  EXPECT_EQ(GiveHeld(*pool, frames), 300u);
  EXPECT_EQ(pool->ledger().Count().pool, kFrames);
}

TEST(FramePoolTest, NothingIsLostOverManyRounds) {
  const auto pool = FramePool::Create(kFrames);
  for (uint32_t round = 0; round < 2000; ++round) {
    const std::vector<FrameIndex> frames = TakeHeld(*pool, 1 + round % 200);
    ASSERT_EQ(frames.size(), 1 + round % 200);
    ASSERT_EQ(GiveHeld(*pool, frames), frames.size());
    ASSERT_EQ(pool->DepotSize() + Cached(*pool), kFrames) << "round " << round;
  }
  EXPECT_EQ(pool->ledger().Count().pool, kFrames);
}

TEST(FramePoolTest, AnEmptyPoolGivesWhatThereIs) {
  const auto pool = FramePool::Create(100);
  const std::vector<FrameIndex> most = TakeHeld(*pool, 90);
  EXPECT_EQ(most.size(), 90u);
  const std::vector<FrameIndex> rest = TakeHeld(*pool, 90);
  EXPECT_EQ(rest.size(), 10u);
  EXPECT_TRUE(TakeHeld(*pool, 1).empty());
  EXPECT_EQ(pool->DepotSize() + Cached(*pool), 0u);
  EXPECT_EQ(GiveHeld(*pool, most) + GiveHeld(*pool, rest), 100u);
  EXPECT_EQ(TakeHeld(*pool, 100).size(), 100u);
}

TEST(FramePoolTest, TheCacheTradesSlabsWithTheDepot) {
  const auto pool = FramePool::Create(kFrames);
  const std::vector<FrameIndex> one = TakeHeld(*pool, 1);
  EXPECT_EQ(pool->DepotSize(), kFrames - FramePool::kSlab);
  EXPECT_EQ(Cached(*pool), FramePool::kSlab - 1);
  // The rest of the slab comes without asking the depot.
  const std::vector<FrameIndex> rest = TakeHeld(*pool, FramePool::kSlab - 1);
  EXPECT_EQ(pool->DepotSize(), kFrames - FramePool::kSlab);
  const std::vector<FrameIndex> more = TakeHeld(*pool, 1);
  EXPECT_EQ(pool->DepotSize(), kFrames - 2 * FramePool::kSlab);
  GiveHeld(*pool, one);
  GiveHeld(*pool, rest);
  GiveHeld(*pool, more);
}

TEST(FramePoolTest, ACacheKeepsNoMoreThanItsCapacity) {
  const auto pool = FramePool::Create(kFrames);
  const std::vector<FrameIndex> all = TakeHeld(*pool, kFrames);
  ASSERT_EQ(all.size(), kFrames);
  for (const FrameIndex frame : all) {
    pool->Give(FrameOwner::Held(), &frame, 1);
    ASSERT_LE(Cached(*pool), FramePool::kCacheCapacity);
  }
  EXPECT_EQ(pool->DepotSize() + Cached(*pool), kFrames);
  EXPECT_GE(pool->DepotSize(), kFrames - FramePool::kCacheCapacity);
  EXPECT_EQ(pool->ledger().Count().pool, kFrames);
}

TEST(FramePoolTest, CachesAreNamedByTheirThread) {
  const auto pool = FramePool::Create(kFrames);
  GiveHeld(*pool, TakeHeld(*pool, 1));
  ASSERT_EQ(pool->Caches().size(), 1u);
  EXPECT_EQ(pool->Caches()[0].thread, gettid());
}

TEST(FramePoolTest, AFrameGivenTwiceIsCountedAndStaysSingle) {
  const auto pool = FramePool::Create(kFrames);
  const std::vector<FrameIndex> frames = TakeHeld(*pool, 2);
  EXPECT_EQ(GiveHeld(*pool, {frames[0], frames[0], frames[1]}), 2u);
  EXPECT_EQ(pool->misgiven(), 1u);
  EXPECT_EQ(GiveHeld(*pool, frames), 0u);
  EXPECT_EQ(pool->misgiven(), 3u);
  const std::vector<FrameIndex> all = TakeHeld(*pool, kFrames + 1);
  EXPECT_EQ(all.size(), kFrames);
  EXPECT_EQ(std::set<FrameIndex>(all.begin(), all.end()).size(), kFrames);
}

TEST(FramePoolTest, AStrangersFrameIsCountedAndStaysWhereItIs) {
  const auto pool = FramePool::Create(kFrames);
  FrameIndex frame;
  ASSERT_EQ(pool->Take(FrameOwner::Receive(1), &frame, 1), 1u);
  EXPECT_EQ(pool->Give(FrameOwner::Receive(2), &frame, 1), 0u);
  EXPECT_EQ(pool->Give(FrameOwner::Held(), &frame, 1), 0u);
  const FrameIndex nobodys = kFrames;
  EXPECT_EQ(pool->Give(FrameOwner::Held(), &nobodys, 1), 0u);
  EXPECT_EQ(pool->misgiven(), 3u);
  EXPECT_EQ(pool->ledger().Owner(frame), FrameOwner::Receive(1));
  EXPECT_EQ(pool->DepotSize() + Cached(*pool), kFrames - 1);
  EXPECT_EQ(pool->Give(FrameOwner::Receive(1), &frame, 1), 1u);
}

TEST(FramePoolTest, PoolsDoNotMix) {
  const auto first = FramePool::Create(100);
  const auto second = FramePool::Create(200);
  const std::vector<FrameIndex> from_first = TakeHeld(*first, 100);
  const std::vector<FrameIndex> from_second = TakeHeld(*second, 200);
  EXPECT_EQ(from_first.size(), 100u);
  EXPECT_EQ(from_second.size(), 200u);
  GiveHeld(*second, from_second);
  GiveHeld(*first, from_first);
  EXPECT_EQ(first->DepotSize() + Cached(*first), 100u);
  EXPECT_EQ(second->DepotSize() + Cached(*second), 200u);
}

TEST(FramePoolTest, ANewPoolIsNotTakenForADeadOne) {
  // The allocator is likely to put the second pool where the first one was.
  for (int round = 0; round < 5; ++round) {
    std::thread([] {
      auto pool = FramePool::Create(kFrames);
      GiveHeld(*pool, TakeHeld(*pool, 10));
      EXPECT_EQ(pool->DepotSize() + Cached(*pool), kFrames);
    }).join();
  }
}

}  // namespace
}  // namespace afxdp

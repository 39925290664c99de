// SPDX-License-Identifier: Apache-2.0
//
// The pool with more than one thread.  Run under the thread sanitizer too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "datapath/umem/frame_pool.h"

namespace afxdp {
namespace {

constexpr uint32_t kFrames = 4096;

uint32_t Cached(const FramePool& pool) {
  uint32_t frames = 0;
  for (const FramePool::CacheUse& use : pool.Caches()) frames += use.frames;
  return frames;
}

TEST(FramePoolThreadsTest, AnEndingThreadsCacheGoesBackToTheDepot) {
  const auto pool = FramePool::Create(kFrames);
  std::thread([&] {
    FrameIndex frames[100];
    ASSERT_EQ(pool->Take(FrameOwner::Held(), frames, 100), 100u);
    ASSERT_EQ(pool->Give(FrameOwner::Held(), frames, 100), 100u);
    EXPECT_GT(Cached(*pool), 0u);
  }).join();
  EXPECT_THAT(pool->Caches(), ::testing::IsEmpty());
  EXPECT_EQ(pool->DepotSize(), kFrames);
}

TEST(FramePoolThreadsTest, AnyThreadMayGiveBack) {
  const auto pool = FramePool::Create(kFrames);
  std::vector<FrameIndex> frames(200);
  ASSERT_EQ(pool->Take(FrameOwner::Held(), frames.data(), frames.size()), 200u);
  std::thread([&] {
    EXPECT_EQ(pool->Give(FrameOwner::Held(), frames.data(), frames.size()), 200u);
  }).join();
  EXPECT_EQ(pool->ledger().Count().pool, kFrames);
  EXPECT_EQ(pool->DepotSize() + Cached(*pool), kFrames);
}

TEST(FramePoolThreadsTest, APoolOutlivesItsOwnerInAThreadsCache) {
  auto pool = FramePool::Create(kFrames);
  const std::weak_ptr<FramePool> watch = pool;
  std::thread([&] {
    FrameIndex frame;
    ASSERT_EQ(pool->Take(FrameOwner::Held(), &frame, 1), 1u);
    ASSERT_EQ(pool->Give(FrameOwner::Held(), &frame, 1), 1u);
    pool.reset();
    EXPECT_FALSE(watch.expired());
  }).join();
  EXPECT_TRUE(watch.expired());
}

// What a thread frees at its very end: in OVS, packets that thread-specific data still holds.
struct LateFree {
  std::shared_ptr<FramePool> pool;
  std::vector<FrameIndex> frames;
};

void FreeLate(void* argument) {
  auto* late = static_cast<LateFree*>(argument);
  late->pool->Give(FrameOwner::Held(), late->frames.data(), late->frames.size());
  FrameIndex again;
  if (late->pool->Take(FrameOwner::Held(), &again, 1) == 1) {
    late->pool->Give(FrameOwner::Held(), &again, 1);
  }
}

TEST(FramePoolThreadsTest, FreeingInAThreadThatIsEnding) {
  const auto pool = FramePool::Create(kFrames);
  LateFree late = {pool, std::vector<FrameIndex>(150)};
  pthread_key_t key;
  // glibc runs the destructors of thread_local objects first and those of keys after them
  // (__call_tls_dtors() and __nptl_deallocate_tsd() in start_thread()), so the caches are gone.
  ASSERT_EQ(pthread_key_create(&key, FreeLate), 0);
  std::thread([&] {
    ASSERT_EQ(pool->Take(FrameOwner::Held(), late.frames.data(), 150), 150u);
    pthread_setspecific(key, &late);
  }).join();
  pthread_key_delete(key);
  EXPECT_THAT(pool->Caches(), ::testing::IsEmpty());
  EXPECT_EQ(pool->DepotSize(), kFrames);
  EXPECT_EQ(pool->ledger().Count().pool, kFrames);
  EXPECT_EQ(pool->misgiven(), 0u);
}

// Hands frames from one thread to another, as packets go from one poller to another's queue.
class Channel {
 public:
  void Put(std::vector<FrameIndex> frames) {
    if (frames.empty()) return;
    absl::MutexLock lock(&mutex_);
    batches_.push_back(std::move(frames));
  }
  // Empty when there is nothing.
  std::vector<FrameIndex> Get() {
    absl::MutexLock lock(&mutex_);
    if (batches_.empty()) return {};
    std::vector<FrameIndex> frames = std::move(batches_.front());
    batches_.pop_front();
    return frames;
  }

 private:
  absl::Mutex mutex_;
  std::deque<std::vector<FrameIndex>> batches_;
};

class Hammer {
 public:
  static constexpr int kThreads = 6;

  explicit Hammer(std::shared_ptr<FramePool> pool)
      : pool_(std::move(pool)), contents_(pool_->ledger().frames()) {}

  void Run(int rounds) {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, i, rounds] { Work(static_cast<size_t>(i), rounds); });
    }
    for (std::thread& thread : threads) thread.join();
    for (Channel& channel : channels_) {
      for (auto frames = channel.Get(); !frames.empty(); frames = channel.Get()) Give(frames);
    }
  }

 private:
  // Takes, writes, gives half back itself and lets its neighbour give back the other half.
  void Work(size_t self, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      std::vector<FrameIndex> frames(1 + (self * 7 + static_cast<size_t>(round)) % 90);
      frames.resize(pool_->Take(FrameOwner::Held(), frames.data(), frames.size()));
      // Plain memory, so that the sanitizer sees it when one frame has two users.
      for (const FrameIndex frame : frames) contents_[frame] = self;
      for (const FrameIndex frame : frames) EXPECT_EQ(contents_[frame], self);
      const auto middle = frames.begin() + static_cast<ptrdiff_t>(frames.size() / 2);
      channels_[(self + 1) % kThreads].Put({middle, frames.end()});
      Give({frames.begin(), middle});
      Give(channels_[self].Get());
    }
  }

  void Give(const std::vector<FrameIndex>& frames) {
    for (const FrameIndex frame : frames) contents_[frame] = SIZE_MAX;
    EXPECT_EQ(pool_->Give(FrameOwner::Held(), frames.data(), frames.size()), frames.size());
  }

  const std::shared_ptr<FramePool> pool_;
  std::vector<size_t> contents_;  // What the frames hold.
  std::array<Channel, kThreads> channels_;
};

TEST(FramePoolThreadsTest, ManyThreadsTakeGiveAndHandOver) {
  const auto pool = FramePool::Create(kFrames);
  Hammer hammer(pool);
  hammer.Run(3000);
  EXPECT_EQ(pool->misgiven(), 0u);
  EXPECT_EQ(pool->ledger().Count().pool, kFrames);
  EXPECT_EQ(pool->DepotSize() + Cached(*pool), kFrames);
}

TEST(FramePoolThreadsTest, ManyThreadsOverAPoolThatIsTooSmall) {
  const auto pool = FramePool::Create(150);
  Hammer hammer(pool);
  hammer.Run(2000);
  EXPECT_EQ(pool->misgiven(), 0u);
  EXPECT_EQ(pool->DepotSize() + Cached(*pool), 150u);
}

TEST(FramePoolThreadsTest, CountingBesideTheWork) {
  const auto pool = FramePool::Create(kFrames);
  std::atomic<bool> stop{false};
  std::thread counter([&] {
    while (!stop.load()) {
      const FrameLedger::Census census = pool->ledger().Count();
      EXPECT_EQ(census.pool + census.held, kFrames);
      EXPECT_LE(Cached(*pool), (Hammer::kThreads + 2) * FramePool::kCacheCapacity);
    }
  });
  Hammer hammer(pool);
  hammer.Run(500);
  stop = true;
  counter.join();
}

}  // namespace
}  // namespace afxdp

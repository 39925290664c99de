// SPDX-License-Identifier: Apache-2.0
//
// FramePool: the free frames of a region.
//
// A depot under a lock, and in front of it a cache per thread that needs none: the hot path takes
// from and gives to its own thread's cache, which trades a slab of frames with the depot now and
// then.  Any thread may give back any frame.  Every frame that passes changes its owner in the
// ledger, so the pool is where leaks and double frees show.
//
//   std::shared_ptr<FramePool> pool = FramePool::Create(65536);
//   FrameIndex frames[32];
//   size_t got = pool->Take(FrameOwner::Held(), frames, 32);
//   pool->Give(FrameOwner::Held(), frames, got);
//
// Shared ownership, because a thread's cache returns its frames when the thread ends, whenever that
// is.
#ifndef DATAPATH_UMEM_FRAME_POOL_H_
#define DATAPATH_UMEM_FRAME_POOL_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "datapath/umem/frame.h"
#include "datapath/umem/frame_ledger.h"

namespace afxdp {

class FrameCache;

class FramePool : public std::enable_shared_from_this<FramePool> {
 public:
  // A pool in which all of `frames` frames are free.
  static std::shared_ptr<FramePool> Create(uint32_t frames);
  ~FramePool();

  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  FrameLedger& ledger() { return ledger_; }
  const FrameLedger& ledger() const { return ledger_; }

  // Takes up to `count` free frames for `owner` and returns how many there were.  Frames in other
  // threads' caches are out of reach.  Any thread.
  size_t Take(FrameOwner owner, FrameIndex* frames, size_t count);

  // Gives back `count` frames that `owner` owns and returns how many it really owned; the others
  // are left alone and counted in misgiven().  Any thread.
  size_t Give(FrameOwner owner, const FrameIndex* frames, size_t count);

  // The same past the thread's cache, for a thread that will not take frames itself.
  size_t GiveToDepot(FrameOwner owner, const FrameIndex* frames, size_t count);

  // How often a frame was given back by somebody who did not own it: a bug, ours or the kernel's.
  uint64_t misgiven() const { return misgiven_.load(std::memory_order_relaxed); }

  // Frames in the depot.
  uint32_t DepotSize() const;

  // What each thread's cache holds.
  struct CacheUse {
    pid_t thread;
    uint32_t frames;
  };
  std::vector<CacheUse> Caches() const;

  // Frames that one thread's cache may hold at the most.
  static constexpr uint32_t kCacheCapacity = 128;
  // Frames that move between a cache and the depot at a time.
  static constexpr uint32_t kSlab = 64;

 private:
  friend class FrameCache;
  friend class ThreadCaches;

  explicit FramePool(uint32_t frames);

  // The calling thread's cache; null while the thread is ending.
  FrameCache* LocalCache();
  FrameCache* FindOrMakeLocalCache();

  // Whether `frame` was `owner`'s and is now the pool's.
  bool TakeBack(FrameOwner owner, FrameIndex frame);

  size_t TakeFromDepot(FrameIndex* frames, size_t count);
  void Store(const FrameIndex* frames, size_t count);
  void Register(FrameCache* cache);
  void Unregister(FrameCache* cache);

  FrameLedger ledger_;
  const uint64_t id_;  // Unique for ever, unlike the pool's address.
  std::atomic<uint64_t> misgiven_{0};

  mutable absl::Mutex mutex_;
  std::vector<FrameIndex> depot_
      ABSL_GUARDED_BY(mutex_);  // A stack; never grows past its first size.
  std::vector<FrameCache*> caches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace afxdp

#endif  // DATAPATH_UMEM_FRAME_POOL_H_

// SPDX-License-Identifier: Apache-2.0
//
// FrameCache: one thread's stock of free frames, a stack of bounded size.  A part of FramePool; not
// for anybody else.
#ifndef DATAPATH_UMEM_FRAME_CACHE_H_
#define DATAPATH_UMEM_FRAME_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "datapath/umem/frame_pool.h"

namespace afxdp {

class FrameCache {
 public:
  // Belongs to the calling thread and trades with `pool`, which must outlive it.
  explicit FrameCache(FramePool* pool);
  // Everything goes back to the depot.
  ~FrameCache();

  FrameCache(const FrameCache&) = delete;
  FrameCache& operator=(const FrameCache&) = delete;

  // Own thread only.
  size_t Take(FrameIndex* frames, size_t count);
  void Give(FrameIndex frame) {
    uint32_t size = size_.load(std::memory_order_relaxed);
    if (size == FramePool::kCacheCapacity) size = SpillSlab();
    frames_[size] = frame;
    size_.store(size + 1, std::memory_order_relaxed);
  }

  // Any thread.
  uint32_t size() const { return size_.load(std::memory_order_relaxed); }
  pid_t thread() const { return thread_; }

 private:
  // Moves the frames that lay longest to the depot; returns the new size.
  uint32_t SpillSlab();

  FramePool* const pool_;
  const pid_t thread_;
  // Written by the own thread only; atomic for those who count.
  std::atomic<uint32_t> size_{0};
  FrameIndex frames_[FramePool::kCacheCapacity];
};

}  // namespace afxdp

#endif  // DATAPATH_UMEM_FRAME_CACHE_H_

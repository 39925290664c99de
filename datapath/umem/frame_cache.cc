// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/frame_cache.h"

#include <unistd.h>

#include <algorithm>

namespace afxdp {

FrameCache::FrameCache(FramePool* pool) : pool_(pool), thread_(gettid()) { pool_->Register(this); }

FrameCache::~FrameCache() {
  pool_->Unregister(this);
  pool_->Store(frames_, size());
}

size_t FrameCache::Take(FrameIndex* frames, size_t count) {
  size_t taken = 0;
  while (taken < count) {
    uint32_t size = size_.load(std::memory_order_relaxed);
    if (size == 0) {
      size = static_cast<uint32_t>(pool_->TakeFromDepot(frames_, FramePool::kSlab));
      if (size == 0) break;
    }
    const size_t batch = std::min<size_t>(count - taken, size);
    // From the top: what was given last is what the CPU's caches still hold.
    std::copy_n(frames_ + size - batch, batch, frames + taken);
    size_.store(static_cast<uint32_t>(size - batch), std::memory_order_relaxed);
    taken += batch;
  }
  return taken;
}

uint32_t FrameCache::SpillSlab() {
  pool_->Store(frames_, FramePool::kSlab);
  std::copy(frames_ + FramePool::kSlab, frames_ + FramePool::kCacheCapacity, frames_);
  return FramePool::kCacheCapacity - FramePool::kSlab;
}

}  // namespace afxdp

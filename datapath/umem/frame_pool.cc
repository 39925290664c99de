// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/frame_pool.h"

#include <algorithm>
#include <utility>

#include "datapath/umem/frame_cache.h"

namespace afxdp {
namespace {

uint64_t NextPoolId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1);
}

// The cache that the thread used last.  Trivially destructible, so that it can be read at any point
// of a thread's end.
struct LastUsed {
  uint64_t pool_id = 0;
  FrameCache* cache = nullptr;
};
constinit thread_local LastUsed last_used;
// Set when the thread's caches have been given back: frames freed after that go to the depot.
constinit thread_local bool thread_is_ending = false;

}  // namespace

// A thread's caches, one per pool that it has used.
class ThreadCaches {
 public:
  ~ThreadCaches() {
    thread_is_ending = true;
    last_used = LastUsed();
    while (!entries_.empty()) {
      Entry entry = std::move(entries_.back());
      entries_.pop_back();
      entry.cache.reset();  // Before its pool.
    }
  }

  FrameCache* ForPool(FramePool* pool) {
    for (Entry& entry : entries_) {
      if (entry.pool.get() == pool) return entry.cache.get();
    }
    entries_.push_back({pool->shared_from_this(), std::make_unique<FrameCache>(pool)});
    return entries_.back().cache.get();
  }

 private:
  struct Entry {
    std::shared_ptr<FramePool> pool;
    std::unique_ptr<FrameCache> cache;
  };
  std::vector<Entry> entries_;
};

std::shared_ptr<FramePool> FramePool::Create(uint32_t frames) {
  return std::shared_ptr<FramePool>(new FramePool(frames));
}

FramePool::FramePool(uint32_t frames) : ledger_(frames), id_(NextPoolId()) {
  depot_.reserve(frames);
  // Lowest on top: a small load stays in few pages.
  for (FrameIndex frame = frames; frame-- > 0;) depot_.push_back(frame);
}

FramePool::~FramePool() = default;

FrameCache* FramePool::LocalCache() {
  if (last_used.pool_id == id_) [[likely]] {
    return last_used.cache;
  }
  return FindOrMakeLocalCache();
}

FrameCache* FramePool::FindOrMakeLocalCache() {
  if (thread_is_ending) return nullptr;
  thread_local ThreadCaches caches;
  last_used = {id_, caches.ForPool(this)};
  return last_used.cache;
}

size_t FramePool::Take(FrameOwner owner, FrameIndex* frames, size_t count) {
  FrameCache* cache = LocalCache();
  const size_t taken = cache ? cache->Take(frames, count) : TakeFromDepot(frames, count);
  for (size_t i = 0; i < taken; ++i) {
    // What lies in the depot or in a cache is the pool's, by construction of Give().
    ledger_.Transfer(frames[i], FrameOwner::Pool(), owner);
  }
  return taken;
}

bool FramePool::TakeBack(FrameOwner owner, FrameIndex frame) {
  if (ledger_.Transfer(frame, owner, FrameOwner::Pool())) [[likely]] {
    return true;
  }
  misgiven_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

size_t FramePool::Give(FrameOwner owner, const FrameIndex* frames, size_t count) {
  FrameCache* cache = LocalCache();
  if (cache == nullptr) [[unlikely]] {
    return GiveToDepot(owner, frames, count);
  }
  size_t given = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!TakeBack(owner, frames[i])) continue;
    cache->Give(frames[i]);
    ++given;
  }
  return given;
}

size_t FramePool::GiveToDepot(FrameOwner owner, const FrameIndex* frames, size_t count) {
  size_t given = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!TakeBack(owner, frames[i])) continue;
    Store(&frames[i], 1);
    ++given;
  }
  return given;
}

size_t FramePool::TakeFromDepot(FrameIndex* frames, size_t count) {
  absl::MutexLock lock(&mutex_);
  const size_t taken = std::min(count, depot_.size());
  std::copy(depot_.end() - static_cast<ptrdiff_t>(taken), depot_.end(), frames);
  depot_.resize(depot_.size() - taken);
  return taken;
}

void FramePool::Store(const FrameIndex* frames, size_t count) {
  absl::MutexLock lock(&mutex_);
  depot_.insert(depot_.end(), frames, frames + count);
}

uint32_t FramePool::DepotSize() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<uint32_t>(depot_.size());
}

std::vector<FramePool::CacheUse> FramePool::Caches() const {
  absl::MutexLock lock(&mutex_);
  std::vector<CacheUse> uses;
  for (const FrameCache* cache : caches_) uses.push_back({cache->thread(), cache->size()});
  return uses;
}

void FramePool::Register(FrameCache* cache) {
  absl::MutexLock lock(&mutex_);
  caches_.push_back(cache);
}

void FramePool::Unregister(FrameCache* cache) {
  absl::MutexLock lock(&mutex_);
  caches_.erase(std::find(caches_.begin(), caches_.end(), cache));
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// Counter: a statistic that one thread at a time writes and any thread reads.
#ifndef DATAPATH_BASE_COUNTER_H_
#define DATAPATH_BASE_COUNTER_H_

#include <atomic>
#include <cstdint>

namespace afxdp {

class Counter {
 public:
  // Load and store rather than fetch_add: writers are serialised already (by the ring's owner or
  // its lock), so the locked instruction would buy nothing.
  void Add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace afxdp

#endif  // DATAPATH_BASE_COUNTER_H_

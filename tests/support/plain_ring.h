// SPDX-License-Identifier: Apache-2.0
//
// PlainRing: one ring of an XSK in plain memory, with the verbs of the kernel's side.
//
//   PlainRing<__u64> memory(8);
//   FillRing fill(memory.memory());
//   ... fill.Reserve(1) ...
//   EXPECT_EQ(memory.Consume(), 4096u);
#ifndef TESTS_SUPPORT_PLAIN_RING_H_
#define TESTS_SUPPORT_PLAIN_RING_H_

#include <linux/if_xdp.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "datapath/xsk/ring.h"

namespace afxdp::testing {

template <typename Slot>
class PlainRing {
 public:
  // Both indices begin at `start`, so that a test can begin shortly before they wrap.
  explicit PlainRing(uint32_t size, uint32_t start = 0)
      : slots_(size), producer_(start), consumer_(start) {}
  PlainRing(const PlainRing&) = delete;
  PlainRing& operator=(const PlainRing&) = delete;

  RingMemory memory() {
    return {.producer = &producer_,
            .consumer = &consumer_,
            .flags = &flags_,
            .slots = slots_.data(),
            .size = static_cast<uint32_t>(slots_.size())};
  }

  // Published by the producer and not consumed.
  uint32_t Used() const { return producer_ - consumer_; }
  uint32_t producer() const { return producer_; }
  uint32_t consumer() const { return consumer_; }

  // The kernel's side of a ring that we produce into.
  std::optional<Slot> Consume() {
    if (Used() == 0) return std::nullopt;
    return slots_[consumer_++ & mask()];
  }
  // The kernel's side of a ring that we consume from; false when it is full.
  bool Produce(const Slot& slot) {
    if (Used() == slots_.size()) return false;
    slots_[producer_ & mask()] = slot;
    ++producer_;
    return true;
  }
  void SetNeedWakeup(bool on) { flags_ = on ? XDP_RING_NEED_WAKEUP : 0; }

 private:
  uint32_t mask() const { return static_cast<uint32_t>(slots_.size()) - 1; }

  std::vector<Slot> slots_;
  uint32_t producer_;
  uint32_t consumer_;
  uint32_t flags_ = 0;
};

}  // namespace afxdp::testing

#endif  // TESTS_SUPPORT_PLAIN_RING_H_

// SPDX-License-Identifier: Apache-2.0
//
// The four rings of an XSK, each access a transaction.
//
// Reserve() on a ring that we produce into (fill, TX) and Peek() on one that we consume from (RX,
// completion) give a scope object.  Commit() or Release() publishes it to the kernel; leaving the
// scope without that rolls back, as if nothing had happened.  Verbs that a ring does not have do
// not exist: an RX ring cannot be written.
//
//   if (auto slots = fill.Reserve(32)) {
//     for (uint32_t i = 0; i < slots.size(); ++i) slots[i] = address(i);
//     slots.Commit();
//   }
//
// At most one transaction per ring at a time.  A ring is used by one thread at a time; the kernel
// is the other side.  Indices are 32 bits and wrap.  What each field means and which barriers it
// takes is libxdp's business (xdp/xsk.h); see net/xdp/xsk_queue.h for the kernel's half.
#ifndef DATAPATH_XSK_RING_H_
#define DATAPATH_XSK_RING_H_

#include <xdp/xsk.h>

#include <cstdint>
#include <utility>

namespace afxdp {

// Where a ring lies: shared with the kernel, or plain memory in tests.  `size` is a power of two.
struct RingMemory {
  uint32_t* producer = nullptr;
  uint32_t* consumer = nullptr;
  uint32_t* flags = nullptr;
  void* slots = nullptr;
  uint32_t size = 0;
};

namespace ring_internal {

// How libxdp reaches a slot of each ring.
struct FillSlots {
  using Type = __u64;
  static Type& At(xsk_ring_prod* ring, uint32_t index) {
    return *xsk_ring_prod__fill_addr(ring, index);
  }
};
struct TxSlots {
  using Type = xdp_desc;
  static Type& At(xsk_ring_prod* ring, uint32_t index) {
    return *xsk_ring_prod__tx_desc(ring, index);
  }
};
struct RxSlots {
  using Type = xdp_desc;
  static const Type& At(const xsk_ring_cons* ring, uint32_t index) {
    return *xsk_ring_cons__rx_desc(ring, index);
  }
};
struct CompletionSlots {
  using Type = __u64;
  static const Type& At(const xsk_ring_cons* ring, uint32_t index) {
    return *xsk_ring_cons__comp_addr(ring, index);
  }
};

}  // namespace ring_internal

// Slots of a ring that we produce into, ours to write until they are committed.
template <typename Slots>
class Reservation {
 public:
  Reservation(xsk_ring_prod* ring, uint32_t first, uint32_t size)
      : ring_(ring), first_(first), size_(size) {}
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { Shrink(0); }

  explicit operator bool() const { return size_ != 0; }
  uint32_t size() const { return size_; }

  typename Slots::Type& operator[](uint32_t i) { return Slots::At(ring_, first_ + i); }

  // Keeps the first `size` slots and gives the others back unused.
  void Shrink(uint32_t size) {
    ring_->cached_prod -= size_ - size;
    size_ = size;
  }

  // Hands all slots to the kernel.
  void Commit() {
    xsk_ring_prod__submit(ring_, size_);
    size_ = 0;
  }

 private:
  xsk_ring_prod* const ring_;
  const uint32_t first_;
  uint32_t size_;
};

// Slots of a ring that we consume from, ours to read until they are released.
template <typename Slots>
class Peeked {
 public:
  Peeked(xsk_ring_cons* ring, uint32_t first, uint32_t size)
      : ring_(ring), first_(first), size_(size) {}
  Peeked(const Peeked&) = delete;
  Peeked& operator=(const Peeked&) = delete;
  ~Peeked() { xsk_ring_cons__cancel(ring_, size_); }

  explicit operator bool() const { return size_ != 0; }
  uint32_t size() const { return size_; }

  const typename Slots::Type& operator[](uint32_t i) const { return Slots::At(ring_, first_ + i); }

  // Hands all slots back to the kernel.
  void Release() {
    xsk_ring_cons__release(ring_, size_);
    size_ = 0;
  }

 private:
  xsk_ring_cons* const ring_;
  const uint32_t first_;
  uint32_t size_;
};

template <typename Slots>
class ProducerRing {
 public:
  ProducerRing() = default;
  explicit ProducerRing(const RingMemory& memory) {
    ring_.producer = memory.producer;
    ring_.consumer = memory.consumer;
    ring_.flags = memory.flags;
    ring_.ring = memory.slots;
    ring_.size = memory.size;
    ring_.mask = memory.size - 1;
    ring_.cached_prod = *memory.producer;
    // libxdp keeps the consumer index a ring's size ahead (xsk_prod_nb_free()).
    ring_.cached_cons = *memory.consumer + memory.size;
  }

  uint32_t size() const { return ring_.size; }

  // Reserves as many slots as there are free, at most `max`.
  Reservation<Slots> Reserve(uint32_t max) {
    const uint32_t free = xsk_prod_nb_free(&ring_, max);
    const uint32_t count = free < max ? free : max;
    const uint32_t first = ring_.cached_prod;
    ring_.cached_prod += count;
    return Reservation<Slots>(&ring_, first, count);
  }

  // Whether the kernel asks to be woken to look at this ring (XDP_USE_NEED_WAKEUP).
  bool NeedsWakeup() const {
    return __atomic_load_n(ring_.flags, __ATOMIC_RELAXED) & XDP_RING_NEED_WAKEUP;
  }

  // Committed slots that the kernel has not consumed yet.
  uint32_t Pending() const {
    return ring_.cached_prod - __atomic_load_n(ring_.consumer, __ATOMIC_ACQUIRE);
  }

 private:
  xsk_ring_prod ring_ = {};
};

template <typename Slots>
class ConsumerRing {
 public:
  ConsumerRing() = default;
  explicit ConsumerRing(const RingMemory& memory) {
    ring_.producer = memory.producer;
    ring_.consumer = memory.consumer;
    ring_.flags = memory.flags;
    ring_.ring = memory.slots;
    ring_.size = memory.size;
    ring_.mask = memory.size - 1;
    ring_.cached_prod = *memory.producer;
    ring_.cached_cons = *memory.consumer;
  }

  uint32_t size() const { return ring_.size; }

  // Looks at what the kernel has produced, at most `max` slots.
  Peeked<Slots> Peek(uint32_t max) {
    uint32_t first = 0;
    const uint32_t count = xsk_ring_cons__peek(&ring_, max, &first);
    return Peeked<Slots>(&ring_, first, count);
  }

 private:
  xsk_ring_cons ring_ = {};
};

// Addresses of free frames, from us to the kernel.
using FillRing = ProducerRing<ring_internal::FillSlots>;
// Packets to send, from us to the kernel.
using TxRing = ProducerRing<ring_internal::TxSlots>;
// Received packets, from the kernel to us.
using RxRing = ConsumerRing<ring_internal::RxSlots>;
// Addresses of frames that have been sent, from the kernel to us.
using CompletionRing = ConsumerRing<ring_internal::CompletionSlots>;

}  // namespace afxdp

#endif  // DATAPATH_XSK_RING_H_

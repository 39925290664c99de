// SPDX-License-Identifier: Apache-2.0
//
// FrameLedger: the record of who owns each frame.
//
// Every change of hands goes through Transfer(), which checks that the giver is the owner.  That is
// what makes a frame that the kernel returns twice, or that a packet frees twice, an event to be
// counted rather than memory used by two.  It is also what lets a dead queue's frames be found.
//
// A dense array rather than a field beside each packet header: the rings' side of a transfer then
// touches 2 bytes of a table that stays in the L2 cache, not a cold line per frame.
#ifndef DATAPATH_UMEM_FRAME_LEDGER_H_
#define DATAPATH_UMEM_FRAME_LEDGER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "datapath/umem/frame.h"

namespace afxdp {

class FrameLedger {
 public:
  // All `frames` frames start with the pool as their owner.
  explicit FrameLedger(uint32_t frames)
      : frames_(frames), owners_(std::make_unique<std::atomic<uint16_t>[]>(frames)) {}

  uint32_t frames() const { return frames_; }

  // Hands `frame` from `from` to `to`.  False, and nothing changes, when `from` does not own it or
  // there is no such frame.  Only the owner may call this, so no two threads do so for one frame;
  // what orders one owner after the other is the ring, queue or lock that the frame travels by.
  bool Transfer(FrameIndex frame, FrameOwner from, FrameOwner to) {
    if (frame >= frames_) return false;
    std::atomic<uint16_t>& owner = owners_[frame];
    if (owner.load(std::memory_order_relaxed) != from.raw()) return false;
    owner.store(to.raw(), std::memory_order_relaxed);
    return true;
  }

  FrameOwner Owner(FrameIndex frame) const {
    return FrameOwner::FromRaw(owners_[frame].load(std::memory_order_relaxed));
  }

  // All frames that `queue` owns in either direction.
  std::vector<FrameIndex> FramesOf(QueueId queue) const;

  // How many frames each owner has.  A look at a moving target: exact when nothing moves.
  struct Census {
    struct QueueFrames {
      uint32_t receive = 0;
      uint32_t transmit = 0;
    };
    uint32_t pool = 0;  // Depot and thread caches together.
    uint32_t held = 0;
    absl::flat_hash_map<QueueId, QueueFrames> queues;
  };
  Census Count() const;

 private:
  const uint32_t frames_;
  const std::unique_ptr<std::atomic<uint16_t>[]> owners_;
};

}  // namespace afxdp

#endif  // DATAPATH_UMEM_FRAME_LEDGER_H_

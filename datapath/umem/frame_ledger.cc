// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/frame_ledger.h"

namespace afxdp {

std::vector<FrameIndex> FrameLedger::FramesOf(QueueId queue) const {
  std::vector<FrameIndex> found;
  for (FrameIndex frame = 0; frame < frames_; ++frame) {
    const FrameOwner owner = Owner(frame);
    if (owner == FrameOwner::Receive(queue) || owner == FrameOwner::Transmit(queue)) {
      found.push_back(frame);
    }
  }
  return found;
}

FrameLedger::Census FrameLedger::Count() const {
  Census census;
  for (FrameIndex frame = 0; frame < frames_; ++frame) {
    const FrameOwner owner = Owner(frame);
    if (owner.is_pool()) {
      ++census.pool;
    } else if (owner.is_held()) {
      ++census.held;
    } else if (owner.is_receive()) {
      ++census.queues[owner.queue()].receive;
    } else {
      ++census.queues[owner.queue()].transmit;
    }
  }
  return census;
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// Receiver: the RX and fill ring of one XSK.
//
// A fixed number of frames is posted for receive.  The kernel moves them from the fill ring to the
// RX ring unseen; what Receive() hands out is replaced from the pool.
#ifndef DATAPATH_XSK_RECEIVER_H_
#define DATAPATH_XSK_RECEIVER_H_

#include <cstddef>
#include <cstdint>

#include "datapath/umem/umem.h"
#include "datapath/xsk/queue_counters.h"
#include "datapath/xsk/socket.h"

namespace afxdp {

// A received packet.  Its frame is held by whoever has this.
struct ReceivedPacket {
  char* data;
  void* header;  // The frame's slot in the packet headers.
  uint32_t length;
};

// One thread at a time.
class Receiver {
 public:
  // Posts for `queue` as many frames as the fill ring of `socket` has slots.
  Receiver(Umem* umem, XskSocket* socket, QueueId queue, ReceiveCounters* counters);

  // Tops up the fill ring.  False when the pool had too few frames.
  bool Refill();

  // Moves at most `max` packets out of the RX ring.
  size_t Receive(ReceivedPacket* packets, size_t max);

  // Whether the last Refill() found too few frames.
  bool short_of_frames() const { return short_of_frames_; }

 private:
  bool Accept(const xdp_desc& descriptor, ReceivedPacket* packet);
  void Wake();

  Umem* const umem_;
  XskSocket* const socket_;
  const FrameOwner owner_;
  ReceiveCounters* const counters_;
  const uint32_t refill_batch_;
  uint32_t posted_ = 0;  // Frames in the fill and RX ring.
  bool short_of_frames_ = false;
};

}  // namespace afxdp

#endif  // DATAPATH_XSK_RECEIVER_H_

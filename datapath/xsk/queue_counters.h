// SPDX-License-Identifier: Apache-2.0
//
// What is counted per queue.  The counters outlive the socket: a queue that is rebuilt goes on
// counting where it was.
#ifndef DATAPATH_XSK_QUEUE_COUNTERS_H_
#define DATAPATH_XSK_QUEUE_COUNTERS_H_

#include "datapath/base/counter.h"

namespace afxdp {

// Written by the thread that receives.
struct ReceiveCounters {
  Counter packets;
  Counter bytes;
  Counter drop_invalid;  // Descriptors that name no frame of this queue or bytes outside of it.
  Counter refill_short;  // Times that the pool had fewer frames than the fill ring wanted.
  Counter wakeups;       // System calls to make the driver look at the fill ring.
};

// Written under the transmitter's lock.
struct TransmitCounters {
  Counter packets;  // Put on the TX ring; the sum of the next four.
  Counter in_place;
  Counter copied_clone;  // In a frame that the clone was copied into.
  Counter copied_foreign;
  Counter copied_unfit;
  Counter bytes;
  Counter kicks;       // sendto() calls.
  Counter kick_again;  // ... that ended in EAGAIN,
  Counter kick_busy;   // ... in EBUSY: each is a packet that the device dropped,
  Counter kick_error;  // ... in anything else.
  Counter drop_no_descriptor;
  Counter drop_no_frame;       // No frame to copy into.
  Counter drop_invalid;        // Too long, too short, or not in a frame of the sender's.
  Counter drop_link_down;      // The device or its peer was down.
  Counter completion_invalid;  // Completions that name no frame of this queue.
};

struct QueueCounters {
  ReceiveCounters receive;
  TransmitCounters transmit;
};

}  // namespace afxdp

#endif  // DATAPATH_XSK_QUEUE_COUNTERS_H_

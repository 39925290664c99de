// SPDX-License-Identifier: Apache-2.0
//
// Questions to the running kernel about a device queue.
#ifndef DATAPATH_XSK_QUEUE_PROBE_H_
#define DATAPATH_XSK_QUEUE_PROBE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "datapath/xsk/socket.h"

namespace afxdp {

// Whether no AF_XDP socket holds `where`, not even one that is closed but not yet gone.  Asks
// netdev generic netlink where the kernel tells it there (probed once), else tries to bind a socket
// with memory of its own.  A device that does not exist holds nothing.
bool QueueIsFree(const DeviceQueue& where);

// Whether the kernel says by netlink that an AF_XDP socket holds `where`.  False also where it does
// not tell: then only an attempt to bind does.  Unlike QueueIsFree() this never binds, which would
// keep the queue busy for a moment itself.
bool QueueIsKnownHeld(const DeviceQueue& where);

// The two ways of QueueIsFree().  Netlink also answers "free" where the kernel does not know about
// XSKs at all.
absl::StatusOr<bool> QueueIsFreeByNetlink(const DeviceQueue& where);
bool QueueIsFreeByBind(const DeviceQueue& where);

// Whether the device's driver can do zero-copy on any queue.  That it can does not mean that a bind
// will succeed; that it cannot spares the attempt.  An error where the kernel does not tell (before
// 6.3).
absl::StatusOr<bool> DriverHasZeroCopy(int ifindex);

// How many RX queues the device has in use.  UNIMPLEMENTED where the kernel does not tell (before
// 6.8).
absl::StatusOr<uint32_t> CountRxQueuesByNetlink(int ifindex);

}  // namespace afxdp

#endif  // DATAPATH_XSK_QUEUE_PROBE_H_

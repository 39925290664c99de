// SPDX-License-Identifier: Apache-2.0
//
// XskSocket: an AF_XDP socket with the region registered as its UMEM and its four rings mapped.
//
// By plain socket calls, with one registration of the region per socket: the sockets share memory
// and nothing else, so each has its own mode, flags and lifetime (docs/decisions/0001).
//
//   absl::StatusOr<XskSocket> socket = XskSocket::Create(region, {.rx = 512, ...});
//   ... put frames on socket->fill ...
//   absl::Status bound = socket->Bind({.ifindex = 4, .queue = 0});
#ifndef DATAPATH_XSK_SOCKET_H_
#define DATAPATH_XSK_SOCKET_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datapath/base/mapping.h"
#include "datapath/base/unique_fd.h"
#include "datapath/umem/region.h"
#include "datapath/xsk/ring.h"

namespace afxdp {

// Descriptors per ring; powers of two.
struct RingSizes {
  uint32_t rx = 0;
  uint32_t fill = 0;
  uint32_t tx = 0;
  uint32_t completion = 0;

  friend bool operator==(const RingSizes&, const RingSizes&) = default;
};

// One queue of one device.
struct DeviceQueue {
  int ifindex = 0;
  uint32_t queue = 0;

  friend bool operator==(const DeviceQueue&, const DeviceQueue&) = default;
};

// The kernel's own counters of a socket (struct xdp_statistics in linux/if_xdp.h), all six.
struct KernelStatistics {
  uint64_t rx_dropped = 0;
  uint64_t rx_invalid_descs = 0;
  uint64_t tx_invalid_descs = 0;
  uint64_t rx_ring_full = 0;
  uint64_t rx_fill_ring_empty_descs = 0;
  uint64_t tx_ring_empty_descs = 0;
};

class XskSocket {
 public:
  static absl::StatusOr<XskSocket> Create(const Region& region, const RingSizes& sizes);

  // A socket that exists already, whose rings lie in memory that somebody else keeps mapped.
  struct RingsMemory {
    RingMemory fill;
    RingMemory rx;
    RingMemory tx;
    RingMemory completion;
  };
  static XskSocket Adopt(UniqueFd fd, const RingsMemory& memory);

  XskSocket(XskSocket&&) = default;
  XskSocket& operator=(XskSocket&&) = delete;
  ~XskSocket() { Close(); }

  enum class Copying { kCopy, kZeroCopy };

  // Binds to `where`.  A failure leaves the socket of no further use: make a new one to try again
  // (kernel: xsk_bind() in net/xdp/xsk.c keeps what it has set up so far).
  absl::Status Bind(const DeviceQueue& where, Copying copying, bool need_wakeup);

  // Unmaps the rings, then closes: a ring that stays mapped keeps the socket, and the kernel goes
  // on writing through it.  Takes 5 to 15 ms; the kernel lets go of the queue later still.
  void Close();

  int fd() const { return fd_.get(); }
  absl::StatusOr<KernelStatistics> Statistics() const;

  FillRing fill;
  RxRing rx;
  TxRing tx;
  CompletionRing completion;

 private:
  XskSocket() = default;

  absl::Status RegisterRegion(const Region& region);
  absl::Status MakeRings(const RingSizes& sizes);

  UniqueFd fd_;
  Mapping fill_memory_;
  Mapping rx_memory_;
  Mapping tx_memory_;
  Mapping completion_memory_;
};

}  // namespace afxdp

#endif  // DATAPATH_XSK_SOCKET_H_

// SPDX-License-Identifier: Apache-2.0
#include "datapath/xsk/socket.h"

#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "datapath/base/capabilities.h"
#include "datapath/base/errno_status.h"
#include "datapath/umem/frame.h"

namespace afxdp {
namespace {

// Bytes of sent packets that may wait in the kernel, charged to the socket.  The default of some
// 200 KiB fits 94 full frames, after which every kick says EAGAIN.
constexpr int kSendBuffer = 16 << 20;

// EPERM and the memlock errors in words; `error` otherwise.
absl::Status Explain(int error, const std::string& operation, uint64_t locked_bytes) {
  std::string text = absl::StrCat(operation, ": ", DescribeErrno(error), ExplainRefusal(error));
  const uint64_t limit = MemlockLimit();
  if ((error == ENOBUFS || error == ENOMEM || error == EPERM) && limit < RLIM_INFINITY &&
      locked_bytes > 0) {
    absl::StrAppend(&text, "; each queue locks ", locked_bytes >> 10,
                    " KiB of memory and the limit for all together is ", limit >> 10,
                    " KiB: raise RLIMIT_MEMLOCK (ulimit -l), or give the daemon CAP_IPC_LOCK");
  }
  return ErrorWithErrno(error, text);
}

absl::Status SetSize(int fd, int option, uint32_t size, const char* ring) {
  if (setsockopt(fd, SOL_XDP, option, &size, sizeof size) == 0) return absl::OkStatus();
  return ErrnoError(errno, absl::StrCat("making a ", ring, " ring of ", size, " descriptors"));
}

// Maps one ring whose slots are `slot_size` bytes each.
absl::Status MapRing(int fd, uint64_t page_offset, const xdp_ring_offset& offsets, uint32_t size,
                     uint32_t slot_size, const char* what, Mapping* mapping, RingMemory* ring) {
  absl::StatusOr<Mapping> mapped =
      Mapping::Create(offsets.desc + uint64_t{size} * slot_size, MAP_SHARED | MAP_POPULATE, fd,
                      static_cast<off_t>(page_offset), what);
  if (!mapped.ok()) return mapped.status();
  *mapping = *std::move(mapped);
  char* base = mapping->data();
  ring->producer = reinterpret_cast<uint32_t*>(base + offsets.producer);
  ring->consumer = reinterpret_cast<uint32_t*>(base + offsets.consumer);
  ring->flags = reinterpret_cast<uint32_t*>(base + offsets.flags);
  ring->slots = base + offsets.desc;
  ring->size = size;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<XskSocket> XskSocket::Create(const Region& region, const RingSizes& sizes) {
  XskSocket socket;
  socket.fd_.Reset(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!socket.fd_.valid()) return Explain(errno, "opening an AF_XDP socket", 0);
  AFXDP_RETURN_IF_ERROR(socket.RegisterRegion(region));
  AFXDP_RETURN_IF_ERROR(socket.MakeRings(sizes));
  // Not vital: without it more kicks end in EAGAIN.
  setsockopt(socket.fd(), SOL_SOCKET, SO_SNDBUFFORCE, &kSendBuffer, sizeof kSendBuffer);
  return socket;
}

XskSocket XskSocket::Adopt(UniqueFd fd, const RingsMemory& memory) {
  XskSocket socket;
  socket.fd_ = std::move(fd);
  socket.fill = FillRing(memory.fill);
  socket.rx = RxRing(memory.rx);
  socket.tx = TxRing(memory.tx);
  socket.completion = CompletionRing(memory.completion);
  return socket;
}

absl::Status XskSocket::RegisterRegion(const Region& region) {
  xdp_umem_reg registration = {};
  registration.addr = reinterpret_cast<uintptr_t>(region.base());
  registration.len = region.size();
  registration.chunk_size = kFrameSize;
  if (setsockopt(fd(), SOL_XDP, XDP_UMEM_REG, &registration, sizeof registration) == 0) {
    return absl::OkStatus();
  }
  return Explain(errno, absl::StrCat("registering ", region.size() >> 20, " MiB of frames"),
                 region.size());
}

absl::Status XskSocket::MakeRings(const RingSizes& sizes) {
  AFXDP_RETURN_IF_ERROR(SetSize(fd(), XDP_UMEM_FILL_RING, sizes.fill, "fill"));
  AFXDP_RETURN_IF_ERROR(SetSize(fd(), XDP_UMEM_COMPLETION_RING, sizes.completion, "completion"));
  AFXDP_RETURN_IF_ERROR(SetSize(fd(), XDP_RX_RING, sizes.rx, "RX"));
  AFXDP_RETURN_IF_ERROR(SetSize(fd(), XDP_TX_RING, sizes.tx, "TX"));

  xdp_mmap_offsets offsets = {};
  socklen_t length = sizeof offsets;
  if (getsockopt(fd(), SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0) {
    return ErrnoError(errno, "asking for the rings' layout");
  }
  RingMemory ring;
  AFXDP_RETURN_IF_ERROR(MapRing(fd(), XDP_UMEM_PGOFF_FILL_RING, offsets.fr, sizes.fill,
                                sizeof(__u64), "a fill ring", &fill_memory_, &ring));
  fill = FillRing(ring);
  AFXDP_RETURN_IF_ERROR(MapRing(fd(), XDP_UMEM_PGOFF_COMPLETION_RING, offsets.cr, sizes.completion,
                                sizeof(__u64), "a completion ring", &completion_memory_, &ring));
  completion = CompletionRing(ring);
  AFXDP_RETURN_IF_ERROR(MapRing(fd(), XDP_PGOFF_RX_RING, offsets.rx, sizes.rx, sizeof(xdp_desc),
                                "an RX ring", &rx_memory_, &ring));
  rx = RxRing(ring);
  AFXDP_RETURN_IF_ERROR(MapRing(fd(), XDP_PGOFF_TX_RING, offsets.tx, sizes.tx, sizeof(xdp_desc),
                                "a TX ring", &tx_memory_, &ring));
  tx = TxRing(ring);
  return absl::OkStatus();
}

absl::Status XskSocket::Bind(const DeviceQueue& where, Copying copying, bool need_wakeup) {
  sockaddr_xdp address = {};
  address.sxdp_family = AF_XDP;
  address.sxdp_ifindex = static_cast<uint32_t>(where.ifindex);
  address.sxdp_queue_id = where.queue;
  address.sxdp_flags = copying == Copying::kZeroCopy ? XDP_ZEROCOPY : XDP_COPY;
  if (need_wakeup) address.sxdp_flags |= XDP_USE_NEED_WAKEUP;
  if (bind(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return absl::OkStatus();
  }
  return Explain(errno,
                 absl::StrCat("binding to queue ", where.queue,
                              copying == Copying::kZeroCopy ? " for zero-copy" : " in copy mode"),
                 0);
}

void XskSocket::Close() {
  fill_memory_.Reset();
  rx_memory_.Reset();
  tx_memory_.Reset();
  completion_memory_.Reset();
  fd_.Reset();
}

absl::StatusOr<KernelStatistics> XskSocket::Statistics() const {
  xdp_statistics statistics = {};
  socklen_t length = sizeof statistics;
  if (getsockopt(fd(), SOL_XDP, XDP_STATISTICS, &statistics, &length) != 0) {
    return ErrnoError(errno, "asking for the socket's statistics");
  }
  return KernelStatistics{.rx_dropped = statistics.rx_dropped,
                          .rx_invalid_descs = statistics.rx_invalid_descs,
                          .tx_invalid_descs = statistics.tx_invalid_descs,
                          .rx_ring_full = statistics.rx_ring_full,
                          .rx_fill_ring_empty_descs = statistics.rx_fill_ring_empty_descs,
                          .tx_ring_empty_descs = statistics.tx_ring_empty_descs};
}

}  // namespace afxdp

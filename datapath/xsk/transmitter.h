// SPDX-License-Identifier: Apache-2.0
//
// Transmitter: the TX and completion ring of one XSK, under a lock of their own.
//
// In copy mode the kernel sends inside the kick, on our time, and the frame is back on the
// completion ring afterwards.  In zero-copy mode the device sends later.  Completed frames are
// reclaimed lazily: when descriptors run short, and from idle polls.
#ifndef DATAPATH_XSK_TRANSMITTER_H_
#define DATAPATH_XSK_TRANSMITTER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "datapath/umem/umem.h"
#include "datapath/xsk/queue_counters.h"
#include "datapath/xsk/socket.h"

namespace afxdp {

// How a packet gets onto the TX ring.
enum class TransmitKind : uint32_t {
  kInPlace,       // Its bytes lie in a frame that the sender holds; that frame is sent.
  kInPlaceClone,  // The same, but the frame was filled by copying another packet.
  kCopyForeign,   // Bytes from elsewhere, copied into a frame.
  kCopyUnfit,     // The same, for a packet that outgrew its frame.
};

struct TransmitPacket {
  const void* data;
  const void* frame;  // First byte of the frame that is sent; of no meaning for packets to copy.
  uint32_t length;
  TransmitKind kind;
};

// A packet that is sent from the frame that its bytes lie in.
inline TransmitPacket SendInPlace(const void* data, uint32_t length) {
  // The region starts on a page, so a frame's first byte is a multiple of its size.
  const auto offset = reinterpret_cast<uintptr_t>(data) & (kFrameSize - 1);
  return {data, static_cast<const char*>(data) - offset, length, TransmitKind::kInPlace};
}

// A packet that is copied into a frame.
inline TransmitPacket SendCopy(const void* data, uint32_t length) {
  return {data, nullptr, length, TransmitKind::kCopyForeign};
}

// Any thread.
class Transmitter {
 public:
  struct Options {
    QueueId queue = 0;
    bool zero_copy = false;
    bool need_wakeup = true;  // The socket was bound with XDP_USE_NEED_WAKEUP.
  };

  // `link_up` is false while the device or its peer is down; packets are dropped then, so that none
  // lies on the ring to be sent late.
  Transmitter(Umem* umem, XskSocket* socket, const Options& options,
              const std::atomic<bool>* link_up, TransmitCounters* counters);

  // Sends the packets, or drops and counts them; returns how many went onto the ring.  In-place
  // frames are no longer the caller's whatever happens, other packets' bytes always stay so.
  size_t Transmit(const TransmitPacket* packets, size_t count) ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes back what has been sent and kicks what has not, unless another thread is at it.
  void Poll() ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether sent frames are still out: somebody should Poll() before long.
  bool busy() const { return outstanding_.load(std::memory_order_relaxed) > 0; }

  // True once packets were left on the ring by a device that is down or gone.  They would go out
  // whenever it is back, so the socket must be replaced; until then everything is dropped.
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

  // Shortest packet that is sent, in bytes: an Ethernet header, which the receiving stack pulls
  // without looking (kernel: eth_type_trans()).
  static constexpr uint32_t kMinLength = 14;

 private:
  // What one batch adds to the counters, gathered so that they are written once.
  struct Tally {
    uint64_t packets[4] = {};  // By TransmitKind.
    uint64_t bytes = 0;
  };

  // Each does its work on the rings, with the lock held.
  size_t SendSome(const TransmitPacket* packets, size_t count, size_t* taken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint32_t MakeRoom(size_t wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Place(const TransmitPacket& packet, xdp_desc* descriptor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  FrameIndex FrameOf(const TransmitPacket& packet) const;
  bool PlaceFrame(const TransmitPacket& packet, xdp_desc* descriptor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool PlaceCopy(const TransmitPacket& packet, xdp_desc* descriptor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(const Tally& tally) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Drop(const TransmitPacket* packets, size_t count, Counter* why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Reclaim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Kick() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool KickOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasUnsent() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint32_t Room() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return socket_->tx.size() - outstanding_.load(std::memory_order_relaxed);
  }

  Umem* const umem_;
  XskSocket* const socket_;
  const Options options_;
  const FrameOwner owner_;
  const std::atomic<bool>* const link_up_;
  TransmitCounters* const counters_;

  absl::Mutex mutex_;
  // Frames on the TX or completion ring.  Written under the lock, peeked at by Poll() without it.
  std::atomic<uint32_t> outstanding_{0};
  std::atomic<bool> abandoned_{false};
};

}  // namespace afxdp

#endif  // DATAPATH_XSK_TRANSMITTER_H_

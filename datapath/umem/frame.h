// SPDX-License-Identifier: Apache-2.0
//
// Frames: the 4096-byte pieces of the region, and who owns each.
#ifndef DATAPATH_UMEM_FRAME_H_
#define DATAPATH_UMEM_FRAME_H_

#include <linux/bpf.h>

#include <cstdint>

namespace afxdp {

// A frame's number in its region; its address, as descriptors carry it, is index << kFrameShift.
using FrameIndex = uint32_t;

// Aligned chunks may be 2048 or 4096 bytes (kernel: xdp_umem_reg() in net/xdp/xdp_umem.c); only the
// larger holds a 1500-byte packet in zero-copy mode with any driver.
inline constexpr uint32_t kFrameShift = 12;
inline constexpr uint32_t kFrameSize = 1u << kFrameShift;

// Bytes that the kernel leaves free in front of every packet it receives into a frame
// (kernel: XDP_PACKET_HEADROOM; we register no headroom of our own on top).
inline constexpr uint32_t kReceiveHeadroom = XDP_PACKET_HEADROOM;

// The longest packet that a frame can receive, in bytes.
inline constexpr uint32_t kMaxReceiveLength = kFrameSize - kReceiveHeadroom;

// Numbers a queue for the ownership record; unique among the queues that exist at a time.
using QueueId = uint16_t;
inline constexpr QueueId kMaxQueueIds = 1u << 14;

// Who owns a frame: the pool (with its thread caches), a holder of the packet in it, or one
// direction of one queue.  Fits into 16 bits, so that the record of 65,536 frames is 128 KiB.
class FrameOwner {
 public:
  static constexpr FrameOwner Pool() { return FrameOwner(kPool, 0); }
  static constexpr FrameOwner Held() { return FrameOwner(kHeld, 0); }
  // Fill or RX ring of `queue`: the kernel moves frames from one to the other unseen.
  static constexpr FrameOwner Receive(QueueId queue) { return FrameOwner(kReceive, queue); }
  // TX or completion ring of `queue`.
  static constexpr FrameOwner Transmit(QueueId queue) { return FrameOwner(kTransmit, queue); }
  static constexpr FrameOwner FromRaw(uint16_t raw) { return FrameOwner(raw); }

  constexpr bool is_pool() const { return kind() == kPool; }
  constexpr bool is_held() const { return kind() == kHeld; }
  constexpr bool is_receive() const { return kind() == kReceive; }
  constexpr bool is_transmit() const { return kind() == kTransmit; }
  constexpr QueueId queue() const { return raw_ & (kMaxQueueIds - 1); }
  constexpr uint16_t raw() const { return raw_; }

  friend constexpr bool operator==(FrameOwner a, FrameOwner b) { return a.raw_ == b.raw_; }

 private:
  enum Kind : uint16_t { kPool = 0, kHeld = 1, kReceive = 2, kTransmit = 3 };

  constexpr explicit FrameOwner(uint16_t raw) : raw_(raw) {}
  constexpr FrameOwner(Kind kind, QueueId queue)
      : raw_(static_cast<uint16_t>(kind << 14 | (queue & (kMaxQueueIds - 1)))) {}
  constexpr Kind kind() const { return static_cast<Kind>(raw_ >> 14); }

  uint16_t raw_;
};

}  // namespace afxdp

#endif  // DATAPATH_UMEM_FRAME_H_

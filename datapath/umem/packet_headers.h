// SPDX-License-Identifier: Apache-2.0
//
// PacketHeaders: one slot per frame for what the user of the library keeps about a packet (a
// dp_packet for Open vSwitch), so that no header is ever allocated per packet.  The library never
// looks into a slot.
#ifndef DATAPATH_UMEM_PACKET_HEADERS_H_
#define DATAPATH_UMEM_PACKET_HEADERS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "datapath/base/mapping.h"
#include "datapath/umem/frame.h"

namespace afxdp {

// What a slot looks like: `size` bytes, placed so that the byte at `align_offset` in it is aligned
// to `align` (a power of two; 0 counts as 1).
struct HeaderLayout {
  uint32_t size = 0;
  uint32_t align = 1;
  uint32_t align_offset = 0;
};

class PacketHeaders {
 public:
  static absl::StatusOr<PacketHeaders> Create(uint32_t frames, const HeaderLayout& layout);

  void* Slot(FrameIndex frame) const { return first_ + uint64_t{frame} * stride_; }

  // The frame whose slot `header` is; a number past the last frame when it is nobody's.
  FrameIndex FrameOf(const void* header) const {
    const auto distance = static_cast<uint64_t>(static_cast<const char*>(header) - first_);
    if (distance >= span_ || distance % stride_ != 0) return UINT32_MAX;
    return static_cast<FrameIndex>(distance / stride_);
  }

 private:
  PacketHeaders(Mapping memory, uint32_t offset, uint32_t stride, uint32_t frames)
      : memory_(std::move(memory)),
        first_(memory_.data() + offset),
        stride_(stride),
        span_(uint64_t{stride} * frames) {}

  Mapping memory_;
  char* first_;
  uint64_t stride_;
  uint64_t span_;
};

}  // namespace afxdp

#endif  // DATAPATH_UMEM_PACKET_HEADERS_H_

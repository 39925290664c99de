// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/packet_headers.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"

namespace afxdp {

absl::StatusOr<PacketHeaders> PacketHeaders::Create(uint32_t frames, const HeaderLayout& layout) {
  const uint32_t align = std::max(layout.align, 1u);
  if (!std::has_single_bit(align) || align > kFrameSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("packet headers cannot be aligned to ", layout.align, " bytes"));
  }
  const uint32_t size = std::max(layout.size, 1u);
  const uint32_t stride = (size + align - 1) / align * align;
  // mmap() gives whole pages, so an offset within `align` is all it takes.
  const uint32_t offset = (align - layout.align_offset % align) % align;
  absl::StatusOr<Mapping> memory =
      Mapping::Create(uint64_t{stride} * frames + align,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0, "packet headers");
  if (!memory.ok()) return memory.status();
  // Only a hint: fewer TLB misses where the system grants it.
  madvise(memory->data(), memory->size(), MADV_HUGEPAGE);
  return PacketHeaders(*std::move(memory), offset, stride, frames);
}

}  // namespace afxdp

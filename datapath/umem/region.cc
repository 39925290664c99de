// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/region.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "datapath/base/errno_status.h"

namespace afxdp {
namespace {

constexpr uint64_t kHugePageSize = uint64_t{2} << 20;

}  // namespace

absl::StatusOr<Region> Region::Map(uint32_t frames, bool hugepages) {
  const char* pages = hugepages ? "2 MiB huge pages" : "4 KiB pages";
  uint64_t size = uint64_t{frames} << kFrameShift;
  if (hugepages) size = (size + kHugePageSize - 1) / kHugePageSize * kHugePageSize;

  const unsigned int flags =
      MFD_CLOEXEC | MFD_ALLOW_SEALING | (hugepages ? MFD_HUGETLB | MFD_HUGE_2MB : 0);
  UniqueFd memfd(memfd_create("afxdp-umem", flags));
  if (!memfd.valid()) return ErrnoError(errno, absl::StrCat("memfd_create with ", pages));
  if (ftruncate(memfd.get(), static_cast<off_t>(size)) != 0) {
    return ErrnoError(errno, absl::StrCat("sizing the memfd to ", size, " bytes"));
  }
  // Whoever the descriptor is handed to shall not be able to cut the memory from under us.
  if (fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ErrnoError(errno, "sealing the memfd");
  }
  // On huge pages mmap() reserves them, and fails here rather than by a signal later.
  absl::StatusOr<Mapping> memory = Mapping::Create(
      size, MAP_SHARED, memfd.get(), 0, absl::StrCat(size >> 20, " MiB of frames on ", pages));
  if (!memory.ok()) return memory.status();
  return Region(std::move(memfd), *std::move(memory), frames, hugepages);
}

absl::StatusOr<Region> Region::Create(const RegionOptions& options) {
  if (options.frames == 0) return absl::InvalidArgumentError("a region needs at least one frame");
  if (options.hugepages) {
    absl::StatusOr<Region> region = Map(options.frames, /*hugepages=*/true);
    if (region.ok()) return region;
  }
  return Map(options.frames, /*hugepages=*/false);
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// Region: the shared UMEM, one stretch of memory that every XSK registers as its own.
//
//   absl::StatusOr<Region> region = Region::Create({.frames = 65536, .hugepages = true});
//
// It is a memfd, so that a later process can take it over.  Immutable once created; any thread.
#ifndef DATAPATH_UMEM_REGION_H_
#define DATAPATH_UMEM_REGION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "datapath/base/mapping.h"
#include "datapath/base/unique_fd.h"
#include "datapath/umem/frame.h"

namespace afxdp {

struct RegionOptions {
  uint32_t frames = 65536;
  // Use huge pages of 2 MiB when the system has enough of them free, ordinary pages otherwise.
  bool hugepages = true;
};

class Region {
 public:
  static absl::StatusOr<Region> Create(const RegionOptions& options);

  char* base() const { return memory_.data(); }
  // Bytes that are registered with the kernel: all frames and nothing else.
  uint64_t size() const { return uint64_t{frames_} << kFrameShift; }
  uint32_t frames() const { return frames_; }
  bool hugepages() const { return hugepages_; }

  char* FrameData(FrameIndex frame) const { return base() + (uint64_t{frame} << kFrameShift); }

  // A pointer's address in the region, as descriptors carry it; size() or more when it points
  // elsewhere.
  uint64_t Address(const void* data) const {
    return static_cast<uint64_t>(static_cast<const char*>(data) - base());
  }

 private:
  Region(UniqueFd memfd, Mapping memory, uint32_t frames, bool hugepages)
      : memfd_(std::move(memfd)),
        memory_(std::move(memory)),
        frames_(frames),
        hugepages_(hugepages) {}

  static absl::StatusOr<Region> Map(uint32_t frames, bool hugepages);

  UniqueFd memfd_;
  Mapping memory_;
  uint32_t frames_;
  bool hugepages_;
};

}  // namespace afxdp

#endif  // DATAPATH_UMEM_REGION_H_

// SPDX-License-Identifier: Apache-2.0
//
// Umem: the memory that all ports share, as one thing: the region, a packet header per frame, and
// the pool of the free frames.
#ifndef DATAPATH_UMEM_UMEM_H_
#define DATAPATH_UMEM_UMEM_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "datapath/umem/frame_pool.h"
#include "datapath/umem/packet_headers.h"
#include "datapath/umem/region.h"

namespace afxdp {

class Umem {
 public:
  static absl::StatusOr<std::unique_ptr<Umem>> Create(const RegionOptions& options,
                                                      const HeaderLayout& headers) {
    absl::StatusOr<Region> region = Region::Create(options);
    if (!region.ok()) return region.status();
    absl::StatusOr<PacketHeaders> slots = PacketHeaders::Create(options.frames, headers);
    if (!slots.ok()) return slots.status();
    return std::unique_ptr<Umem>(new Umem(*std::move(region), *std::move(slots)));
  }

  const Region& region() const { return region_; }
  const PacketHeaders& headers() const { return headers_; }
  FramePool& pool() { return *pool_; }
  FrameLedger& ledger() { return pool_->ledger(); }

 private:
  Umem(Region region, PacketHeaders headers)
      : region_(std::move(region)),
        headers_(std::move(headers)),
        pool_(FramePool::Create(region_.frames())) {}

  Region region_;
  PacketHeaders headers_;
  std::shared_ptr<FramePool> pool_;
};

}  // namespace afxdp

#endif  // DATAPATH_UMEM_UMEM_H_

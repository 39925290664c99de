// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/region.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "datapath/umem/umem.h"
#include "tests/support/status_matchers.h"

namespace afxdp {
namespace {

using testing::FailsWith;
using ::testing::HasSubstr;

constexpr uint32_t kFrames = 600;  // No whole number of huge pages.

// Huge pages of 2 MiB that can be had; 0 where the system has none at all.
int FreeHugePages() {
  int sum = 0;
  for (const char* name : {"free_hugepages", "nr_overcommit_hugepages"}) {
    std::ifstream file(std::string("/sys/kernel/mm/hugepages/hugepages-2048kB/") + name);
    int pages = 0;
    file >> pages;
    sum += pages;
  }
  return sum;
}

// The descriptors of this process that name the region's memfd.
int OpenMemfds() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.find("memfd:afxdp-umem") != std::string::npos) ++count;
  }
  return count;
}

TEST(RegionTest, EveryFrameCanBeUsed) {
  const auto region = Region::Create({.frames = kFrames, .hugepages = false});
  ASSERT_OK(region);
  EXPECT_EQ(region->frames(), kFrames);
  EXPECT_EQ(region->size(), uint64_t{kFrames} * kFrameSize);
  EXPECT_FALSE(region->hugepages());
  for (FrameIndex frame = 0; frame < kFrames; ++frame) {
    std::memset(region->FrameData(frame), static_cast<int>(frame), kFrameSize);
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(region->base()) % kFrameSize, 0u);
}

TEST(RegionTest, AddressesAndPointersAgree) {
  const auto region = Region::Create({.frames = kFrames, .hugepages = false});
  ASSERT_OK(region);
  EXPECT_EQ(region->Address(region->base()), 0u);
  EXPECT_EQ(region->Address(region->FrameData(3) + 256), 3 * kFrameSize + 256u);
  EXPECT_EQ(region->Address(region->base() + region->size() - 1), region->size() - 1);
}

TEST(RegionTest, APointerElsewhereHasNoAddressInside) {
  const auto region = Region::Create({.frames = kFrames, .hugepages = false});
  ASSERT_OK(region);
  int other = 0;
  EXPECT_GE(region->Address(&other), region->size());
  EXPECT_GE(region->Address(nullptr), region->size());
  EXPECT_GE(region->Address(region->base() - 1), region->size());
  EXPECT_GE(region->Address(region->base() + region->size()), region->size());
}

TEST(RegionTest, NoFramesAreRefused) {
  EXPECT_THAT(Region::Create({.frames = 0, .hugepages = false}),
              FailsWith(EINVAL, HasSubstr("at least one frame")));
  EXPECT_THAT(Region::Create({.frames = 0, .hugepages = true}),
              FailsWith(EINVAL, HasSubstr("at least one frame")));
}

TEST(RegionTest, TheMemfdIsSealedAndClosesWithTheRegion) {
  const int before = OpenMemfds();
  {
    const auto region = Region::Create({.frames = kFrames, .hugepages = false});
    ASSERT_OK(region);
    ASSERT_EQ(OpenMemfds(), before + 1);
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
      if (target.find("memfd:afxdp-umem") == std::string::npos) continue;
      const int fd = std::stoi(entry.path().filename());
      EXPECT_EQ(fcntl(fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
      EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
      EXPECT_NE(ftruncate(fd, 0), 0) << "whoever has the descriptor could cut the memory off";
      EXPECT_NE(ftruncate(fd, 1 << 30), 0);
    }
  }
  EXPECT_EQ(OpenMemfds(), before);
}

TEST(RegionTest, MovesAsAWhole) {
  auto region = Region::Create({.frames = kFrames, .hugepages = false});
  ASSERT_OK(region);
  std::memset(region->base(), 7, 100);
  const Region moved = *std::move(region);
  EXPECT_EQ(moved.base()[99], 7);
  EXPECT_EQ(moved.frames(), kFrames);
}

TEST(RegionTest, HugePagesWhereThereAreAny) {
  const int needed = (kFrames * 4096 + (2 << 20) - 1) / (2 << 20);
  if (FreeHugePages() < needed) {
    GTEST_SKIP() << "this machine has fewer than " << needed << " free huge pages of 2 MiB";
  }
  const auto region = Region::Create({.frames = kFrames, .hugepages = true});
  ASSERT_OK(region);
  EXPECT_TRUE(region->hugepages());
  EXPECT_EQ(region->size(), uint64_t{kFrames} * kFrameSize) << "only whole frames are registered";
  EXPECT_EQ(reinterpret_cast<uintptr_t>(region->base()) % (2 << 20), 0u);
  std::memset(region->base(), 1, region->size());
}

TEST(RegionTest, OrdinaryPagesWhereThereAreTooFewHugeOnes) {
  // More than the machine can have free.
  const auto frames = static_cast<uint32_t>(FreeHugePages() + 1) * 512;
  const auto region = Region::Create({.frames = frames, .hugepages = true});
  ASSERT_OK(region);
  EXPECT_FALSE(region->hugepages());
  std::memset(region->base(), 1, kFrameSize);
}

TEST(UmemTest, JoinsRegionHeadersAndPool) {
  const auto umem = Umem::Create({.frames = kFrames, .hugepages = false},
                                 {.size = 568, .align = 64, .align_offset = 56});
  ASSERT_OK(umem);
  EXPECT_EQ((*umem)->region().frames(), kFrames);
  EXPECT_EQ((*umem)->ledger().frames(), kFrames);
  EXPECT_EQ((*umem)->pool().DepotSize(), kFrames);
  EXPECT_EQ((*umem)->headers().FrameOf((*umem)->headers().Slot(kFrames - 1)), kFrames - 1);
}

TEST(UmemTest, FailsAsItsPartsDo) {
  EXPECT_FALSE(Umem::Create({.frames = 0, .hugepages = false}, {}).ok());
  EXPECT_FALSE(Umem::Create({.frames = 8, .hugepages = false}, {.size = 8, .align = 5}).ok());
}

}  // namespace
}  // namespace afxdp

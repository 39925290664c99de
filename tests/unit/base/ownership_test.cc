// SPDX-License-Identifier: Apache-2.0
//
// The small owners: UniqueFd and Mapping.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "datapath/base/mapping.h"
#include "datapath/base/unique_fd.h"
#include "tests/support/status_matchers.h"

namespace afxdp {
namespace {

using testing::FailsWith;
using ::testing::HasSubstr;

int OpenNull() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFdTest, ClosesAtTheEnd) {
  int raw;
  {
    const UniqueFd fd(OpenNull());
    ASSERT_TRUE(fd.valid());
    raw = fd.get();
    EXPECT_TRUE(IsOpen(raw));
  }
  EXPECT_FALSE(IsOpen(raw));
}

TEST(UniqueFdTest, NothingIsNotValid) {
  EXPECT_FALSE(UniqueFd().valid());
  EXPECT_FALSE(UniqueFd(-1).valid());
}

TEST(UniqueFdTest, MovingLeavesNothingBehind) {
  UniqueFd first(OpenNull());
  const int raw = first.get();
  UniqueFd second(std::move(first));
  // NOLINTNEXTLINE(bugprone-use-after-move, clang-analyzer-cplusplus.Move): what the move left.
  EXPECT_FALSE(first.valid());
  EXPECT_EQ(second.get(), raw);
  UniqueFd third(OpenNull());
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(IsOpen(replaced));
  EXPECT_TRUE(IsOpen(raw));
  third.Reset();
  EXPECT_FALSE(IsOpen(raw));
}

TEST(MappingTest, MapsAndUnmaps) {
  char* data;
  {
    auto mapping = Mapping::Create(8192, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, "test memory");
    ASSERT_OK(mapping);
    EXPECT_EQ(mapping->size(), 8192u);
    data = mapping->data();
    data[8191] = 1;
    Mapping moved = *std::move(mapping);
    EXPECT_EQ(moved.data(), data);
    // NOLINTNEXTLINE(bugprone-use-after-move, clang-analyzer-cplusplus.Move): what the move left.
    EXPECT_EQ(mapping->data(), nullptr);
  }
  // msync() says ENOMEM for memory that is not mapped.
  EXPECT_EQ(msync(data, 8192, MS_ASYNC), -1);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(MappingTest, AFailureNamesTheMapping) {
  EXPECT_THAT(Mapping::Create(4096, MAP_SHARED, -1, 0, "a fill ring"),
              FailsWith(EBADF, HasSubstr("mmap of a fill ring")));
}

}  // namespace
}  // namespace afxdp

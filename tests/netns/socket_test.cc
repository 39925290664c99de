// SPDX-License-Identifier: Apache-2.0
//
// XskSocket: what the kernel says to rings and bindings, and its statistics.
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <string>

#include "datapath/xsk/socket.h"
#include "tests/netns/foreign_socket.h"
#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr RingSizes kRings = {.rx = 64, .fill = 64, .tx = 64, .completion = 64};

class SocketTest : public NetnsTest {
 protected:
  void SetUp() override {
    with_datapath_ = false;
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container());
    auto region = Region::Create({.frames = 256, .hugepages = false});
    ASSERT_OK(region);
    region_.emplace(*std::move(region));
  }

  static DeviceQueue Queue0() { return {.ifindex = IfIndex("p0"), .queue = 0}; }
  absl::Status Bind(const DeviceQueue& where,
                    XskSocket::Copying copying = XskSocket::Copying::kCopy) {
    auto socket = XskSocket::Create(*region_, kRings);
    if (!socket.ok()) return socket.status();
    return socket->Bind(where, copying, /*need_wakeup=*/true);
  }

  std::optional<Region> region_;
};

TEST_F(SocketTest, EachRingHasTheSizeThatWasAskedFor) {
  const auto socket =
      XskSocket::Create(*region_, {.rx = 64, .fill = 128, .tx = 256, .completion = 512});
  ASSERT_OK(socket);
  EXPECT_EQ(socket->rx.size(), 64u);
  EXPECT_EQ(socket->fill.size(), 128u);
  EXPECT_EQ(socket->tx.size(), 256u);
  EXPECT_EQ(socket->completion.size(), 512u);
}

TEST_F(SocketTest, AnImpossibleRingIsNamed) {
  RingSizes rings = kRings;
  rings.fill = 100;
  EXPECT_THAT(XskSocket::Create(*region_, rings),
              FailsWith(EINVAL, HasSubstr("making a fill ring of 100 descriptors")));
  rings = kRings;
  rings.completion = 0;
  EXPECT_THAT(XskSocket::Create(*region_, rings),
              FailsWith(EINVAL, HasSubstr("completion ring of 0 descriptors")));
  rings = kRings;
  rings.rx = 3;
  EXPECT_THAT(XskSocket::Create(*region_, rings),
              FailsWith(EINVAL, HasSubstr("RX ring of 3 descriptors")));
  rings = kRings;
  rings.tx = 65;
  EXPECT_THAT(XskSocket::Create(*region_, rings),
              FailsWith(EINVAL, HasSubstr("TX ring of 65 descriptors")));
}

TEST_F(SocketTest, BindingFailuresNameQueueModeAndErrno) {
  EXPECT_THAT(Bind({.ifindex = 99999, .queue = 0}),
              FailsWith(ENODEV, HasSubstr("binding to queue 0 in copy mode")));
  EXPECT_THAT(Bind({.ifindex = IfIndex("p0"), .queue = 7}),
              FailsWith(EINVAL, HasSubstr("queue 7")));
  EXPECT_THAT(Bind(Queue0(), XskSocket::Copying::kZeroCopy),
              FailsWith(EOPNOTSUPP, AllOf(HasSubstr("zero-copy"), HasSubstr("EOPNOTSUPP"))));
}

TEST_F(SocketTest, AQueueThatIsHeldIsBusyUntilItIsClosed) {
  std::optional<ForeignSocket> first(Queue0());
  EXPECT_THAT(Bind(Queue0()), FailsWith(EBUSY, HasSubstr("queue 0")));
  first.reset();
  EXPECT_TRUE(WaitFor([&] { return Bind(Queue0()).ok(); }));
}

TEST_F(SocketTest, ManySocketsShareOneRegion) {
  MakeVeth("p1", "c1", container());
  auto first = XskSocket::Create(*region_, kRings);
  auto second = XskSocket::Create(*region_, kRings);
  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_OK(first->Bind(Queue0(), XskSocket::Copying::kCopy, true));
  EXPECT_OK(second->Bind({.ifindex = IfIndex("p1"), .queue = 0}, XskSocket::Copying::kCopy, false));
}

TEST_F(SocketTest, StatisticsStartAtZero) {
  const auto socket = XskSocket::Create(*region_, kRings);
  ASSERT_OK(socket);
  const auto statistics = socket->Statistics();
  ASSERT_OK(statistics);
  EXPECT_EQ(statistics->rx_dropped, 0u);
  EXPECT_EQ(statistics->tx_invalid_descs, 0u);
  EXPECT_EQ(statistics->rx_fill_ring_empty_descs, 0u);
}

TEST_F(SocketTest, ClosingTwiceIsHarmlessAndStatisticsThenFail) {
  auto socket = XskSocket::Create(*region_, kRings);
  ASSERT_OK(socket);
  socket->Close();
  socket->Close();
  EXPECT_THAT(socket->Statistics(), FailsWith(EBADF, HasSubstr("statistics")));
}

TEST_F(SocketTest, TheSendBufferHoldsManyFullFrames) {
  const auto socket = XskSocket::Create(*region_, kRings);
  ASSERT_OK(socket);
  int size = 0;
  socklen_t length = sizeof size;
  ASSERT_EQ(getsockopt(socket->fd(), SOL_SOCKET, SO_SNDBUF, &size, &length), 0);
  EXPECT_GE(size, 16 << 20);
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// Devices that go away under a port: deleted, renamed, moved to another namespace.
#include <cerrno>
#include <functional>
#include <string>

#include "tests/netns/netns_test.h"
#include "tests/netns/xdp_query.h"

namespace afxdp::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GoneTest : public NetnsTest {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container());
    MakeVeth("p1", "c1", container());
    other_ = Open("p1");
    ASSERT_NE(other_, nullptr);
  }

  // Opens p0, has packets under way in both directions, lets `go` happen, and uses the port on.
  Port* OpenAndLose(const std::function<void()>& go) {
    Port* port = Open("p0", {}, &events_);
    if (port == nullptr) return nullptr;
    PacketSocket socket(container(), "c0");
    for (uint32_t i = 0; i < 40; ++i) {
      EXPECT_TRUE(socket.Send(MakePacket(100, i)));
      EXPECT_TRUE(TransmitCopy(*port->queue(0), MakePacket(100, i)));
    }
    go();
    UseOn(*port);
    return port;
  }

  // What the poller does until it is told.
  void UseOn(Port& port) {
    for (uint32_t i = 0; i < 200; ++i) {
      ReceiveNumbers(*datapath_, *port.queue(0), 1, absl::ZeroDuration());
      TransmitCopy(*port.queue(0), MakePacket(100, i));
    }
  }

  void ExpectGone(Port* port) {
    ASSERT_NE(port, nullptr);
    EXPECT_TRUE(WaitFor([&] { return !port->Report().link_up; }));
    EXPECT_GT(events_.status_changed, 0);
    EXPECT_THAT(port->Prepare({}), FailsWith(ENODEV, HasSubstr("is gone")));
    EXPECT_THAT(port->Prepare({.n_rxq_desc = 64}), FailsWith(ENODEV, HasSubstr("is gone")));
    const uint64_t before = CounterOf(*port, "tx_drop_link_down");
    UseOn(*port);
    EXPECT_EQ(CounterOf(*port, "tx_drop_link_down"), before + 200);
    EXPECT_THAT(datapath_->DescribePool(), HasSubstr("port p0 queue 0: "));
    Close(port);
    ExpectAllFramesConserved();
  }

  // A port on p0 and the one on p1 both work.
  void ExpectBack(const char* device = "p0") {
    Port* port = Open(device);
    ASSERT_NE(port, nullptr);
    PacketSocket socket(container(), "c0");
    PacketSocket other(container(), "c1");
    ASSERT_TRUE(socket.Send(MakePacket(100, 77)));
    EXPECT_EQ(Forward(*port->queue(0), *other_->queue(0), 1), 1u);
    EXPECT_THAT(other.ReceiveNumbers(1), ElementsAre(77u));
    ExpectAllFramesConserved();
  }

  Port* other_ = nullptr;
  PortEvents events_;
};

TEST_F(GoneTest, ADeletedDeviceIsNoticedAndItsSuccessorWorks) {
  Port* port = OpenAndLose([] { Command("ip link del p0"); });
  ExpectGone(port);
  EXPECT_THAT(TryOpen("p0"), FailsWith(ENODEV, HasSubstr("no such device")));
  MakeVeth("p0", "c0", container());
  ExpectBack();
}

TEST_F(GoneTest, ADeviceThatGoesWithItsContainerIsNoticed) {
  std::optional<NetNamespace> short_lived(NetNamespace::Create());
  MakeVeth("p2", "c2", *short_lived);
  Port* port = Open("p2", {}, &events_);
  ASSERT_NE(port, nullptr);
  short_lived.reset();
  EXPECT_TRUE(WaitFor([&] { return IfIndex("p2") == 0; }));
  UseOn(*port);
  EXPECT_TRUE(WaitFor([&] { return !port->Report().link_up; }));
  EXPECT_THAT(port->Prepare({}), FailsWith(ENODEV, HasSubstr("is gone")));
  Close(port);
  ExpectAllFramesConserved();
}

TEST_F(GoneTest, ASuccessorOfTheSameNameIsNotTakenForTheDevice) {
  Port* port = OpenAndLose([this] {
    Command("ip link del p0");
    MakeVeth("p0", "c0", container());
  });
  ExpectGone(port);
  ExpectBack();
}

TEST_F(GoneTest, ARenamedDeviceIsNoLongerThePorts) {
  Port* port = Open("p0", {}, &events_);
  ASSERT_NE(port, nullptr);
  Command("ip link set p0 name p0b");
  EXPECT_THAT(port->Prepare({}), FailsWith(ENODEV, HasSubstr("is gone")));
  UseOn(*port);
  Close(port);
  ExpectAllFramesConserved();
  ExpectBack("p0b");
}

TEST_F(GoneTest, ADeviceThatIsMovedAwayIsNoticedAndWorksWhenItIsBack) {
  const NetNamespace here = NetNamespace::Current();
  Port* port = OpenAndLose([this] { Command("ip link set p0 netns " + container().path()); });
  ExpectGone(port);
  EXPECT_THAT(TryOpen("p0"), FailsWith(ENODEV, HasSubstr("no such device")));
  {
    const InNamespace inside(container());
    // The kernel leaves the program on a device that moves, whatever became of its link.
    EXPECT_TRUE(WaitFor([] { return QueryXdp("p0").native == 0; }))
        << "our program is still on the device";
    Command("ip link set p0 netns " + here.path());
  }
  Command("ip link set p0 up");
  ExpectBack();
}

}  // namespace
}  // namespace afxdp::testing

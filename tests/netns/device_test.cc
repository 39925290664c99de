// SPDX-License-Identifier: Apache-2.0
//
// What FindDevice() sees of real devices.
#include "datapath/xdp/device.h"

#include <linux/if.h>

#include <cerrno>

#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

using ::testing::HasSubstr;

class DeviceNetnsTest : public NetnsTest {
 protected:
  void SetUp() override {
    with_datapath_ = false;
    NetnsTest::SetUp();
  }
};

TEST_F(DeviceNetnsTest, Loopback) {
  const auto device = FindDevice("lo");
  ASSERT_OK(device);
  EXPECT_EQ(device->ifindex, IfIndex("lo"));
  EXPECT_TRUE(device->flags & IFF_LOOPBACK);
  EXPECT_FALSE(CheckDevice(*device).ok());
}

TEST_F(DeviceNetnsTest, Veth) {
  MakeVeth("p0", "c0", container(), {.queues = 3, .mtu = 1400});
  const auto device = FindDevice("p0");
  ASSERT_OK(device);
  EXPECT_EQ(device->name, "p0");
  EXPECT_EQ(device->ifindex, IfIndex("p0"));
  EXPECT_EQ(device->kind, "veth");
  EXPECT_EQ(device->driver, "veth");
  EXPECT_EQ(device->mtu, 1400u);
  EXPECT_EQ(device->rx_queues, 3u);
  EXPECT_EQ(device->slave_kind, "");
  EXPECT_TRUE(device->is_virtual());
  EXPECT_TRUE(WaitFor([] { return FindDevice("p0")->link_up(); }));
  EXPECT_OK(CheckDevice(*device));
}

TEST_F(DeviceNetnsTest, TheSameByNumber) {
  MakeVeth("p0", "c0", container());
  const auto device = FindDevice(IfIndex("p0"));
  ASSERT_OK(device);
  EXPECT_EQ(device->name, "p0");
  EXPECT_EQ(device->driver, "veth");
}

TEST_F(DeviceNetnsTest, Tap) {
  std::optional<Tap> vm(std::in_place, "t0", /*persistent=*/true);
  auto device = FindDevice("t0");
  ASSERT_OK(device);
  EXPECT_EQ(device->kind, "tun");
  EXPECT_EQ(device->driver, "tun");
  EXPECT_EQ(device->rx_queues, 1u);
  EXPECT_TRUE(device->link_up());
  vm.reset();
  EXPECT_TRUE(WaitFor([] { return !FindDevice("t0")->link_up(); }));
  EXPECT_EQ(FindDevice("t0")->rx_queues, 1u);
}

TEST_F(DeviceNetnsTest, DownAndUp) {
  MakeVeth("p0", "c0", container());
  Command("ip link set p0 down");
  EXPECT_FALSE(FindDevice("p0")->link_up());
  EXPECT_EQ(FindDevice("p0")->rx_queues, 1u);
  Command("ip link set p0 up");
  EXPECT_TRUE(WaitFor([] { return FindDevice("p0")->link_up(); }));
  const InNamespace inside(container());
  Command("ip link set c0 down");
  const auto peer = FindDevice("c0");
  ASSERT_OK(peer);
  EXPECT_FALSE(peer->link_up());
}

TEST_F(DeviceNetnsTest, APeerThatIsDownTakesTheLinkDown) {
  MakeVeth("p0", "c0", container());
  {
    const InNamespace inside(container());
    Command("ip link set c0 down");
  }
  EXPECT_TRUE(WaitFor([] { return !FindDevice("p0")->link_up(); }));
}

TEST_F(DeviceNetnsTest, OnlyThisNamespaceCounts) {
  MakeVeth("p0", "c0", container());
  EXPECT_THAT(FindDevice("c0"), FailsWith(ENODEV, HasSubstr("no such device")));
  EXPECT_THAT(FindDevice(99999), FailsWith(ENODEV, HasSubstr("no such device")));
}

TEST_F(DeviceNetnsTest, ABridgesMemberSaysSo) {
  if (TryCommand("ip link add br0 type bridge").status != 0) {
    GTEST_SKIP() << "this kernel has no bridges";
  }
  MakeVeth("p0", "c0", container());
  Command("ip link set p0 master br0");
  const auto device = FindDevice("p0");
  ASSERT_OK(device);
  EXPECT_EQ(device->kind, "veth");
  EXPECT_EQ(device->slave_kind, "bridge");
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// CheckDevice() and ParseLink() with made-up devices; real ones are in tests/netns.
#include "datapath/xdp/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "datapath/base/netlink.h"
#include "datapath/umem/frame.h"
#include "tests/support/status_matchers.h"

namespace afxdp {
namespace {

using ::testing::AllOf;
using testing::FailsWith;
using ::testing::HasSubstr;

Device Nic() { return {.name = "eth7", .ifindex = 7, .flags = IFF_UP | IFF_LOWER_UP, .mtu = 1500}; }

TEST(CheckDeviceTest, AnOrdinaryDeviceIsFine) { EXPECT_OK(CheckDevice(Nic())); }

TEST(CheckDeviceTest, LoopbackIsNone) {
  Device device = Nic();
  device.flags |= IFF_LOOPBACK;
  EXPECT_THAT(CheckDevice(device), FailsWith(EINVAL, HasSubstr("loopback")));
}

TEST(CheckDeviceTest, ABondIsTurnedAwayWithAdvice) {
  Device device = Nic();
  device.kind = "bond";
  device.flags |= IFF_MASTER;
  EXPECT_THAT(CheckDevice(device),
              FailsWith(EINVAL, AllOf(HasSubstr("it is a bond"), HasSubstr("add its members"))));
}

TEST(CheckDeviceTest, ABondsMemberIsTurnedAwayWithAdvice) {
  Device device = Nic();
  device.slave_kind = "bond";
  device.flags |= IFF_SLAVE;
  EXPECT_THAT(CheckDevice(device), FailsWith(EINVAL, AllOf(HasSubstr("member of a bond"),
                                                           HasSubstr("remove it from there"))));
}

TEST(CheckDeviceTest, TheMtuMustFitIntoAFrame) {
  Device device = Nic();
  device.mtu = MaxMtu();
  EXPECT_OK(CheckDevice(device));
  device.mtu = MaxMtu() + 1;
  EXPECT_THAT(CheckDevice(device),
              FailsWith(EINVAL, AllOf(HasSubstr(std::to_string(MaxMtu() + 1)),
                                      HasSubstr("set " + std::to_string(MaxMtu())))));
  device.mtu = 9000;
  EXPECT_FALSE(CheckDevice(device).ok());
}

TEST(CheckDeviceTest, TheLargestPacketOfTheLargestMtuFits) {
  // Ethernet header and one VLAN tag, behind the kernel's headroom.
  EXPECT_EQ(MaxMtu() + 14 + 4 + kReceiveHeadroom, kFrameSize);
}

TEST(DeviceTest, LinkIsUpWithBothFlagsOnly) {
  Device device;
  EXPECT_FALSE(device.link_up());
  device.flags = IFF_UP;
  EXPECT_FALSE(device.link_up()) << "no carrier";
  device.flags = IFF_LOWER_UP;
  EXPECT_FALSE(device.link_up()) << "switched off";
  device.flags = IFF_UP | IFF_LOWER_UP | IFF_PROMISC;
  EXPECT_TRUE(device.link_up());
}

TEST(DeviceTest, ALinkKindMakesItVirtual) {
  Device device = Nic();
  EXPECT_FALSE(device.is_virtual());
  device.kind = "veth";
  EXPECT_TRUE(device.is_virtual());
}

TEST(ParseLinkTest, ReadsWhatTheMessageSays) {
  NetlinkRequest message(RTM_NEWLINK, 0);
  auto* header = message.AddHeader<ifinfomsg>();
  header->ifi_index = 42;
  header->ifi_flags = IFF_UP | IFF_SLAVE;
  mnl_attr_put_strz(message.header(), IFLA_IFNAME, "veth3");
  mnl_attr_put_u32(message.header(), IFLA_MTU, 3000);
  mnl_attr_put_u32(message.header(), IFLA_NUM_RX_QUEUES, 4);
  nlattr* info = mnl_attr_nest_start(message.header(), IFLA_LINKINFO);
  mnl_attr_put_strz(message.header(), IFLA_INFO_KIND, "veth");
  mnl_attr_put_strz(message.header(), IFLA_INFO_SLAVE_KIND, "bridge");
  mnl_attr_nest_end(message.header(), info);

  const Device device = ParseLink(message.header());
  EXPECT_EQ(device.ifindex, 42);
  EXPECT_EQ(device.flags, static_cast<uint32_t>(IFF_UP | IFF_SLAVE));
  EXPECT_EQ(device.name, "veth3");
  EXPECT_EQ(device.mtu, 3000u);
  EXPECT_EQ(device.rx_queues, 4u);
  EXPECT_EQ(device.kind, "veth");
  EXPECT_EQ(device.slave_kind, "bridge");
}

TEST(ParseLinkTest, WhatIsNotSaidStaysEmpty) {
  NetlinkRequest message(RTM_DELLINK, 0);
  message.AddHeader<ifinfomsg>()->ifi_index = 5;
  const Device device = ParseLink(message.header());
  EXPECT_EQ(device.ifindex, 5);
  EXPECT_EQ(device.name, "");
  EXPECT_EQ(device.kind, "");
  EXPECT_EQ(device.mtu, 0u);
}

TEST(FindDeviceTest, NamesThatNoDeviceCanHave) {
  for (const char* name : {"", "a-name-of-sixteen"}) {
    EXPECT_THAT(FindDevice(name), FailsWith(ENODEV, HasSubstr("is no name of a network device")))
        << name;
  }
}

}  // namespace
}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// Which mode a port runs in, and what it says about those that it cannot.
#include <cerrno>
#include <map>
#include <string>

#include "tests/netns/netns_test.h"
#include "tests/netns/xdp_query.h"

namespace afxdp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ModesTest : public NetnsTest {
 protected:
  static std::map<std::string, std::string> Status(const Port& port) {
    const auto items = StatusItems(port.Report());
    return {items.begin(), items.end()};
  }
  // Makes a device of a kind that has no XDP of its own; false where there is none.
  static bool MakeDummy(const std::string& name) {
    return TryCommand("ip link add " + name + " type dummy && ip link set " + name + " up")
               .status == 0;
  }
};

TEST_F(ModesTest, BestEffortOnAVethIsNativeCopyAndSaysWhy) {
  MakeVeth("p0", "c0", container());
  const Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  const PortReport report = port->Report();
  EXPECT_EQ(report.mode, XdpMode::kNative);
  ASSERT_THAT(report.refusals, SizeIs(1));
  EXPECT_EQ(report.refusals[0].mode, XdpMode::kNativeZeroCopy);
  EXPECT_THAT(report.refusals[0].why,
              FailsWith(EOPNOTSUPP, AllOf(HasSubstr("zero-copy"), HasSubstr("EOPNOTSUPP"))));
  const auto status = Status(*port);
  EXPECT_EQ(status.at("xdp-mode"), "native");
  EXPECT_EQ(status.at("xsk-copy-mode"), "copy");
  EXPECT_THAT(status.at("xsk-copy-mode-reason"), HasSubstr("EOPNOTSUPP"));
  EXPECT_THAT(status.at("xdp-mode-refused"), HasSubstr("native-with-zerocopy: "));
  EXPECT_NE(QueryXdp("p0").native, 0u);
  EXPECT_EQ(QueryXdp("p0").generic, 0u);
  EXPECT_EQ(status.at("xdp-program-id"), std::to_string(QueryXdp("p0").native));
}

TEST_F(ModesTest, BestEffortOnATapIsNativeToo) {
  const Tap vm("t0");
  const Port* port = Open("t0");
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->Report().mode, XdpMode::kNative);
  EXPECT_EQ(port->Report().device.driver, "tun");
}

TEST_F(ModesTest, AModeThatWasAskedForIsTheOnlyOneTried) {
  MakeVeth("p0", "c0", container());
  Port* port = Open("p0", {.mode = XdpMode::kNative});
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->Report().mode, XdpMode::kNative);
  EXPECT_THAT(port->Report().refusals, IsEmpty());
  EXPECT_THAT(Status(*port).at("xsk-copy-mode-reason"), HasSubstr("xdp-mode=native"));
}

TEST_F(ModesTest, GenericRunsInTheStack) {
  MakeVeth("p0", "c0", container());
  Port* port = Open("p0", {.mode = XdpMode::kGeneric});
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->Report().mode, XdpMode::kGeneric);
  EXPECT_EQ(QueryXdp("p0").native, 0u);
  EXPECT_NE(QueryXdp("p0").generic, 0u);
  EXPECT_EQ(Status(*port).at("xdp-mode"), "generic");
}

TEST_F(ModesTest, ZeroCopyOnAVethIsRefusedAndLeavesNothing) {
  MakeVeth("p0", "c0", container());
  EXPECT_THAT(TryOpen("p0", {.mode = XdpMode::kNativeZeroCopy}),
              FailsWith(EOPNOTSUPP, AllOf(HasSubstr("p0"), HasSubstr("native-with-zerocopy"),
                                          HasSubstr("EOPNOTSUPP"))));
  EXPECT_EQ(QueryXdp("p0").native, 0u);
  EXPECT_THAT(datapath_->DescribePool(), ::testing::Not(HasSubstr("port p0")));
  ExpectAllFramesConserved();
  EXPECT_EQ(Pool("reserved"), 0u);
  EXPECT_NE(Open("p0", {.mode = XdpMode::kNative}), nullptr) << "the next attempt works";
}

TEST_F(ModesTest, ADeviceWithoutXdpOfItsOwnRunsGeneric) {
  if (!MakeDummy("d0")) GTEST_SKIP() << "this kernel has no dummy devices";
  EXPECT_THAT(TryOpen("d0", {.mode = XdpMode::kNative}),
              FailsWith(EOPNOTSUPP, HasSubstr("xdp-mode=generic works")));
  const Port* port = Open("d0");
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->Report().mode, XdpMode::kGeneric);
  EXPECT_THAT(port->Report().refusals, SizeIs(2));
  EXPECT_NE(QueryXdp("d0").generic, 0u);
}

// The kernel's bound for native XDP on a veth lies below ours, so a lesser mode takes over.
TEST_F(ModesTest, AnMtuThatNativeXdpCannotTakeRunsGeneric) {
  MakeVeth("p0", "c0", container(), {.mtu = 3700});
  EXPECT_THAT(TryOpen("p0", {.mode = XdpMode::kNative}), FailsWith(ERANGE, HasSubstr("MTU")));
  const Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->Report().mode, XdpMode::kGeneric);
  PacketSocket socket(container(), "c0");
  ASSERT_TRUE(socket.Send(MakePacket(3714, 5)));
  EXPECT_EQ(ReceiveNumbers(*datapath_, *port->queue(0), 1), std::vector<uint32_t>{5});
}

TEST_F(ModesTest, AnMtuThatDoesNotFitIntoAFrameIsRefused) {
  MakeVeth("p0", "c0", container(), {.mtu = 3823});
  EXPECT_THAT(TryOpen("p0"),
              FailsWith(EINVAL, AllOf(HasSubstr("MTU of 3823"), HasSubstr("set 3822 or less"))));
  EXPECT_THAT(TryOpen("p0", {.mode = XdpMode::kGeneric}), FailsWith(EINVAL, HasSubstr("MTU")));
  Command("ip link set p0 mtu 3822");
  EXPECT_NE(Open("p0", {.mode = XdpMode::kGeneric}), nullptr);
}

TEST_F(ModesTest, LoopbackIsRefused) {
  EXPECT_THAT(TryOpen("lo"), FailsWith(EINVAL, AllOf(HasSubstr("lo: "), HasSubstr("loopback"))));
}

TEST_F(ModesTest, BondsAndTheirMembersAreRefused) {
  if (TryCommand("ip link add b0 type bond").status != 0) {
    GTEST_SKIP() << "this kernel has no bonding devices";
  }
  MakeVeth("p0", "c0", container(), {.up = false});
  Command("ip link set p0 master b0 && ip link set b0 up");
  EXPECT_THAT(TryOpen("b0"), FailsWith(EINVAL, HasSubstr("it is a bond")));
  EXPECT_THAT(TryOpen("p0"), FailsWith(EINVAL, HasSubstr("member of a bond")));
}

TEST_F(ModesTest, NoSuchDevice) {
  EXPECT_THAT(TryOpen("p9"),
              FailsWith(ENODEV, AllOf(HasSubstr("p9: "), HasSubstr("no such device"))));
  EXPECT_THAT(TryOpen("a-name-that-is-too-long"), FailsWith(ENODEV, HasSubstr("is no name")));
}

TEST_F(ModesTest, TheDescriptionShowsItAll) {
  MakeVeth("p0", "c0", container());
  ASSERT_NE(Open("p0", {.n_rxq_desc = 256, .n_txq_desc = 64}), nullptr);
  const std::string text = datapath_->DescribePorts("p0").value_or("");
  EXPECT_THAT(text, HasSubstr("port p0: ifindex " + std::to_string(IfIndex("p0")) +
                              ", driver veth, link up\n"));
  EXPECT_THAT(text, HasSubstr("  mode: native, copy ("));
  EXPECT_THAT(text, HasSubstr("  refused: native-with-zerocopy: "));
  EXPECT_THAT(text, HasSubstr("  program: afxdp_redirect id "));
  EXPECT_THAT(text, HasSubstr("  rings: rx 256 fill 256 tx 64 completion 64\n"));
  EXPECT_THAT(text, HasSubstr("  queue 0:\n    rx_packets: 0\n"));
  EXPECT_THAT(datapath_->DescribePool(), HasSubstr("port p0 queue 0: rx 256 tx 0\n"));
  EXPECT_EQ(datapath_->DescribePorts("p1"), std::nullopt);
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// Devices in somebody else's hands, and that we are told when they are free.
#include <cerrno>
#include <optional>

#include "datapath/xdp/attachment.h"
#include "datapath/xdp/program.h"
#include "tests/netns/foreign_socket.h"
#include "tests/netns/netns_test.h"
#include "tests/support/command.h"

namespace afxdp::testing {
namespace {

using ::testing::HasSubstr;

class RetryTest : public NetnsTest {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container());
  }

  void ExpectToldOnce() {
    EXPECT_TRUE(WaitFor([&] { return ports_may_open_ > 0; }));
    ASSERT_NE(Open("p0"), nullptr);
    EXPECT_EQ(ports_may_open_, 1);
  }
};

TEST_F(RetryTest, AQueueThatIsLetGo) {
  {
    const ForeignSocket foreign({.ifindex = IfIndex("p0"), .queue = 0});
    EXPECT_THAT(TryOpen("p0"), FailsWith(EBUSY, HasSubstr("queue 0")));
    EXPECT_EQ(ports_may_open_, 0);
  }
  ExpectToldOnce();
}

TEST_F(RetryTest, AProgramThatIsDetachedWithoutAnEvent) {
  auto program = RedirectProgram::Load();
  ASSERT_OK(program);
  {
    auto foreign = Attachment::Attach(IfIndex("p0"), program->fd(), XdpHook::kNative);
    ASSERT_OK(foreign);
    EXPECT_THAT(TryOpen("p0"), FailsWith(EEXIST, HasSubstr("not ours")));
    EXPECT_EQ(ports_may_open_, 0);
  }
  ExpectToldOnce();
}

TEST_F(RetryTest, ADeviceThatGoesIsNotWaitedFor) {
  const ForeignSocket foreign({.ifindex = IfIndex("p0"), .queue = 0});
  EXPECT_THAT(TryOpen("p0"), FailsWith(EBUSY, HasSubstr("queue 0")));
  Command("ip link del p0");
  EXPECT_TRUE(WaitFor([&] { return ports_may_open_ == 1; }));
}

TEST_F(RetryTest, OtherFailuresAreNotWaitedFor) {
  EXPECT_THAT(TryOpen("p0", {.n_rxq = 2}), FailsWith(EINVAL, HasSubstr("n_rxq")));
  EXPECT_THAT(TryOpen("nothing"), FailsWith(ENODEV, HasSubstr("no such device")));
  MakeVeth("p1", "c1", container());
  std::optional<ForeignSocket> foreign;
  foreign.emplace(DeviceQueue{.ifindex = IfIndex("p1"), .queue = 0});
  EXPECT_FALSE(TryOpen("p1").ok());
  foreign.reset();
  EXPECT_TRUE(WaitFor([&] { return ports_may_open_ > 0; }));
  EXPECT_EQ(ports_may_open_, 1) << "for p1, and nothing else";
}

}  // namespace
}  // namespace afxdp::testing

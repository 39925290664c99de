// SPDX-License-Identifier: Apache-2.0
//
// XDP programs: somebody else's, and ours when somebody takes it off.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "datapath/xdp/attachment.h"
#include "datapath/xdp/program.h"
#include "tests/netns/netns_test.h"
#include "tests/netns/xdp_query.h"

namespace afxdp::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProgramTest : public NetnsTest {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    MakeVeth("p0", "c0", container());
    socket_.emplace(container(), "c0");
  }

  void ExpectTraffic(const Port& port, uint32_t number) {
    ASSERT_TRUE(socket_->Send(MakePacket(100, number)));
    EXPECT_THAT(ReceiveNumbers(*datapath_, *port.queue(0), 1), ElementsAre(number));
  }

  // Loads a program that stands for another one's.
  void LoadForeign() {
    auto program = RedirectProgram::Load();
    ASSERT_OK(program);
    foreign_.emplace(*std::move(program));
    foreign_id_ = DescribeProgramOf(foreign_->fd()).id;
  }
  std::optional<Attachment> AttachForeign(XdpHook hook) {
    auto attachment = Attachment::Attach(IfIndex("p0"), foreign_->fd(), hook);
    EXPECT_OK(attachment);
    if (!attachment.ok()) return std::nullopt;
    return *std::move(attachment);
  }

  std::optional<PacketSocket> socket_;
  std::optional<RedirectProgram> foreign_;
  uint32_t foreign_id_ = 0;
  PortEvents events_;  // Outlives the ports, which call back until the end of the test.
};

TEST_F(ProgramTest, AForeignProgramIsNamedAndLeftAlone) {
  LoadForeign();
  std::optional<Attachment> attached = AttachForeign(XdpHook::kNative);
  ASSERT_TRUE(attached.has_value());
  for (const std::optional<XdpMode> mode :
       {std::optional<XdpMode>(), std::optional(XdpMode::kGeneric)}) {
    EXPECT_THAT(TryOpen("p0", {.mode = mode}),
                FailsWith(EEXIST, AllOf(HasSubstr("p0: "), HasSubstr("afxdp_redirect"),
                                        HasSubstr("id " + std::to_string(foreign_id_)))));
  }
  EXPECT_EQ(QueryXdp("p0").native, foreign_id_);
  EXPECT_EQ(QueryXdp("p0").generic, 0u);
  EXPECT_TRUE(attached->attached());
  ExpectAllFramesConserved();
  attached.reset();
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  ExpectTraffic(*port, 1);
}

TEST_F(ProgramTest, AForeignGenericProgramIsLeftAloneToo) {
  LoadForeign();
  const std::optional<Attachment> attached = AttachForeign(XdpHook::kGeneric);
  EXPECT_THAT(TryOpen("p0"), FailsWith(EEXIST, HasSubstr(std::to_string(foreign_id_))));
  EXPECT_EQ(QueryXdp("p0").generic, foreign_id_);
  EXPECT_EQ(QueryXdp("p0").native, 0u);
}

TEST_F(ProgramTest, ADetachedProgramIsAttachedAgain) {
  Port* port = Open("p0", {}, &events_);
  ASSERT_NE(port, nullptr);
  const uint32_t ours = QueryXdp("p0").native;
  ASSERT_NE(ours, 0u);
  for (uint32_t round = 0; round < 2; ++round) {
    ASSERT_TRUE(DetachLinkOf("p0"));
    ASSERT_EQ(QueryXdp("p0").native, 0u);
    EXPECT_TRUE(WaitFor([&] { return QueryXdp("p0").native == ours; }));
    ExpectTraffic(*port, round);
  }
  EXPECT_FALSE(port->Report().displaced);
  ExpectAllFramesConserved();
}

TEST_F(ProgramTest, AProgramThatTookThePlaceStaysUntilItGoes) {
  Port* port = Open("p0", {}, &events_);
  ASSERT_NE(port, nullptr);
  LoadForeign();
  ASSERT_TRUE(DetachLinkOf("p0"));
  std::optional<Attachment> attached = AttachForeign(XdpHook::kNative);
  ASSERT_TRUE(attached.has_value());
  EXPECT_TRUE(WaitFor([&] { return port->Report().displaced; }));
  EXPECT_TRUE(WaitFor([&] { return events_.status_changed > 0; }));
  EXPECT_EQ(QueryXdp("p0").native, foreign_id_);
  const auto items = StatusItems(port->Report());
  EXPECT_THAT(items, ::testing::Contains(::testing::Pair("xdp-program-id", "detached")));
  EXPECT_THAT(datapath_->DescribePorts("p0").value_or(""), HasSubstr("detached by somebody"));
  attached.reset();
  EXPECT_TRUE(WaitFor([&] { return !port->Report().displaced; }));
  ExpectTraffic(*port, 7);
}

TEST_F(ProgramTest, GoesWithThePort) {
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  ASSERT_NE(QueryXdp("p0").native, 0u);
  Close(port);
  EXPECT_EQ(QueryXdp("p0").native, 0u);
}

TEST_F(ProgramTest, AnApplyPutsADetachedProgramBackAtOnce) {
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  ASSERT_TRUE(DetachLinkOf("p0"));
  ASSERT_OK(port->Apply());
  EXPECT_NE(QueryXdp("p0").native, 0u);
}

TEST_F(ProgramTest, WhileOursIsOnNobodyReplacesItByAccident) {
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  EXPECT_NE(TryCommand("ip link set p0 xdp off").status, 0);
  ExpectTraffic(*port, 9);
}

// Without a datapath in this process: its threads would not survive the fork.
class KilledTest : public NetnsTest {
 protected:
  void SetUp() override {
    with_datapath_ = false;
    NetnsTest::SetUp();
  }

  // The daemon that will be killed: opens the port and waits.
  [[noreturn]] void RunDaemon(int ready) {
    StartDatapath();
    const Port* port = Open("p0");
    if (port != nullptr && write(ready, "r", 1) == 1) pause();
    _exit(1);
  }
};

TEST_F(KilledTest, AfterAKillNothingIsLeftAndTheNextOneStarts) {
  MakeVeth("p0", "c0", container());
  for (int round = 0; round < 3; ++round) {
    int pipe_fds[2];
    ASSERT_EQ(pipe(pipe_fds), 0);
    const UniqueFd ready(pipe_fds[0]);
    const pid_t daemon = fork();
    ASSERT_GE(daemon, 0);
    if (daemon == 0) RunDaemon(pipe_fds[1]);
    close(pipe_fds[1]);
    char byte = 0;
    ASSERT_EQ(read(ready.get(), &byte, 1), 1) << "the daemon could not open the port";
    ASSERT_NE(QueryXdp("p0").native, 0u);
    kill(daemon, SIGKILL);
    // No waiting but for the process: the next round's port must bear with what is still going on.
    ASSERT_EQ(waitpid(daemon, nullptr, 0), daemon);
    EXPECT_TRUE(WaitFor([&] { return QueryXdp("p0").native == 0; }));
  }
  StartDatapath();
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  PacketSocket socket(container(), "c0");
  ASSERT_TRUE(socket.Send(MakePacket(100, 1)));
  EXPECT_THAT(ReceiveNumbers(*datapath_, *port->queue(0), 1), ElementsAre(1u));
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// Without a capability, or with too little lockable memory: the error says which it is.
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// For the region of one queue of a small pool, and the maps.
constexpr rlim_t kEnoughMemory = 256 << 20;

// Takes capabilities from the calling thread, for good.
bool Drop(const std::vector<int>& capabilities) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  for (const int capability : capabilities) {
    data[capability / 32].effective &= ~(1u << capability % 32);
    data[capability / 32].permitted &= ~(1u << capability % 32);
    data[capability / 32].inheritable &= ~(1u << capability % 32);
  }
  return syscall(SYS_capset, &header, data) == 0;
}

class PrivilegesTest : public NetnsTest {
 protected:
  void SetUp() override {
    with_datapath_ = false;  // The child makes its own.
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    // Two queues, so that the kernel's rule of one queue for everybody does not come in.
    MakeVeth("p0", "c0", container(), {.queues = 2});
  }

  // What opening p0 says in a process that has done `before`: "ERRNO MESSAGE", or "0 ".
  template <typename Before>
  std::string OpenIn(Before before) {
    int fds[2];
    if (pipe(fds) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
      std::string text = "the preparation failed";
      if (before()) {
        StartDatapath();
        const absl::Status status = TryOpen("p0").status();
        text = std::to_string(ErrnoOf(status)) + " " + std::string(status.message());
      }
      const ssize_t written = write(fds[1], text.data(), text.size());
      _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(fds[1]);
    const UniqueFd reader(fds[0]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(reader.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "the child did not end well";
    return text;
  }
  std::string OpenWithout(const std::vector<int>& capabilities) {
    return OpenIn([&] { return Drop(capabilities); });
  }
};

TEST_F(PrivilegesTest, WithAllOfThemItWorks) {
  EXPECT_EQ(OpenIn([] { return true; }), "0 ");
}

TEST_F(PrivilegesTest, TheThreeThatAreNeededAreEnough) {
  EXPECT_EQ(OpenWithout({CAP_SYS_ADMIN, CAP_SYS_RESOURCE, CAP_SYS_MODULE, CAP_DAC_OVERRIDE}), "0 ");
}

TEST_F(PrivilegesTest, WithoutNetRaw) {
  EXPECT_THAT(OpenWithout({CAP_NET_RAW}),
              AllOf(StartsWith("1 p0: "), HasSubstr("missing CAP_NET_RAW")));
}

TEST_F(PrivilegesTest, WithoutNetAdmin) {
  EXPECT_THAT(OpenWithout({CAP_NET_ADMIN, CAP_SYS_ADMIN}),
              AllOf(StartsWith("1 p0: "), HasSubstr("missing CAP_NET_ADMIN")));
}

TEST_F(PrivilegesTest, WithoutBpf) {
  EXPECT_THAT(OpenWithout({CAP_BPF, CAP_SYS_ADMIN}),
              AllOf(StartsWith("1 p0: "), HasSubstr("missing CAP_BPF")));
}

TEST_F(PrivilegesTest, WithoutAnyAllAreNamed) {
  EXPECT_THAT(OpenWithout({CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF, CAP_SYS_ADMIN}),
              AllOf(StartsWith("1 p0: "), HasSubstr("CAP_NET_RAW"), HasSubstr("CAP_NET_ADMIN"),
                    HasSubstr("CAP_BPF")));
}

TEST_F(PrivilegesTest, WithTooLittleLockableMemory) {
  EXPECT_THAT(OpenIn([] {
                const rlimit limit = {1 << 20, 1 << 20};
                return setrlimit(RLIMIT_MEMLOCK, &limit) == 0 && Drop({CAP_IPC_LOCK});
              }),
              AllOf(HasSubstr("p0: "), HasSubstr("each queue locks 32768 KiB"),
                    HasSubstr("limit for all together is 1024 KiB"), HasSubstr("RLIMIT_MEMLOCK"),
                    HasSubstr("CAP_IPC_LOCK")));
}

TEST_F(PrivilegesTest, WithEnoughLockableMemoryThatCapabilityIsNotNeeded) {
  // Before any other limit is set: only CAP_SYS_RESOURCE could raise it again.
  rlimit limit = {kEnoughMemory, kEnoughMemory};
  if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
    getrlimit(RLIMIT_MEMLOCK, &limit);
    GTEST_SKIP() << "may lock no more than " << limit.rlim_max << " bytes and not raise that";
  }
  EXPECT_EQ(OpenIn([] { return Drop({CAP_IPC_LOCK}); }), "0 ");
}

TEST_F(PrivilegesTest, AFailureLeavesNothingForTheNextOne) {
  EXPECT_THAT(OpenWithout({CAP_NET_RAW}), StartsWith("1 "));
  StartDatapath();
  EXPECT_NE(Open("p0"), nullptr);
}

}  // namespace
}  // namespace afxdp::testing

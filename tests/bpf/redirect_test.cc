// SPDX-License-Identifier: Apache-2.0
//
// The redirect program's verdicts.
#include <afxdp_redirect_bpf.skel.h>
#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "bpf/afxdp_shared.h"
#include "datapath/base/unique_fd.h"
#include "tests/support/command.h"
#include "tests/support/devices.h"
#include "tests/support/net_namespace.h"
#include "tests/support/packet.h"

namespace afxdp::testing {
namespace {

// More than the map has entries.
constexpr uint32_t kDeviceQueues = AFXDP_MAX_QUEUES + 4;

class RedirectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to load XDP programs";
    if (!EnterNewNamespace()) {
      GTEST_SKIP() << "may not make a network namespace: " << std::strerror(errno);
    }
    MakeVeth("p0", "c0", NetNamespace::Create(), {.queues = kDeviceQueues});
    skeleton_ = afxdp_redirect_bpf__open_and_load();
    ASSERT_NE(skeleton_, nullptr) << std::strerror(errno);
    xsk_.Reset(socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
    ASSERT_TRUE(xsk_.valid()) << std::strerror(errno);
  }
  void TearDown() override { afxdp_redirect_bpf__destroy(skeleton_); }

  void PutXsk(uint32_t queue) {
    const int value = xsk_.get();
    ASSERT_EQ(bpf_map_update_elem(map(), &queue, &value, BPF_ANY), 0) << std::strerror(errno);
  }

  // What the program says to a packet that came in on `queue`.
  int Verdict(uint32_t queue, uint32_t length = 60) {
    std::string packet = MakePacket(length, 1);
    std::string after(packet.size() + 256, '\0');
    xdp_md context = {};
    context.data_end = length;
    context.ingress_ifindex = static_cast<uint32_t>(IfIndex("p0"));
    context.rx_queue_index = queue;
    LIBBPF_OPTS(bpf_test_run_opts, options);
    options.data_in = packet.data();
    options.data_size_in = length;
    options.data_out = after.data();
    options.data_size_out = static_cast<uint32_t>(after.size());
    options.ctx_in = &context;
    options.ctx_size_in = sizeof context;
    const int error = bpf_prog_test_run_opts(program(), &options);
    EXPECT_EQ(error, 0) << "queue " << queue << ": " << std::strerror(-error);
    EXPECT_EQ(after.substr(0, options.data_size_out), packet) << "the packet must not change";
    return static_cast<int>(options.retval);
  }

  int program() const { return bpf_program__fd(skeleton_->progs.afxdp_redirect); }
  int map() const { return bpf_map__fd(skeleton_->maps.afxdp_xsks); }

  afxdp_redirect_bpf* skeleton_ = nullptr;
  UniqueFd xsk_;
};

TEST_F(RedirectTest, WithoutAnXskPacketsPassToTheKernel) {
  for (const uint32_t queue : {0u, 1u, 17u, AFXDP_MAX_QUEUES - 1u}) {
    EXPECT_EQ(Verdict(queue), XDP_PASS) << queue;
  }
}

TEST_F(RedirectTest, PacketsOfAQueueWithAnXskAreRedirected) {
  for (const uint32_t queue : {0u, 3u, AFXDP_MAX_QUEUES - 1u}) {
    PutXsk(queue);
    EXPECT_EQ(Verdict(queue), XDP_REDIRECT) << queue;
  }
}

TEST_F(RedirectTest, OtherQueuesAreLeftAlone) {
  PutXsk(2);
  EXPECT_EQ(Verdict(1), XDP_PASS);
  EXPECT_EQ(Verdict(2), XDP_REDIRECT);
  EXPECT_EQ(Verdict(3), XDP_PASS);
}

TEST_F(RedirectTest, QueuesBeyondTheMapPass) {
  PutXsk(AFXDP_MAX_QUEUES - 1);
  EXPECT_EQ(Verdict(AFXDP_MAX_QUEUES), XDP_PASS);
  EXPECT_EQ(Verdict(kDeviceQueues - 1), XDP_PASS);
}

TEST_F(RedirectTest, ThePacketsSizeDoesNotMatter) {
  PutXsk(0);
  for (const uint32_t length : {kMinTestPacket, 60u, 1514u, 3000u}) {
    EXPECT_EQ(Verdict(0, length), XDP_REDIRECT) << length;
  }
}

TEST_F(RedirectTest, AnXskThatIsClosedOrTakenOutNoLongerCounts) {
  PutXsk(0);
  PutXsk(1);
  const uint32_t queue = 0;
  ASSERT_EQ(bpf_map_delete_elem(map(), &queue), 0);
  EXPECT_EQ(Verdict(0), XDP_PASS);
  EXPECT_EQ(Verdict(1), XDP_REDIRECT);
  xsk_.Reset();
  EXPECT_EQ(Verdict(1), XDP_PASS);
}

TEST_F(RedirectTest, TheProgramIsShort) {
  bpf_prog_info info = {};
  __u32 length = sizeof info;
  ASSERT_EQ(bpf_obj_get_info_by_fd(program(), &info, &length), 0);
  EXPECT_STREQ(info.name, "afxdp_redirect");
  EXPECT_EQ(info.type, static_cast<__u32>(BPF_PROG_TYPE_XDP));
  // Every instruction is paid per packet.  6 are written; the kernel turns the load of the queue
  // number into a chain of three and the map's address into two slots.
  EXPECT_LE(info.xlated_prog_len / sizeof(bpf_insn), 12u);
}

TEST_F(RedirectTest, TheMapHasASlotForEachQueueOfAPort) {
  bpf_map_info info = {};
  __u32 length = sizeof info;
  ASSERT_EQ(bpf_obj_get_info_by_fd(map(), &info, &length), 0);
  EXPECT_EQ(info.type, static_cast<__u32>(BPF_MAP_TYPE_XSKMAP));
  EXPECT_EQ(info.max_entries, static_cast<__u32>(AFXDP_MAX_QUEUES));
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
#include "datapath/base/capabilities.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <unistd.h>

namespace afxdp {
namespace {

constexpr uint64_t Bit(int capability) { return uint64_t{1} << capability; }
constexpr uint64_t kAll = Bit(CAP_NET_RAW) | Bit(CAP_NET_ADMIN) | Bit(CAP_BPF);

TEST(CapabilitiesTest, NothingIsMissingWhenAllAreThere) {
  EXPECT_EQ(MissingCapabilities(kAll), "");
  EXPECT_EQ(MissingCapabilities(~uint64_t{0}), "");
}

TEST(CapabilitiesTest, EachIsNamedWithWhatItIsFor) {
  EXPECT_EQ(MissingCapabilities(kAll & ~Bit(CAP_NET_RAW)), "CAP_NET_RAW (to open AF_XDP sockets)");
  EXPECT_EQ(MissingCapabilities(kAll & ~Bit(CAP_NET_ADMIN)),
            "CAP_NET_ADMIN (to attach XDP programs)");
  EXPECT_EQ(MissingCapabilities(kAll & ~Bit(CAP_BPF)),
            "CAP_BPF (to load XDP programs and their maps)");
}

TEST(CapabilitiesTest, AllThatAreMissingAreNamed) {
  EXPECT_EQ(MissingCapabilities(0),
            "CAP_NET_RAW (to open AF_XDP sockets), CAP_NET_ADMIN (to attach XDP programs), "
            "CAP_BPF (to load XDP programs and their maps)");
}

TEST(CapabilitiesTest, SysAdminStandsInForBpf) {
  EXPECT_EQ(MissingCapabilities((kAll & ~Bit(CAP_BPF)) | Bit(CAP_SYS_ADMIN)), "");
}

TEST(CapabilitiesTest, ReadsTheThreadsOwnSet) {
  const uint64_t effective = EffectiveCapabilities();
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to know what to expect";
  EXPECT_NE(effective & Bit(CAP_NET_RAW), 0u);
}

}  // namespace
}  // namespace afxdp

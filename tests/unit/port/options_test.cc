// SPDX-License-Identifier: Apache-2.0
#include "datapath/port/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "bpf/afxdp_shared.h"
#include "tests/support/status_matchers.h"

namespace afxdp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FailsWith;
using ::testing::HasSubstr;

TEST(ParsePortOptionsTest, DefaultsWhenNothingIsSet) {
  const auto options = ParsePortOptions({});
  ASSERT_OK(options);
  EXPECT_EQ(*options, PortOptions());
  EXPECT_EQ(options->mode, std::nullopt);
  EXPECT_EQ(options->n_rxq, 1u);
  EXPECT_EQ(options->start_queue, 0u);
  EXPECT_EQ(options->n_rxq_desc, std::nullopt);
  EXPECT_EQ(options->n_txq_desc, std::nullopt);
  EXPECT_TRUE(options->need_wakeup);
}

TEST(ParsePortOptionsTest, EveryOptionIsRead) {
  const auto options = ParsePortOptions({.xdp_mode = "generic",
                                         .n_rxq = "4",
                                         .start_queue = "16",
                                         .n_rxq_desc = "1024",
                                         .n_txq_desc = "64",
                                         .use_need_wakeup = "false"});
  ASSERT_OK(options);
  EXPECT_EQ(options->mode, XdpMode::kGeneric);
  EXPECT_EQ(options->n_rxq, 4u);
  EXPECT_EQ(options->start_queue, 16u);
  EXPECT_EQ(options->n_rxq_desc, 1024u);
  EXPECT_EQ(options->n_txq_desc, 64u);
  EXPECT_FALSE(options->need_wakeup);
}

TEST(ParsePortOptionsTest, EveryModeHasAName) {
  EXPECT_EQ(ParsePortOptions({.xdp_mode = "best-effort"})->mode, std::nullopt);
  for (const XdpMode mode : {XdpMode::kNativeZeroCopy, XdpMode::kNative, XdpMode::kGeneric}) {
    const auto options = ParsePortOptions({.xdp_mode = XdpModeName(mode)});
    ASSERT_OK(options);
    EXPECT_EQ(options->mode, mode);
  }
}

TEST(ParsePortOptionsTest, AnUnknownModeIsAnsweredWithTheKnownOnes) {
  for (const char* value : {"fast", "", "Native", "native "}) {
    EXPECT_THAT(
        ParsePortOptions({.xdp_mode = value}),
        FailsWith(EINVAL, AllOf(HasSubstr(std::string("xdp-mode=") + value),
                                HasSubstr("best-effort, native-with-zerocopy, native or generic"))))
        << value;
  }
}

struct Wrong {
  const char* name;
  const char* PortOptionsText::*option;
  const char* wanted;  // As the message has it.
  std::vector<const char*> values;
};

class WrongValueTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongValueTest, IsRefusedWithOptionValueAndRange) {
  for (const char* value : GetParam().values) {
    PortOptionsText text;
    text.*GetParam().option = value;
    EXPECT_THAT(ParsePortOptions(text),
                FailsWith(EINVAL, AllOf(HasSubstr(std::string(GetParam().name) + "=" + value),
                                        HasSubstr(GetParam().wanted))))
        << value;
  }
}

INSTANTIATE_TEST_SUITE_P(
    PortOptions, WrongValueTest,
    ::testing::Values(Wrong{"n_rxq",
                            &PortOptionsText::n_rxq,
                            "a number from 1 to 256",
                            {"0", "257", "-1", "x", "", "1.5", "4294967297", "0x2"}},
                      Wrong{"start-queue",
                            &PortOptionsText::start_queue,
                            "a number from 0 to 255",
                            {"256", "-1", "first", "", "99999999999"}},
                      Wrong{"n_rxq_desc",
                            &PortOptionsText::n_rxq_desc,
                            "a power of two from 64 to 4096",
                            {"0", "63", "100", "32", "8192", "-64", "", "2k", "1025"}},
                      Wrong{"n_txq_desc",
                            &PortOptionsText::n_txq_desc,
                            "a power of two from 64 to 4096",
                            {"0", "63", "100", "32", "8192", "-64", "", "2k", "1025"}},
                      Wrong{"use-need-wakeup",
                            &PortOptionsText::use_need_wakeup,
                            "true or false",
                            {"maybe", "2", ""}}),
    [](const auto& wrong) {
      std::string name = wrong.param.name;
      for (char& c : name) {
        if (c == '-') c = '_';
      }
      return name;
    });

TEST(ParsePortOptionsTest, BoundsAreAccepted) {
  EXPECT_OK(ParsePortOptions({.n_rxq = "256"}));
  EXPECT_OK(ParsePortOptions({.start_queue = "255"}));
  for (const char* size : {"64", "128", "256", "512", "1024", "2048", "4096"}) {
    EXPECT_OK(ParsePortOptions({.n_rxq_desc = size, .n_txq_desc = size})) << size;
  }
}

TEST(PortOptionsTest, BestEffortTriesFromBestToWorst) {
  EXPECT_THAT(PortOptions().Modes(),
              ElementsAre(XdpMode::kNativeZeroCopy, XdpMode::kNative, XdpMode::kGeneric));
  PortOptions options;
  options.mode = XdpMode::kNative;
  EXPECT_THAT(options.Modes(), ElementsAre(XdpMode::kNative));
}

TEST(PortOptionsTest, RingsGoByTheKindOfDevice) {
  const Device nic = {.name = "eth0"};
  const Device veth = {.name = "veth0", .kind = "veth"};
  EXPECT_EQ(PortOptions().Rings(nic),
            (RingSizes{.rx = 2048, .fill = 2048, .tx = 2048, .completion = 2048}));
  EXPECT_EQ(PortOptions().Rings(veth),
            (RingSizes{.rx = 512, .fill = 512, .tx = 128, .completion = 128}));
}

TEST(PortOptionsTest, RingsThatAreSetWin) {
  PortOptions options;
  options.n_rxq_desc = 64;
  options.n_txq_desc = 4096;
  for (const Device& device : {Device{.name = "eth0"}, Device{.name = "v", .kind = "veth"}}) {
    EXPECT_EQ(options.Rings(device),
              (RingSizes{.rx = 64, .fill = 64, .tx = 4096, .completion = 4096}));
  }
}

TEST(PortOptionsTest, HooksAndCopyingOfModes) {
  EXPECT_EQ(HookOf(XdpMode::kNativeZeroCopy), XdpHook::kNative);
  EXPECT_EQ(HookOf(XdpMode::kNative), XdpHook::kNative);
  EXPECT_EQ(HookOf(XdpMode::kGeneric), XdpHook::kGeneric);
  EXPECT_EQ(CopyingOf(XdpMode::kNativeZeroCopy), XskSocket::Copying::kZeroCopy);
  EXPECT_EQ(CopyingOf(XdpMode::kNative), XskSocket::Copying::kCopy);
  EXPECT_EQ(CopyingOf(XdpMode::kGeneric), XskSocket::Copying::kCopy);
}

TEST(CheckQueuesTest, AllQueuesOfTheDeviceMayBeUsed) {
  const Device device = {.name = "eth0", .rx_queues = 4};
  EXPECT_OK(CheckQueues({.n_rxq = 4}, device));
  EXPECT_OK(CheckQueues({.n_rxq = 1, .start_queue = 3}, device));
  EXPECT_OK(CheckQueues({.n_rxq = 2, .start_queue = 2}, device));
}

TEST(CheckQueuesTest, MoreThanThereAreAreRefusedInNumbers) {
  const Device device = {.name = "eth0", .rx_queues = 4};
  EXPECT_THAT(CheckQueues({.n_rxq = 5}, device),
              FailsWith(EINVAL, AllOf(HasSubstr("Too big 'n_rxq': 5"), HasSubstr("device has 4"),
                                      HasSubstr("ethtool -L eth0"))));
  EXPECT_THAT(CheckQueues({.n_rxq = 2, .start_queue = 3}, device),
              FailsWith(EINVAL, AllOf(HasSubstr("start-queue 3"), HasSubstr("needs 5 RX queues"),
                                      HasSubstr("device has 4"))));
}

TEST(CheckQueuesTest, TheMapsEndIsABound) {
  const Device device = {.name = "eth0", .rx_queues = 1000};
  EXPECT_OK(CheckQueues({.n_rxq = AFXDP_MAX_QUEUES}, device));
  EXPECT_THAT(CheckQueues({.n_rxq = AFXDP_MAX_QUEUES, .start_queue = 1}, device),
              FailsWith(EINVAL, HasSubstr("queue 256 is beyond the 256")));
}

}  // namespace
}  // namespace afxdp

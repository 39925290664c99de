// SPDX-License-Identifier: Apache-2.0
#include "datapath/port/port_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if.h>

#include <cerrno>
#include <map>
#include <string>

#include "datapath/base/errno_status.h"

namespace afxdp {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

// A veth that runs in copy mode because zero-copy was refused.
PortReport Veth() {
  PortReport report;
  report.device = {.name = "veth0", .ifindex = 12, .kind = "veth", .driver = "veth"};
  report.link_up = true;
  report.mode = XdpMode::kNative;
  report.refusals = {{XdpMode::kNativeZeroCopy, ErrnoError(EOPNOTSUPP, "binding to queue 0")}};
  report.program = {.id = 77, .name = "afxdp_redirect"};
  report.options.n_rxq = 2;
  report.options.start_queue = 3;
  report.rings = {.rx = 512, .fill = 512, .tx = 128, .completion = 128};
  report.queues = {{.queue = 3, .id = 0, .counters = {{"rx_packets", 5}}},
                   {.queue = 4, .id = 1, .counters = {{"rx_packets", 6}}}};
  return report;
}

std::map<std::string, std::string> AsMap(
    const std::vector<std::pair<std::string, std::string>>& items) {
  return {items.begin(), items.end()};
}

TEST(ConfigItemsTest, ShowWhatWasAskedForAndTheRings) {
  const auto items = AsMap(ConfigItems(Veth()));
  EXPECT_EQ(items.at("xdp-mode"), "best-effort");
  EXPECT_EQ(items.at("n_rxq"), "2");
  EXPECT_EQ(items.at("start-queue"), "3");
  EXPECT_EQ(items.at("n_rxq_desc"), "512");
  EXPECT_EQ(items.at("n_txq_desc"), "128");
  EXPECT_EQ(items.at("use-need-wakeup"), "true");
}

TEST(ConfigItemsTest, ShowTheModeThatWasSet) {
  PortReport report = Veth();
  report.options.mode = XdpMode::kGeneric;
  report.options.need_wakeup = false;
  const auto items = AsMap(ConfigItems(report));
  EXPECT_EQ(items.at("xdp-mode"), "generic");
  EXPECT_EQ(items.at("use-need-wakeup"), "false");
}

TEST(StatusItemsTest, ShowModeReasonAndProgram) {
  const auto items = AsMap(StatusItems(Veth()));
  EXPECT_EQ(items.at("xdp-mode"), "native");
  EXPECT_EQ(items.at("xsk-copy-mode"), "copy");
  EXPECT_THAT(items.at("xsk-copy-mode-reason"), HasSubstr("EOPNOTSUPP"));
  EXPECT_THAT(items.at("xdp-mode-refused"),
              AllOf(HasSubstr("native-with-zerocopy: "), HasSubstr("errno 95")));
  EXPECT_EQ(items.at("xsk-queues"), "2");
  EXPECT_EQ(items.at("start-queue"), "3");
  EXPECT_EQ(items.at("n_rxq_desc"), "512");
  EXPECT_EQ(items.at("n_txq_desc"), "128");
  EXPECT_EQ(items.at("xdp-program-id"), "77");
  EXPECT_EQ(items.at("xdp-program-name"), "afxdp_redirect");
}

TEST(StatusItemsTest, ZeroCopyNeedsNoReason) {
  PortReport report = Veth();
  report.mode = XdpMode::kNativeZeroCopy;
  report.refusals.clear();
  const auto items = AsMap(StatusItems(report));
  EXPECT_EQ(items.at("xdp-mode"), "native-with-zerocopy");
  EXPECT_EQ(items.at("xsk-copy-mode"), "zero-copy");
  EXPECT_THAT(items, Not(Contains(Key("xsk-copy-mode-reason"))));
  EXPECT_THAT(items, Not(Contains(Key("xdp-mode-refused"))));
}

TEST(StatusItemsTest, CopyModeOnRequestSaysSo) {
  PortReport report = Veth();
  report.refusals.clear();
  report.options.mode = XdpMode::kNative;
  EXPECT_THAT(AsMap(StatusItems(report)),
              Contains(Pair("xsk-copy-mode-reason", HasSubstr("xdp-mode=native was asked for"))));
}

TEST(StatusItemsTest, ADetachedProgramShows) {
  PortReport report = Veth();
  report.displaced = true;
  EXPECT_EQ(AsMap(StatusItems(report)).at("xdp-program-id"), "detached");
}

TEST(DescribePortTest, IsWhatTheContractSays) {
  const std::string text = DescribePort(Veth());
  EXPECT_THAT(text, HasSubstr("port veth0: ifindex 12, driver veth, link up\n"));
  EXPECT_THAT(text, HasSubstr("  mode: native, copy (binding to queue 0: "));
  EXPECT_THAT(text, HasSubstr("  refused: native-with-zerocopy: binding to queue 0: "));
  EXPECT_THAT(text, HasSubstr("  program: afxdp_redirect id 77\n"));
  EXPECT_THAT(text, HasSubstr("  rings: rx 512 fill 512 tx 128 completion 128\n"));
  EXPECT_THAT(text, HasSubstr("  need-wakeup: on\n"));
  EXPECT_THAT(text, HasSubstr("  queue 3:\n    rx_packets: 5\n  queue 4:\n    rx_packets: 6\n"));
}

TEST(DescribePortTest, WhatIsUnusualShows) {
  PortReport report = Veth();
  report.device.driver = "";
  report.link_up = false;
  report.displaced = true;
  report.options.need_wakeup = false;
  report.mode = XdpMode::kNativeZeroCopy;
  report.refusals.clear();
  const std::string text = DescribePort(report);
  EXPECT_THAT(text, HasSubstr("driver unknown, link down\n"));
  EXPECT_THAT(text, HasSubstr("detached by somebody"));
  EXPECT_THAT(text, HasSubstr("  need-wakeup: off\n"));
  EXPECT_THAT(text, HasSubstr("  mode: native, zero-copy\n"));
  EXPECT_THAT(text, Not(HasSubstr("refused:")));
}

TEST(NameCountersTest, EveryCounterShowsUnderItsName) {
  QueueCounters counters;
  uint64_t next = 1;
  ReceiveCounters& rx = counters.receive;
  TransmitCounters& tx = counters.transmit;
  for (Counter* counter : {&rx.packets,
                           &rx.bytes,
                           &tx.packets,
                           &tx.bytes,
                           &tx.in_place,
                           &tx.copied_clone,
                           &tx.copied_foreign,
                           &tx.copied_unfit,
                           &tx.kicks,
                           &tx.kick_again,
                           &tx.kick_busy,
                           &tx.kick_error,
                           &tx.drop_no_descriptor,
                           &tx.drop_no_frame,
                           &tx.drop_invalid,
                           &tx.drop_link_down,
                           &tx.completion_invalid,
                           &rx.drop_invalid,
                           &rx.refill_short,
                           &rx.wakeups}) {
    counter->Add(next++);
  }
  const KernelStatistics kernel = {.rx_dropped = 101,
                                   .rx_invalid_descs = 102,
                                   .tx_invalid_descs = 103,
                                   .rx_ring_full = 104,
                                   .rx_fill_ring_empty_descs = 105,
                                   .tx_ring_empty_descs = 106};
  const std::vector<NamedCounter> named = NameCounters(counters, kernel);
  const std::map<std::string, uint64_t> values(named.begin(), named.end());
  EXPECT_EQ(values.size(), named.size()) << "a name is there twice";
  const std::map<std::string, uint64_t> expected = {{"rx_packets", 1},
                                                    {"rx_bytes", 2},
                                                    {"tx_packets", 3},
                                                    {"tx_bytes", 4},
                                                    {"tx_in_place", 5},
                                                    {"tx_copied_clone", 6},
                                                    {"tx_copied_foreign", 7},
                                                    {"tx_copied_unfit", 8},
                                                    {"tx_kicks", 9},
                                                    {"tx_kick_again", 10},
                                                    {"tx_kick_busy", 11},
                                                    {"tx_kick_error", 12},
                                                    {"tx_drop_no_descriptor", 13},
                                                    {"tx_drop_no_frame", 14},
                                                    {"tx_drop_invalid", 15},
                                                    {"tx_drop_link_down", 16},
                                                    {"tx_completion_invalid", 17},
                                                    {"rx_drop_invalid", 18},
                                                    {"rx_refill_short", 19},
                                                    {"rx_wakeups", 20},
                                                    {"rx_dropped", 101},
                                                    {"rx_invalid_descs", 102},
                                                    {"tx_invalid_descs", 103},
                                                    {"rx_ring_full", 104},
                                                    {"rx_fill_ring_empty_descs", 105},
                                                    {"tx_ring_empty_descs", 106}};
  for (const auto& [name, value] : expected) EXPECT_THAT(values, Contains(Pair(name, value)));
}

TEST(NameCountersTest, NamesFitIntoOvs) {
  // netdev_custom_counter names have 64 bytes, and "xsk_queue_255_" stands in front.
  for (const auto& [name, value] : NameCounters(QueueCounters(), KernelStatistics())) {
    EXPECT_LT(name.size() + sizeof "xsk_queue_255_", 64u) << name;
  }
}

TEST(CountDropsTest, SumsWhatTheDeviceDoesNotKnowOf) {
  QueueCounters counters;
  counters.transmit.packets.Add(1000);
  counters.transmit.drop_no_descriptor.Add(1);
  counters.transmit.drop_no_frame.Add(2);
  counters.transmit.drop_invalid.Add(4);
  counters.transmit.drop_link_down.Add(8);
  counters.transmit.kick_busy.Add(1000);  // The device counts these.
  counters.receive.drop_invalid.Add(32);
  counters.receive.packets.Add(1000);
  PortDrops drops = CountDrops(counters);
  EXPECT_EQ(drops.transmit, 1u + 2 + 4 + 8);
  EXPECT_EQ(drops.receive, 32u);
  drops += CountDrops(counters);
  EXPECT_EQ(drops.transmit, 2 * (1u + 2 + 4 + 8));
}

}  // namespace
}  // namespace afxdp

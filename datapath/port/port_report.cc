// SPDX-License-Identifier: Apache-2.0
#include "datapath/port/port_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace afxdp {
namespace {

// Why packets are copied between device and frame, when they are.
std::string CopyReason(const PortReport& report) {
  for (const ModeRefusal& refusal : report.refusals) {
    if (refusal.mode == XdpMode::kNativeZeroCopy) return std::string(refusal.why.message());
  }
  if (report.options.mode) {
    return absl::StrCat("xdp-mode=", XdpModeName(*report.options.mode), " was asked for");
  }
  return "";
}

bool ZeroCopy(const PortReport& report) { return report.mode == XdpMode::kNativeZeroCopy; }

const char* RequestedMode(const PortOptions& options) {
  return options.mode ? XdpModeName(*options.mode) : "best-effort";
}

// Where it runs, without the copying.
const char* HookName(const PortReport& report) {
  return HookOf(report.mode) == XdpHook::kNative ? "native" : "generic";
}

}  // namespace

std::vector<NamedCounter> NameCounters(const QueueCounters& counters,
                                       const KernelStatistics& kernel) {
  const ReceiveCounters& rx = counters.receive;
  const TransmitCounters& tx = counters.transmit;
  return {
      {"rx_packets", rx.packets.Get()},
      {"rx_bytes", rx.bytes.Get()},
      {"tx_packets", tx.packets.Get()},
      {"tx_bytes", tx.bytes.Get()},
      {"tx_in_place", tx.in_place.Get()},
      {"tx_copied_clone", tx.copied_clone.Get()},
      {"tx_copied_foreign", tx.copied_foreign.Get()},
      {"tx_copied_unfit", tx.copied_unfit.Get()},
      {"rx_dropped", kernel.rx_dropped},
      {"rx_invalid_descs", kernel.rx_invalid_descs},
      {"tx_invalid_descs", kernel.tx_invalid_descs},
      {"rx_ring_full", kernel.rx_ring_full},
      {"rx_fill_ring_empty_descs", kernel.rx_fill_ring_empty_descs},
      {"tx_ring_empty_descs", kernel.tx_ring_empty_descs},
      {"tx_kicks", tx.kicks.Get()},
      {"tx_kick_again", tx.kick_again.Get()},
      {"tx_kick_busy", tx.kick_busy.Get()},
      {"tx_kick_error", tx.kick_error.Get()},
      {"tx_drop_no_descriptor", tx.drop_no_descriptor.Get()},
      {"tx_drop_no_frame", tx.drop_no_frame.Get()},
      {"tx_drop_invalid", tx.drop_invalid.Get()},
      {"tx_drop_link_down", tx.drop_link_down.Get()},
      {"tx_completion_invalid", tx.completion_invalid.Get()},
      {"rx_drop_invalid", rx.drop_invalid.Get()},
      {"rx_refill_short", rx.refill_short.Get()},
      {"rx_wakeups", rx.wakeups.Get()},
  };
}

PortDrops CountDrops(const QueueCounters& counters) {
  const TransmitCounters& tx = counters.transmit;
  return {.transmit = tx.drop_no_descriptor.Get() + tx.drop_no_frame.Get() + tx.drop_invalid.Get() +
                      tx.drop_link_down.Get(),
          .receive = counters.receive.drop_invalid.Get()};
}

std::vector<std::pair<std::string, std::string>> ConfigItems(const PortReport& report) {
  return {
      {"xdp-mode", RequestedMode(report.options)},
      {"n_rxq", absl::StrCat(report.options.n_rxq)},
      {"start-queue", absl::StrCat(report.options.start_queue)},
      {"n_rxq_desc", absl::StrCat(report.rings.rx)},
      {"n_txq_desc", absl::StrCat(report.rings.tx)},
      {"use-need-wakeup", report.options.need_wakeup ? "true" : "false"},
  };
}

std::vector<std::pair<std::string, std::string>> StatusItems(const PortReport& report) {
  std::vector<std::pair<std::string, std::string>> items = {
      {"xdp-mode", XdpModeName(report.mode)},
      {"xsk-copy-mode", ZeroCopy(report) ? "zero-copy" : "copy"},
      {"xsk-queues", absl::StrCat(report.queues.size())},
      {"start-queue", absl::StrCat(report.options.start_queue)},
      {"n_rxq_desc", absl::StrCat(report.rings.rx)},
      {"n_txq_desc", absl::StrCat(report.rings.tx)},
      {"xdp-program-id", report.displaced ? "detached" : absl::StrCat(report.program.id)},
      {"xdp-program-name", report.program.name},
  };
  if (!ZeroCopy(report)) items.emplace_back("xsk-copy-mode-reason", CopyReason(report));
  if (!report.refusals.empty()) {
    items.emplace_back(
        "xdp-mode-refused",
        absl::StrJoin(report.refusals, "; ", [](std::string* out, const ModeRefusal& refusal) {
          absl::StrAppend(out, XdpModeName(refusal.mode), ": ", refusal.why.message());
        }));
  }
  return items;
}

std::string DescribePort(const PortReport& report) {
  std::string text;
  absl::StrAppend(&text, "port ", report.device.name, ": ifindex ", report.device.ifindex,
                  ", driver ", report.device.driver.empty() ? "unknown" : report.device.driver,
                  ", link ", report.link_up ? "up" : "down", "\n");
  absl::StrAppend(&text, "  mode: ", HookName(report), ", ",
                  ZeroCopy(report) ? "zero-copy" : absl::StrCat("copy (", CopyReason(report), ")"),
                  "\n");
  for (const ModeRefusal& refusal : report.refusals) {
    absl::StrAppend(&text, "  refused: ", XdpModeName(refusal.mode), ": ", refusal.why.message(),
                    "\n");
  }
  absl::StrAppend(&text, "  program: ", report.program.name, " id ", report.program.id,
                  report.displaced ? ", detached by somebody" : "", "\n");
  absl::StrAppend(&text, "  rings: rx ", report.rings.rx, " fill ", report.rings.fill, " tx ",
                  report.rings.tx, " completion ", report.rings.completion, "\n");
  absl::StrAppend(&text, "  need-wakeup: ", report.options.need_wakeup ? "on" : "off", "\n");
  for (const QueueReport& queue : report.queues) {
    absl::StrAppend(&text, "  queue ", queue.queue, ":\n");
    for (const auto& [name, value] : queue.counters) {
      absl::StrAppend(&text, "    ", name, ": ", value, "\n");
    }
  }
  return text;
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// PortReport: what a port says about itself, and how that reads.
#ifndef DATAPATH_PORT_PORT_REPORT_H_
#define DATAPATH_PORT_PORT_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "datapath/port/options.h"
#include "datapath/xdp/device.h"
#include "datapath/xdp/program.h"
#include "datapath/xsk/queue_counters.h"
#include "datapath/xsk/socket.h"

namespace afxdp {

// A mode that was tried and why it did not work.
struct ModeRefusal {
  XdpMode mode;
  absl::Status why;
};

// A counter by the name that users see.
using NamedCounter = std::pair<std::string, uint64_t>;

struct QueueReport {
  uint32_t queue = 0;  // Of the device.
  QueueId id = 0;      // In the ownership record.
  std::vector<NamedCounter> counters;
};

// Packets that we gave up on and that the device's own counters do not know of.
struct PortDrops {
  uint64_t transmit = 0;
  uint64_t receive = 0;

  PortDrops& operator+=(const PortDrops& other) {
    transmit += other.transmit;
    receive += other.receive;
    return *this;
  }
};
PortDrops CountDrops(const QueueCounters& counters);

struct PortReport {
  Device device;
  bool link_up = false;
  bool displaced = false;  // Our program has been detached by somebody.
  XdpMode mode = XdpMode::kGeneric;
  std::vector<ModeRefusal> refusals;
  ProgramInfo program;
  PortOptions options;
  RingSizes rings;
  std::vector<QueueReport> queues;
  PortDrops drops;  // Of all queues that the port has had.
};

// All counters of a queue, in a fixed order.
std::vector<NamedCounter> NameCounters(const QueueCounters& counters,
                                       const KernelStatistics& kernel);

// The port's options and what they came to, as Open vSwitch's get_config shows them.
std::vector<std::pair<std::string, std::string>> ConfigItems(const PortReport& report);
// The port's state, as get_status shows it.
std::vector<std::pair<std::string, std::string>> StatusItems(const PortReport& report);
// Everything, over several lines, for afxdp/show.
std::string DescribePort(const PortReport& report);

}  // namespace afxdp

#endif  // DATAPATH_PORT_PORT_REPORT_H_

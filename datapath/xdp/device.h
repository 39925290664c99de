// SPDX-License-Identifier: Apache-2.0
//
// What there is to know about a network device before and while it is a port.
#ifndef DATAPATH_XDP_DEVICE_H_
#define DATAPATH_XDP_DEVICE_H_

#include <linux/netlink.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace afxdp {

struct Device {
  std::string name;
  int ifindex = 0;
  uint32_t flags = 0;      // IFF_*, with IFF_LOWER_UP for the carrier.
  uint32_t mtu = 0;        // Bytes, without the Ethernet header.
  std::string kind;        // Link kind as rtnetlink has it ("veth", "tun"); empty for a NIC.
  std::string slave_kind;  // The kind of what the device is a member of ("bond"), or empty.
  std::string driver;      // As ethtool has it; empty when the device does not say.
  uint32_t rx_queues = 1;  // RX queues in use.

  // A device without hardware queues behind it.
  bool is_virtual() const { return !kind.empty(); }
  // Packets sent to it arrive somewhere.
  bool link_up() const;
};

// Looks up a device of the calling thread's network namespace.  NOT_FOUND (ENODEV) when there is
// none of that name.
absl::StatusOr<Device> FindDevice(absl::string_view name);
absl::StatusOr<Device> FindDevice(int ifindex);

// Whether `device` can be a port at all: not the loopback device, no bond or a member of one, and
// an MTU that fits into a frame.
absl::Status CheckDevice(const Device& device);

// Largest MTU whose packets, with an Ethernet header and one VLAN tag, fit into a frame.
uint32_t MaxMtu();

// Reads what an RTM_NEWLINK or RTM_DELLINK message says into a device; ifindex, name, flags, mtu
// and kinds, but not the rest.
Device ParseLink(const nlmsghdr* message);

}  // namespace afxdp

#endif  // DATAPATH_XDP_DEVICE_H_

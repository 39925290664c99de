// SPDX-License-Identifier: Apache-2.0
//
// Kernel constants newer than the headers that we build with (Linux 6.1).  What uses one must ask
// the running kernel first; the questions are in queue_probe.h.
#ifndef DATAPATH_XSK_KERNEL_H_
#define DATAPATH_XSK_KERNEL_H_

#include <cstdint>

namespace afxdp::kernel {

// Generic netlink family "netdev" (include/uapi/linux/netdev.h).
inline constexpr char kNetdevFamily[] = "netdev";
inline constexpr uint8_t kNetdevVersion = 1;       // NETDEV_FAMILY_VERSION
inline constexpr uint8_t kNetdevCmdDevGet = 1;     // NETDEV_CMD_DEV_GET, Linux 6.3
inline constexpr uint16_t kDevIfindex = 1;         // NETDEV_A_DEV_IFINDEX
inline constexpr uint16_t kDevXdpFeatures = 3;     // NETDEV_A_DEV_XDP_FEATURES
inline constexpr uint64_t kXdpActXskZeroCopy = 8;  // NETDEV_XDP_ACT_XSK_ZEROCOPY
inline constexpr uint8_t kNetdevCmdQueueGet = 10;  // NETDEV_CMD_QUEUE_GET, Linux 6.8
inline constexpr uint16_t kQueueId = 1;            // NETDEV_A_QUEUE_ID
inline constexpr uint16_t kQueueIfindex = 2;       // NETDEV_A_QUEUE_IFINDEX
inline constexpr uint16_t kQueueType = 3;          // NETDEV_A_QUEUE_TYPE
inline constexpr uint16_t kQueueXsk = 7;           // NETDEV_A_QUEUE_XSK, Linux 6.15
inline constexpr uint32_t kQueueTypeRx = 0;        // NETDEV_QUEUE_TYPE_RX
inline constexpr uint32_t kQueueTypeTx = 1;        // NETDEV_QUEUE_TYPE_TX

}  // namespace afxdp::kernel

#endif  // DATAPATH_XSK_KERNEL_H_

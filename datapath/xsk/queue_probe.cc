// SPDX-License-Identifier: Apache-2.0
#include "datapath/xsk/queue_probe.h"

#include <linux/genetlink.h>
#include <net/if.h>

#include <cerrno>
#include <functional>
#include <optional>

#include "datapath/base/errno_status.h"
#include "datapath/base/netlink.h"
#include "datapath/umem/region.h"
#include "datapath/xsk/kernel.h"

namespace afxdp {
namespace {

void AddGenericHeader(NetlinkRequest& request, uint8_t command, uint8_t version) {
  auto* header = request.AddHeader<genlmsghdr>();
  header->cmd = command;
  header->version = version;
}

absl::StatusOr<uint16_t> FindNetdevFamily(NetlinkSocket& socket) {
  NetlinkRequest request(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK);
  AddGenericHeader(request, CTRL_CMD_GETFAMILY, 1);
  mnl_attr_put_strz(request.header(), CTRL_ATTR_FAMILY_NAME, kernel::kNetdevFamily);
  uint16_t family = 0;
  AFXDP_RETURN_IF_ERROR(socket.Transact(request, [&](const nlmsghdr* reply) {
    const NetlinkAttributes attributes(reply, sizeof(genlmsghdr));
    if (const nlattr* id = attributes[CTRL_ATTR_FAMILY_ID]) family = mnl_attr_get_u16(id);
  }));
  if (family == 0) return absl::UnimplementedError("the kernel has no netdev netlink family");
  return family;
}

// One request to the "netdev" family, whose attributes `fill` adds.
absl::Status AskNetdev(uint8_t command, uint16_t flags, const std::function<void(nlmsghdr*)>& fill,
                       const NetlinkSocket::Visitor& visit) {
  absl::StatusOr<NetlinkSocket> socket = NetlinkSocket::Open(NETLINK_GENERIC);
  if (!socket.ok()) return socket.status();
  const absl::StatusOr<uint16_t> family = FindNetdevFamily(*socket);
  if (!family.ok()) return family.status();
  NetlinkRequest request(*family, NLM_F_REQUEST | flags);
  AddGenericHeader(request, command, kernel::kNetdevVersion);
  fill(request.header());
  return socket->Transact(request, visit);
}

// A socket on one page of its own, bound and closed again.
int TryBind(const DeviceQueue& where) {
  const absl::StatusOr<Region> region = Region::Create({.frames = 1, .hugepages = false});
  if (!region.ok()) return ErrnoOf(region.status());
  absl::StatusOr<XskSocket> socket =
      XskSocket::Create(*region, {.rx = 1, .fill = 1, .tx = 1, .completion = 1});
  if (!socket.ok()) return ErrnoOf(socket.status());
  return ErrnoOf(socket->Bind(where, XskSocket::Copying::kCopy, /*need_wakeup=*/true));
}

// Whether netlink shows XSKs: binds a socket to the loopback device, which every network namespace
// has, and looks.
bool NetlinkShowsXsks() {
  const DeviceQueue loopback = {.ifindex = static_cast<int>(if_nametoindex("lo")), .queue = 0};
  const absl::StatusOr<Region> region = Region::Create({.frames = 1, .hugepages = false});
  if (!region.ok()) return false;
  absl::StatusOr<XskSocket> socket =
      XskSocket::Create(*region, {.rx = 1, .fill = 1, .tx = 1, .completion = 1});
  if (!socket.ok()) return false;
  const absl::Status bound = socket->Bind(loopback, XskSocket::Copying::kCopy, true);
  if (!bound.ok() && ErrnoOf(bound) != EBUSY) return false;
  const absl::StatusOr<bool> free = QueueIsFreeByNetlink(loopback);
  return free.ok() && !*free;
}

}  // namespace

absl::StatusOr<bool> QueueIsFreeByNetlink(const DeviceQueue& where) {
  bool held = false;
  AFXDP_RETURN_IF_ERROR(AskNetdev(
      kernel::kNetdevCmdQueueGet, NLM_F_ACK,
      [&](nlmsghdr* request) {
        mnl_attr_put_u32(request, kernel::kQueueIfindex, static_cast<uint32_t>(where.ifindex));
        mnl_attr_put_u32(request, kernel::kQueueId, where.queue);
        mnl_attr_put_u32(request, kernel::kQueueType, kernel::kQueueTypeRx);
      },
      [&](const nlmsghdr* reply) {
        held = NetlinkAttributes(reply, sizeof(genlmsghdr))[kernel::kQueueXsk] != nullptr;
      }));
  return !held;
}

bool QueueIsFreeByBind(const DeviceQueue& where) { return TryBind(where) != EBUSY; }

bool QueueIsKnownHeld(const DeviceQueue& where) {
  const absl::StatusOr<bool> free = QueueIsFreeByNetlink(where);
  return free.ok() && !*free;
}

bool QueueIsFree(const DeviceQueue& where) {
  static const bool by_netlink = NetlinkShowsXsks();
  if (!by_netlink) return QueueIsFreeByBind(where);
  const absl::StatusOr<bool> free = QueueIsFreeByNetlink(where);
  if (free.ok()) return *free;
  // The device is gone, or has fewer queues than it had, or is down and shows none
  // (kernel: netdev_nl_queue_fill() in net/core/netdev-genl.c); an attempt to bind tells.
  return QueueIsFreeByBind(where);
}

absl::StatusOr<uint32_t> CountRxQueuesByNetlink(int ifindex) {
  uint32_t count = 0;
  AFXDP_RETURN_IF_ERROR(AskNetdev(
      kernel::kNetdevCmdQueueGet, NLM_F_DUMP,
      [&](nlmsghdr* request) {
        mnl_attr_put_u32(request, kernel::kQueueIfindex, static_cast<uint32_t>(ifindex));
      },
      [&](const nlmsghdr* reply) {
        const NetlinkAttributes attributes(reply, sizeof(genlmsghdr));
        const nlattr* type = attributes[kernel::kQueueType];
        if (type && mnl_attr_get_u32(type) == kernel::kQueueTypeRx) ++count;
      }));
  return count;
}

absl::StatusOr<bool> DriverHasZeroCopy(int ifindex) {
  std::optional<uint64_t> features;
  AFXDP_RETURN_IF_ERROR(AskNetdev(
      kernel::kNetdevCmdDevGet, NLM_F_ACK,
      [&](nlmsghdr* request) {
        mnl_attr_put_u32(request, kernel::kDevIfindex, static_cast<uint32_t>(ifindex));
      },
      [&](const nlmsghdr* reply) {
        const NetlinkAttributes attributes(reply, sizeof(genlmsghdr));
        const nlattr* attribute = attributes[kernel::kDevXdpFeatures];
        if (attribute) features = mnl_attr_get_u64(attribute);
      }));
  if (!features) return absl::UnimplementedError("the kernel does not list XDP features");
  return (*features & kernel::kXdpActXskZeroCopy) != 0;
}

}  // namespace afxdp

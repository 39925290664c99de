// SPDX-License-Identifier: Apache-2.0
#include "datapath/xdp/device.h"

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "datapath/base/errno_status.h"
#include "datapath/base/netlink.h"
#include "datapath/base/unique_fd.h"
#include "datapath/umem/frame.h"
#include "datapath/xsk/queue_probe.h"

namespace afxdp {
namespace {

constexpr uint32_t kVlanTag = 4;

std::string AttributeString(const nlattr* attribute) {
  return attribute ? mnl_attr_get_str(attribute) : "";
}

// One ethtool request; false when the device does not know it.
bool Ethtool(const std::string& name, void* request) {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq ifr = {};
  std::strncpy(ifr.ifr_name, name.c_str(), sizeof ifr.ifr_name - 1);
  ifr.ifr_data = static_cast<char*>(request);
  return ioctl(fd.get(), SIOCETHTOOL, &ifr) == 0;
}

std::string FindDriver(const std::string& name) {
  ethtool_drvinfo info = {};
  info.cmd = ETHTOOL_GDRVINFO;
  return Ethtool(name, &info) ? info.driver : "";
}

// RX queues in use: what netlink lists, else the driver's channels, else one.
uint32_t CountRxQueues(const Device& device) {
  const absl::StatusOr<uint32_t> listed = CountRxQueuesByNetlink(device.ifindex);
  if (listed.ok() && *listed > 0) return *listed;
  ethtool_channels channels = {};
  channels.cmd = ETHTOOL_GCHANNELS;
  if (Ethtool(device.name, &channels)) {
    return std::max(channels.combined_count + channels.rx_count, 1u);
  }
  // A device that is down lists none; it may be made with several all the same.
  return std::max(device.rx_queues, 1u);
}

absl::StatusOr<Device> Find(NetlinkRequest& request) {
  absl::StatusOr<NetlinkSocket> socket = NetlinkSocket::Open(NETLINK_ROUTE);
  if (!socket.ok()) return socket.status();
  Device device;
  const absl::Status status =
      socket->Transact(request, [&](const nlmsghdr* reply) { device = ParseLink(reply); });
  if (ErrnoOf(status) == ENODEV) {
    return ErrorWithErrno(ENODEV, "there is no such device in the daemon's network namespace");
  }
  if (!status.ok()) return Annotate(status, "looking up the device");
  device.driver = FindDriver(device.name);
  device.rx_queues = CountRxQueues(device);
  return device;
}

}  // namespace

bool Device::link_up() const {
  constexpr uint32_t kUp = IFF_UP | IFF_LOWER_UP;
  return (flags & kUp) == kUp;
}

Device ParseLink(const nlmsghdr* message) {
  const auto* header = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message));
  const NetlinkAttributes attributes(message, sizeof *header);
  Device device;
  device.ifindex = header->ifi_index;
  device.flags = header->ifi_flags;
  device.name = AttributeString(attributes[IFLA_IFNAME]);
  if (const nlattr* mtu = attributes[IFLA_MTU]) device.mtu = mnl_attr_get_u32(mtu);
  if (const nlattr* queues = attributes[IFLA_NUM_RX_QUEUES]) {
    device.rx_queues = mnl_attr_get_u32(queues);
  }
  if (const nlattr* info = attributes[IFLA_LINKINFO]) {
    const NetlinkAttributes nested(info);
    device.kind = AttributeString(nested[IFLA_INFO_KIND]);
    device.slave_kind = AttributeString(nested[IFLA_INFO_SLAVE_KIND]);
  }
  return device;
}

absl::StatusOr<Device> FindDevice(absl::string_view name) {
  if (name.empty() || name.size() >= IFNAMSIZ) {
    return ErrorWithErrno(ENODEV, absl::StrCat("\"", name, "\" is no name of a network device"));
  }
  NetlinkRequest request(RTM_GETLINK, NLM_F_REQUEST | NLM_F_ACK);
  request.AddHeader<ifinfomsg>();
  mnl_attr_put_strz(request.header(), IFLA_IFNAME, std::string(name).c_str());
  return Find(request);
}

absl::StatusOr<Device> FindDevice(int ifindex) {
  NetlinkRequest request(RTM_GETLINK, NLM_F_REQUEST | NLM_F_ACK);
  request.AddHeader<ifinfomsg>()->ifi_index = ifindex;
  return Find(request);
}

uint32_t MaxMtu() { return kMaxReceiveLength - ETH_HLEN - kVlanTag; }

absl::Status CheckDevice(const Device& device) {
  if (device.flags & IFF_LOOPBACK) {
    return ErrorWithErrno(EINVAL, "the loopback device cannot be a port");
  }
  if (device.flags & IFF_MASTER) {
    return ErrorWithErrno(
        EINVAL, absl::StrCat("it is a bond (", device.kind,
                             "), which has no queues of its own: add its members to an Open "
                             "vSwitch bond instead"));
  }
  if (device.flags & IFF_SLAVE) {
    return ErrorWithErrno(EINVAL,
                          absl::StrCat("it is a member of a ", device.slave_kind,
                                       " device, which takes its packets: remove it from there "
                                       "and use an Open vSwitch bond"));
  }
  if (device.mtu > MaxMtu()) {
    return ErrorWithErrno(
        EINVAL, absl::StrCat("its MTU of ", device.mtu, " does not fit into a frame: set ",
                             MaxMtu(), " or less"));
  }
  return absl::OkStatus();
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
#include "datapath/base/netlink.h"

#include <sys/socket.h>

#include <cerrno>

#include "datapath/base/errno_status.h"

namespace afxdp {
namespace {

// The kernel never makes a part of an answer larger than this (NLMSG_GOODSIZE, at most 32 KiB in
// netlink_recvmsg()).
constexpr size_t kReceiveBuffer = 32768;

int Visit(const nlmsghdr* message, void* visitor) {
  (*static_cast<const NetlinkSocket::Visitor*>(visitor))(message);
  return MNL_CB_OK;
}

}  // namespace

NetlinkRequest::NetlinkRequest(uint16_t type, uint16_t flags)
    : buffer_(kCapacity), header_(mnl_nlmsg_put_header(buffer_.data())) {
  header_->nlmsg_type = type;
  header_->nlmsg_flags = flags;
}

absl::StatusOr<NetlinkSocket> NetlinkSocket::Open(int bus, unsigned int groups) {
  mnl_socket* socket = mnl_socket_open2(bus, SOCK_CLOEXEC);
  if (socket == nullptr) return ErrnoError(errno, "opening a netlink socket");
  NetlinkSocket owner(socket);
  if (mnl_socket_bind(socket, groups, MNL_SOCKET_AUTOPID) < 0) {
    return ErrnoError(errno, "binding a netlink socket");
  }
  return owner;
}

absl::Status NetlinkSocket::Transact(NetlinkRequest& request, const Visitor& visit) {
  const uint32_t sequence = ++sequence_;
  request.header()->nlmsg_seq = sequence;
  if (mnl_socket_sendto(socket_.get(), request.header(), request.header()->nlmsg_len) < 0) {
    return ErrnoError(errno, "sending a netlink request");
  }
  std::vector<char> buffer(kReceiveBuffer);
  const unsigned int port = mnl_socket_get_portid(socket_.get());
  for (;;) {
    const ssize_t length = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (length < 0) return ErrnoError(errno, "receiving a netlink answer");
    // Errors and the end of the answer come as messages, which mnl_cb_run() turns into its result.
    const int result = mnl_cb_run(buffer.data(), static_cast<size_t>(length), sequence, port, Visit,
                                  const_cast<Visitor*>(&visit));
    if (result < 0) return ErrnoError(errno, "netlink request");
    if (result == MNL_CB_STOP) return absl::OkStatus();
  }
}

absl::Status NetlinkSocket::ReceiveNotifications(const Visitor& visit) {
  std::vector<char> buffer(kReceiveBuffer);
  for (;;) {
    const ssize_t length = recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length < 0) {
      if (errno == EAGAIN || errno == EINTR) return absl::OkStatus();
      return ErrnoError(errno, "receiving netlink notifications");
    }
    mnl_cb_run(buffer.data(), static_cast<size_t>(length), 0, 0, Visit,
               const_cast<Visitor*>(&visit));
  }
}

NetlinkAttributes::NetlinkAttributes(const nlmsghdr* message, size_t fixed_header_size) {
  mnl_attr_parse(message, static_cast<unsigned int>(fixed_header_size), Store, this);
}

NetlinkAttributes::NetlinkAttributes(const nlattr* nest) {
  mnl_attr_parse_nested(nest, Store, this);
}

int NetlinkAttributes::Store(const nlattr* attribute, void* self) {
  auto& table = static_cast<NetlinkAttributes*>(self)->table_;
  const uint16_t type = mnl_attr_get_type(attribute);
  if (type < std::size(table)) table[type] = attribute;
  return MNL_CB_OK;
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// NetlinkSocket: requests to the kernel over netlink, by libmnl.
//
//   absl::StatusOr<NetlinkSocket> socket = NetlinkSocket::Open(NETLINK_ROUTE);
//   NetlinkRequest request(RTM_GETLINK, NLM_F_REQUEST | NLM_F_ACK);
//   ...
//   absl::Status status = socket->Transact(request, [](const nlmsghdr* reply) { ... });
#ifndef DATAPATH_BASE_NETLINK_H_
#define DATAPATH_BASE_NETLINK_H_

#include <libmnl/libmnl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace afxdp {

// A message under construction.
class NetlinkRequest {
 public:
  NetlinkRequest(uint16_t type, uint16_t flags);

  nlmsghdr* header() { return header_; }
  // The family's fixed header, zeroed.
  template <typename T>
  T* AddHeader() {
    return static_cast<T*>(mnl_nlmsg_put_extra_header(header_, sizeof(T)));
  }

 private:
  static constexpr size_t kCapacity = 1024;
  std::vector<char> buffer_;
  nlmsghdr* header_;
};

// One thread at a time.
class NetlinkSocket {
 public:
  using Visitor = std::function<void(const nlmsghdr*)>;

  // `bus` is NETLINK_ROUTE or the like; `groups` a bit mask of multicast groups to join.
  static absl::StatusOr<NetlinkSocket> Open(int bus, unsigned int groups = 0);

  // Sends `request` and gives each message of the answer to `visit`, up to its end.
  absl::Status Transact(NetlinkRequest& request, const Visitor& visit);

  // Gives each notification that is waiting to `visit`; does not wait itself.  ENOBUFS when some
  // were lost.
  absl::Status ReceiveNotifications(const Visitor& visit);

  int fd() const { return mnl_socket_get_fd(socket_.get()); }

 private:
  struct Closer {
    void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
  };
  explicit NetlinkSocket(mnl_socket* socket) : socket_(socket) {}

  std::unique_ptr<mnl_socket, Closer> socket_;
  uint32_t sequence_ = 0;
};

// The attributes of a message or a nest, by number.  Those beyond the table are left out.
class NetlinkAttributes {
 public:
  NetlinkAttributes(const nlmsghdr* message, size_t fixed_header_size);
  explicit NetlinkAttributes(const nlattr* nest);

  // Null when there is none.
  const nlattr* operator[](uint16_t type) const {
    return type < std::size(table_) ? table_[type] : nullptr;
  }

 private:
  static int Store(const nlattr* attribute, void* self);
  const nlattr* table_[80] = {};
};

}  // namespace afxdp

#endif  // DATAPATH_BASE_NETLINK_H_

// SPDX-License-Identifier: Apache-2.0
//
// ForeignSocket: an AF_XDP socket of another program, with memory of its own, that holds a queue.
#ifndef TESTS_NETNS_FOREIGN_SOCKET_H_
#define TESTS_NETNS_FOREIGN_SOCKET_H_

#include <optional>

#include "absl/status/status.h"
#include "datapath/umem/region.h"
#include "datapath/xsk/socket.h"
#include "tests/support/status_matchers.h"
#include "tests/support/waiting.h"

namespace afxdp::testing {

class ForeignSocket {
 public:
  // Binds to `where`, as soon as nobody else does.
  explicit ForeignSocket(const DeviceQueue& where)
      : region_(*Region::Create({.frames = 64, .hugepages = false})) {
    absl::Status status;
    EXPECT_TRUE(WaitFor([&] {
      auto socket = XskSocket::Create(region_, {.rx = 64, .fill = 64, .tx = 64, .completion = 64});
      if (!socket.ok()) {
        status = socket.status();
        return true;
      }
      socket_.emplace(*std::move(socket));
      status = socket_->Bind(where, XskSocket::Copying::kCopy, /*need_wakeup=*/true);
      return ErrnoOf(status) != EBUSY;
    })) << "queue "
        << where.queue << " stays busy";
    EXPECT_OK(status);
  }

  XskSocket& socket() { return *socket_; }

 private:
  Region region_;
  std::optional<XskSocket> socket_;
};

}  // namespace afxdp::testing

#endif  // TESTS_NETNS_FOREIGN_SOCKET_H_

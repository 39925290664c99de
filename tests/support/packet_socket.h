// SPDX-License-Identifier: Apache-2.0
//
// PacketSocket: sends and receives our test packets on a device, as a program in a container does.
#ifndef TESTS_SUPPORT_PACKET_SOCKET_H_
#define TESTS_SUPPORT_PACKET_SOCKET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "datapath/base/unique_fd.h"
#include "tests/support/net_namespace.h"
#include "tests/support/waiting.h"

namespace afxdp::testing {

class PacketSocket {
 public:
  // On `device` in namespace `where`.
  PacketSocket(const NetNamespace& where, const std::string& device);

  // False, with errno set, when the device does not take it.
  bool Send(const std::string& packet);

  // The next packet that comes in, nothing when none does within `timeout`.
  std::optional<std::string> Receive(absl::Duration timeout = kPatience);

  // The numbers of the packets that come in, until there are `count` or none comes within
  // `timeout`.  A packet that is not whole counts as UINT32_MAX.
  std::vector<uint32_t> ReceiveNumbers(size_t count, absl::Duration timeout = kPatience);

 private:
  UniqueFd fd_;
};

}  // namespace afxdp::testing

#endif  // TESTS_SUPPORT_PACKET_SOCKET_H_

// SPDX-License-Identifier: Apache-2.0
//
// Devices for tests: veth pairs with one end in a container, and taps with the test as the VM.
#ifndef TESTS_SUPPORT_DEVICES_H_
#define TESTS_SUPPORT_DEVICES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "datapath/base/unique_fd.h"
#include "tests/support/net_namespace.h"
#include "tests/support/waiting.h"

namespace afxdp::testing {

int IfIndex(const std::string& device);

struct VethOptions {
  uint32_t queues = 1;  // Of each direction, at both ends.
  uint32_t mtu = 1500;
  bool up = true;
};

// Makes `name` here and its other end `peer` in `container`, both up.
void MakeVeth(const std::string& name, const std::string& peer, const NetNamespace& container,
              const VethOptions& options = {});

// A tap device whose VM is the test.
class Tap {
 public:
  // Attaches to `name`, making it if need be.  A persistent one stays when the VM goes.
  explicit Tap(const std::string& name, bool persistent = false);

  // What the VM sends; false, with errno set, when the device does not take it.
  bool Send(const std::string& packet);
  // The next test packet for the VM, nothing when none comes within `timeout`.
  std::optional<std::string> Receive(absl::Duration timeout = kPatience);
  std::vector<uint32_t> ReceiveNumbers(size_t count, absl::Duration timeout = kPatience);

 private:
  UniqueFd fd_;
};

}  // namespace afxdp::testing

#endif  // TESTS_SUPPORT_DEVICES_H_

// SPDX-License-Identifier: Apache-2.0
//
// What the tests with real sockets share: a network namespace of the test's own, a container beside
// it, and a datapath.
//
// The namespaces have no names and vanish with the test's process.
#ifndef TESTS_NETNS_NETNS_TEST_H_
#define TESTS_NETNS_NETNS_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "datapath/port/datapath.h"
#include "tests/support/command.h"
#include "tests/support/devices.h"
#include "tests/support/net_namespace.h"
#include "tests/support/packet.h"
#include "tests/support/packet_socket.h"
#include "tests/support/status_matchers.h"
#include "tests/support/waiting.h"

namespace afxdp::testing {

// What a port asked for through its callbacks.
struct PortEvents {
  std::atomic<int> wants_reconfigure{0};
  std::atomic<int> status_changed{0};
};

class NetnsTest : public ::testing::Test {
 protected:
  // In frames; room for a handful of ports with default rings.
  static constexpr uint32_t kFrames = 8192;

  void SetUp() override;
  void TearDown() override;

  // Makes the datapath; SetUp() does so unless a test class has said otherwise.
  void StartDatapath(uint32_t frames = kFrames);

  // Opens a port, or fails the test.  Null then.  `events` must outlive the port: a member of the
  // test class does, a local of the test does not.
  Port* Open(const std::string& device, const PortOptions& options = {},
             PortEvents* events = nullptr);
  absl::StatusOr<Port*> TryOpen(const std::string& device, const PortOptions& options = {},
                                PortEvents* events = nullptr);
  void Close(Port* port) { datapath_->ClosePort(port); }

  const NetNamespace& container() const { return *container_; }

  // The number behind `key` in the pool's description, such as "held by OVS".
  uint64_t Pool(const std::string& key);
  // Every frame is somewhere, and none that should be back is still away.
  void ExpectAllFramesConserved();

  std::optional<NetNamespace> container_;
  std::unique_ptr<Datapath> datapath_;
  bool with_datapath_ = true;
  std::atomic<int> ports_may_open_{0};  // How often the datapath said so.
};

// A counter of the port's queue `index`, by the name that users see; fails when there is none.
uint64_t CounterOf(const Port& port, absl::string_view name, uint32_t index = 0);

// Receives from `queue` until `count` packets have come; the numbers of those that are whole, in
// order, and UINT32_MAX for others.  The frames are freed.
std::vector<uint32_t> ReceiveNumbers(Datapath& datapath, Queue& queue, size_t count,
                                     absl::Duration timeout = kPatience);

// Moves packets from one queue to another in place until `count` have been received; returns how
// many that were.
size_t Forward(Queue& from, Queue& to, size_t count, absl::Duration timeout = kPatience);

// Gives `packet` to the queue as foreign bytes; whether it went onto the ring.
bool TransmitCopy(Queue& queue, const std::string& packet);

// 0, 1, 2 ... count - 1.
std::vector<uint32_t> Sequence(uint32_t count);

}  // namespace afxdp::testing

#endif  // TESTS_NETNS_NETNS_TEST_H_

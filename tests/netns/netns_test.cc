// SPDX-License-Identifier: Apache-2.0
#include "tests/netns/netns_test.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <numeric>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "datapath/base/log.h"

namespace afxdp::testing {
namespace {

constexpr size_t kBatch = 32;

// Shows what the library logs when a test fails.
void LogToStderr(LogLevel level, const char* message) {
  if (level == LogLevel::kDebug) return;
  std::fprintf(stderr, "log: %s\n", message);
}

}  // namespace

void NetnsTest::SetUp() {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make network namespaces";
  if (!EnterNewNamespace()) {
    GTEST_SKIP() << "may not make a network namespace: " << std::strerror(errno);
  }
  container_ = NetNamespace::Create();
  SetLogFunction(LogToStderr);
  if (with_datapath_) StartDatapath();
}

void NetnsTest::TearDown() {
  datapath_.reset();
  SetLogFunction(nullptr);
}

void NetnsTest::StartDatapath(uint32_t frames) {
  auto datapath = Datapath::Create({.region = {.frames = frames, .hugepages = false},
                                    .headers = {.size = 64, .align = 64, .align_offset = 0},
                                    .ports_may_open = [this] { ++ports_may_open_; }});
  ASSERT_OK(datapath);
  datapath_ = *std::move(datapath);
}

absl::StatusOr<Port*> NetnsTest::TryOpen(const std::string& device, const PortOptions& options,
                                         PortEvents* events) {
  static PortEvents nobody;
  if (events == nullptr) events = &nobody;
  return datapath_->OpenPort(device, options,
                             {.wants_reconfigure = [events] { ++events->wants_reconfigure; },
                              .status_changed = [events] { ++events->status_changed; }});
}

Port* NetnsTest::Open(const std::string& device, const PortOptions& options, PortEvents* events) {
  const absl::StatusOr<Port*> port = TryOpen(device, options, events);
  EXPECT_OK(port);
  return port.ok() ? *port : nullptr;
}

uint64_t NetnsTest::Pool(const std::string& key) {
  std::istringstream text(datapath_->DescribePool());
  std::string line;
  while (std::getline(text, line)) {
    absl::string_view rest = line;
    uint64_t value;
    if (!absl::ConsumePrefix(&rest, key + ": ")) continue;
    // "reserved" goes on with " of M".
    if (absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &value)) return value;
  }
  ADD_FAILURE() << "no \"" << key << "\" in\n" << datapath_->DescribePool();
  return 0;
}

void NetnsTest::ExpectAllFramesConserved() {
  EXPECT_TRUE(WaitFor([&] { return Pool("quarantined") == 0; })) << datapath_->DescribePool();
  EXPECT_EQ(Pool("held by OVS"), 0u) << datapath_->DescribePool();
  EXPECT_EQ(Pool("sum"), datapath_->umem().region().frames()) << datapath_->DescribePool();
  EXPECT_EQ(Pool("misgiven"), 0u) << datapath_->DescribePool();
}

uint64_t CounterOf(const Port& port, absl::string_view name, uint32_t index) {
  const PortReport report = port.Report();
  if (index < report.queues.size()) {
    for (const auto& [key, value] : report.queues[index].counters) {
      if (key == name) return value;
    }
  }
  ADD_FAILURE() << "queue " << index << " has no counter " << name;
  return 0;
}

std::vector<uint32_t> ReceiveNumbers(Datapath& datapath, Queue& queue, size_t count,
                                     absl::Duration timeout) {
  std::vector<uint32_t> numbers;
  WaitFor(
      [&] {
        ReceivedPacket packets[kBatch];
        const size_t received = queue.Receive(packets, kBatch);
        for (size_t i = 0; i < received; ++i) {
          numbers.push_back(
              PacketNumber({packets[i].data, packets[i].length}).value_or(UINT32_MAX));
          const FrameIndex frame = datapath.umem().headers().FrameOf(packets[i].header);
          datapath.umem().pool().Give(FrameOwner::Held(), &frame, 1);
        }
        return numbers.size() >= count;
      },
      timeout);
  return numbers;
}

size_t Forward(Queue& from, Queue& to, size_t count, absl::Duration timeout) {
  size_t forwarded = 0;
  WaitFor(
      [&] {
        ReceivedPacket received[kBatch];
        while (const size_t size = from.Receive(received, kBatch)) {
          TransmitPacket packets[kBatch];
          for (size_t i = 0; i < size; ++i) {
            packets[i] = SendInPlace(received[i].data, received[i].length);
          }
          to.Transmit(packets, size);
          forwarded += size;
        }
        return forwarded >= count;
      },
      timeout);
  return forwarded;
}

bool TransmitCopy(Queue& queue, const std::string& packet) {
  const TransmitPacket transmit = SendCopy(packet.data(), static_cast<uint32_t>(packet.size()));
  return queue.Transmit(&transmit, 1) == 1;
}

std::vector<uint32_t> Sequence(uint32_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

}  // namespace afxdp::testing

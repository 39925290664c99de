// SPDX-License-Identifier: Apache-2.0
//
// Ports that come, go and change in random order while traffic flows: not one frame is missing
// afterwards.
#include <array>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

constexpr int kPorts = 3;
constexpr int kSteps = 200;

class ChurnTest : public NetnsTest {
 protected:
  void SetUp() override {
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    for (int i = 0; i < kPorts; ++i) {
      MakeVeth(Name("p", i), Name("c", i), container(), {.queues = 2});
    }
  }

  static std::string Name(const char* prefix, int i) { return prefix + std::to_string(i); }

  // Forwards between all the ports that there are, as a switch's polling thread does: in place to
  // one port, by a copy to another, and some are dropped.
  void RunSwitch() {
    while (!stop_) {
      absl::MutexLock lock(&pause_);
      for (int i = 0; i < kPorts; ++i) {
        if (ports_[i] == nullptr) continue;
        for (uint32_t q = 0; q < ports_[i]->queue_count(); ++q)
          ForwardFrom(i, *ports_[i]->queue(q));
      }
    }
  }

  void ForwardFrom(int from, Queue& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pause_) {
    ReceivedPacket received[32];
    const size_t size = queue.Receive(received, 32);
    for (size_t i = 0; i < size; ++i) {
      const ReceivedPacket& packet = received[i];
      received_ += 1;
      Port* to = ports_[(static_cast<size_t>(from) + received_) % kPorts];
      Port* copy_to = ports_[(static_cast<size_t>(from) + received_ + 1) % kPorts];
      if (copy_to != nullptr && copy_to->queue_count() > 0) {
        const TransmitPacket copy = SendCopy(packet.data, packet.length);
        copy_to->queue(0)->Transmit(&copy, 1);
      }
      if (to != nullptr && to->queue_count() > 0) {
        const TransmitPacket transmit = SendInPlace(packet.data, packet.length);
        to->queue(received_ % to->queue_count())->Transmit(&transmit, 1);
      } else {
        const FrameIndex frame = datapath_->umem().headers().FrameOf(packet.header);
        datapath_->umem().pool().Give(FrameOwner::Held(), &frame, 1);
      }
    }
  }

  // Containers that send without end.
  void RunContainer(int i) {
    PacketSocket socket(container(), Name("c", i));
    uint32_t number = 0;
    while (!stop_) {
      for (int burst = 0; burst < 20; ++burst, ++number) {
        socket.Send(MakePacket(60 + number % 1400, number));
      }
      socket.ReceiveNumbers(1, absl::Milliseconds(1));
    }
  }

  // Somebody who looks at everything all the time, as a monitoring agent does.
  void RunReader() {
    while (!stop_) {
      EXPECT_NE(datapath_->DescribePool(), "");
      datapath_->DescribePorts("");
      absl::SleepFor(absl::Milliseconds(2));
    }
  }

  void Step(std::mt19937& random) {
    const int i = static_cast<int>(random() % kPorts);
    const PortOptions options = {
        .mode = random() % 3 == 0 ? std::optional(XdpMode::kGeneric) : std::nullopt,
        .n_rxq = 1 + static_cast<uint32_t>(random() % 2),
        .n_rxq_desc = 64u << random() % 4,
        .need_wakeup = random() % 4 != 0};
    if (ports_[i] == nullptr) {
      Port* opened = Open(Name("p", i), options);
      absl::MutexLock lock(&pause_);
      ports_[i] = opened;
    } else if (random() % 3 == 0) {
      absl::MutexLock lock(&pause_);
      EXPECT_OK(ports_[i]->Prepare(options));
      EXPECT_OK(ports_[i]->Apply());
    } else {
      Port* closed;
      {
        absl::MutexLock lock(&pause_);
        closed = std::exchange(ports_[i], nullptr);
      }
      Close(closed);
    }
  }

  std::atomic<bool> stop_{false};
  absl::Mutex pause_;  // Held while packets are moved; the switch pauses while ports change.
  std::array<Port*, kPorts> ports_ = {};
  size_t received_ = 0;
};

TEST_F(ChurnTest, TwoHundredChangesUnderTrafficLoseNoFrame) {
  std::vector<std::thread> threads;
  threads.emplace_back([this] { RunSwitch(); });
  threads.emplace_back([this] { RunReader(); });
  for (int i = 0; i < kPorts; ++i) threads.emplace_back([this, i] { RunContainer(i); });
  std::mt19937 random(20241130);
  for (int step = 0; step < kSteps && !HasFailure(); ++step) Step(random);
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(received_, 100u) << "hardly any traffic: the test has shown little";
  for (Port* port : ports_) {
    if (port != nullptr) port->Poll();
  }
  ExpectAllFramesConserved();
  for (Port* port : ports_) {
    if (port != nullptr) Close(port);
  }
  ExpectAllFramesConserved();
  EXPECT_EQ(Pool("reserved"), 0u);
  EXPECT_EQ(datapath_->umem().ledger().Count().pool, kFrames);
}

TEST_F(ChurnTest, TheFirstPortIsNotSpecial) {
  for (int round = 0; round < 5; ++round) {
    Port* first = Open("p0");
    Port* second = Open("p1");
    ASSERT_TRUE(first && second);
    Close(first);
    PacketSocket socket(container(), "c1");
    ASSERT_TRUE(socket.Send(MakePacket(100, 1)));
    bool received = false;
    EXPECT_TRUE(WaitFor([&] {
      received |= Forward(*second->queue(0), *second->queue(0), 1, absl::ZeroDuration()) > 0;
      return received;
    }));
    EXPECT_EQ(socket.ReceiveNumbers(1), std::vector<uint32_t>{1});
    Close(second);
  }
  ExpectAllFramesConserved();
}

}  // namespace
}  // namespace afxdp::testing

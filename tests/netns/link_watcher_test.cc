// SPDX-License-Identifier: Apache-2.0
#include "datapath/xdp/link_watcher.h"

#include <linux/if.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/synchronization/mutex.h"
#include "tests/netns/netns_test.h"

namespace afxdp::testing {
namespace {

// Keeps what it is told.
class Recorder : public LinkListener {
 public:
  void OnLinkChanged(const Device& device) override {
    {
      absl::MutexLock lock(&mutex_);
      changed_.push_back(device);
    }
    if (hold_.exchange(false)) {
      held_ = true;
      WaitFor([this] { return release_.load(); }, absl::InfiniteDuration());
    }
  }
  void OnLinkRemoved(int ifindex) override {
    absl::MutexLock lock(&mutex_);
    removed_.push_back(ifindex);
  }
  void OnLinksUnknown() override { ++unknown_; }
  void OnTick() override { ++ticks_; }

  bool SawChange(const std::function<bool(const Device&)>& such) {
    absl::MutexLock lock(&mutex_);
    return absl::c_any_of(changed_, such);
  }
  bool SawRemoval(int ifindex) {
    absl::MutexLock lock(&mutex_);
    return absl::c_linear_search(removed_, ifindex);
  }
  size_t changes() {
    absl::MutexLock lock(&mutex_);
    return changed_.size();
  }
  // The next change keeps the watcher's thread until it is released.
  void HoldAtNextChange() { hold_ = true; }
  bool held() const { return held_; }
  void Release() { release_ = true; }

  std::atomic<int> unknown_{0};
  std::atomic<int> ticks_{0};

 private:
  std::atomic<bool> hold_{false};
  std::atomic<bool> held_{false};
  std::atomic<bool> release_{false};
  absl::Mutex mutex_;
  std::vector<Device> changed_;
  std::vector<int> removed_;
};

class LinkWatcherTest : public NetnsTest {
 protected:
  void SetUp() override {
    with_datapath_ = false;
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    auto watcher = LinkWatcher::Start();
    ASSERT_OK(watcher);
    watcher_ = *std::move(watcher);
    watcher_->Subscribe(&recorder_);
  }
  void TearDown() override {
    if (watcher_ != nullptr) watcher_->Unsubscribe(&recorder_);
    watcher_.reset();
    NetnsTest::TearDown();
  }

  Recorder recorder_;
  std::unique_ptr<LinkWatcher> watcher_;
};

TEST_F(LinkWatcherTest, TellsOfNewChangedAndRemovedLinks) {
  MakeVeth("p0", "c0", container());
  const int ifindex = IfIndex("p0");
  EXPECT_TRUE(WaitFor([&] {
    return recorder_.SawChange([&](const Device& d) {
      return d.name == "p0" && d.ifindex == ifindex && d.link_up() && d.kind == "veth";
    });
  }));
  Command("ip link set p0 mtu 1300");
  EXPECT_TRUE(
      WaitFor([&] { return recorder_.SawChange([](const Device& d) { return d.mtu == 1300; }); }));
  Command("ip link set p0 down");
  EXPECT_TRUE(WaitFor([&] {
    return recorder_.SawChange(
        [&](const Device& d) { return d.mtu == 1300 && !(d.flags & IFF_UP); });
  }));
  Command("ip link set p0 name p0b");
  EXPECT_TRUE(WaitFor(
      [&] { return recorder_.SawChange([](const Device& d) { return d.name == "p0b"; }); }));
  EXPECT_FALSE(recorder_.SawRemoval(ifindex));
  Command("ip link del p0b");
  EXPECT_TRUE(WaitFor([&] { return recorder_.SawRemoval(ifindex); }));
}

TEST_F(LinkWatcherTest, TellsOfAPeerThatGoesDown) {
  MakeVeth("p0", "c0", container());
  EXPECT_TRUE(WaitFor([&] {
    return recorder_.SawChange([](const Device& d) { return d.name == "p0" && d.link_up(); });
  }));
  const InNamespace inside(container());
  Command("ip link set c0 down");
  EXPECT_TRUE(WaitFor([&] {
    return recorder_.SawChange([](const Device& d) {
      return d.name == "p0" && (d.flags & IFF_UP) && !(d.flags & IFF_LOWER_UP);
    });
  }));
}

TEST_F(LinkWatcherTest, ALinkThatMovesAwayIsRemoved) {
  MakeVeth("p0", "c0", container());
  const int ifindex = IfIndex("p0");
  Command("ip link set p0 netns " + container().path());
  EXPECT_TRUE(WaitFor([&] { return recorder_.SawRemoval(ifindex); }));
}

TEST_F(LinkWatcherTest, ALinkThatLeavesABridgeIsStillThere) {
  if (TryCommand("ip link add br0 type bridge").status != 0) {
    GTEST_SKIP() << "this kernel has no bridges";
  }
  MakeVeth("p0", "c0", container());
  const int ifindex = IfIndex("p0");
  Command("ip link set p0 master br0 && ip link set p0 nomaster && ip link set p0 mtu 1301");
  EXPECT_TRUE(
      WaitFor([&] { return recorder_.SawChange([](const Device& d) { return d.mtu == 1301; }); }));
  EXPECT_FALSE(recorder_.SawRemoval(ifindex));
}

TEST_F(LinkWatcherTest, TicksWithoutAnyEvent) {
  EXPECT_TRUE(WaitFor([&] { return recorder_.ticks_ >= 2; }));
}

TEST_F(LinkWatcherTest, AfterUnsubscribingNothingIsToldAnyMore) {
  MakeVeth("p0", "c0", container());
  EXPECT_TRUE(WaitFor([&] { return recorder_.changes() > 0; }));
  Recorder other;
  watcher_->Subscribe(&other);
  watcher_->Unsubscribe(&recorder_);
  const size_t before = recorder_.changes();
  Command("ip link set p0 mtu 1302");
  EXPECT_TRUE(
      WaitFor([&] { return other.SawChange([](const Device& d) { return d.mtu == 1302; }); }));
  EXPECT_EQ(recorder_.changes(), before);
  watcher_->Unsubscribe(&other);
}

TEST_F(LinkWatcherTest, LostNoticesAreOwnedUpTo) {
  MakeVeth("p0", "c0", container());
  EXPECT_TRUE(WaitFor([&] { return recorder_.changes() > 0; }));
  recorder_.HoldAtNextChange();
  Command("ip link set p0 mtu 1303");
  EXPECT_TRUE(WaitFor([&] { return recorder_.held(); }));
  // More than the socket's buffer holds, each over a kilobyte in it.
  Command(
      "for i in $(seq 400); do echo link set p0 mtu $((1000 + i)); done | ip -batch - ; "
      "ip link set p0 mtu 1400");
  recorder_.Release();
  EXPECT_TRUE(WaitFor([&] { return recorder_.unknown_ > 0; }));
  // And it goes on from there.
  Command("ip link set p0 mtu 1304");
  EXPECT_TRUE(
      WaitFor([&] { return recorder_.SawChange([](const Device& d) { return d.mtu == 1304; }); }));
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
#include "datapath/port/retry_watch.h"

#include <net/if.h>

#include <algorithm>
#include <utility>

#include "datapath/xdp/attachment.h"
#include "datapath/xsk/queue_probe.h"

namespace afxdp {

RetryWatch::RetryWatch(LinkWatcher* watcher, std::function<void()> retry)
    : watcher_(watcher), retry_(std::move(retry)) {
  watcher_->Subscribe(this);
}

RetryWatch::~RetryWatch() { watcher_->Unsubscribe(this); }

void RetryWatch::Add(absl::string_view name, const PortOptions& options) {
  Remove(name);
  absl::MutexLock lock(&mutex_);
  wanted_.push_back({std::string(name), options.start_queue, options.n_rxq});
}

void RetryWatch::Remove(absl::string_view name) {
  absl::MutexLock lock(&mutex_);
  wanted_.erase(std::remove_if(wanted_.begin(), wanted_.end(),
                               [&](const Wanted& wanted) { return wanted.name == name; }),
                wanted_.end());
}

bool RetryWatch::Has(absl::string_view name) {
  absl::MutexLock lock(&mutex_);
  return std::any_of(wanted_.begin(), wanted_.end(),
                     [&](const Wanted& wanted) { return wanted.name == name; });
}

bool RetryWatch::IsOver(const Wanted& wanted) {
  const int ifindex = static_cast<int>(if_nametoindex(wanted.name.c_str()));
  // A device that comes or changes is told by rtnetlink, to whoever adds ports.
  if (ifindex == 0) return true;
  if (!CheckNoForeignProgram(ifindex).ok()) return false;
  for (uint32_t i = 0; i < wanted.queues; ++i) {
    if (!QueueIsFree({.ifindex = ifindex, .queue = wanted.first_queue + i})) return false;
  }
  return true;
}

void RetryWatch::OnTick() {
  bool over = false;
  {
    absl::MutexLock lock(&mutex_);
    const size_t before = wanted_.size();
    wanted_.erase(std::remove_if(wanted_.begin(), wanted_.end(), IsOver), wanted_.end());
    over = wanted_.size() < before;
  }
  if (over) retry_();
}

}  // namespace afxdp

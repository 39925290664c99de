// SPDX-License-Identifier: Apache-2.0
//
// RetryWatch: devices that could not be opened because somebody else had them, and the moment when
// that has passed.
//
// A queue that another socket holds, or a device with another XDP program, becomes free without any
// event.  So this looks once a second, and says so once.
#ifndef DATAPATH_PORT_RETRY_WATCH_H_
#define DATAPATH_PORT_RETRY_WATCH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "datapath/port/options.h"
#include "datapath/xdp/link_watcher.h"

namespace afxdp {

// Any thread.
class RetryWatch : private LinkListener {
 public:
  // `retry` is called on the watcher's thread when a device that is waited for has become free, and
  // must not call back.
  RetryWatch(LinkWatcher* watcher, std::function<void()> retry);
  ~RetryWatch() override;

  RetryWatch(const RetryWatch&) = delete;
  RetryWatch& operator=(const RetryWatch&) = delete;

  // Waits for device `name` and those of its queues that `options` wants.
  void Add(absl::string_view name, const PortOptions& options);
  // Not any more: the device has been opened.
  void Remove(absl::string_view name);
  // Whether `name` is waited for.
  bool Has(absl::string_view name);

 private:
  struct Wanted {
    std::string name;
    uint32_t first_queue;
    uint32_t queues;
  };

  // Whether there is nothing to wait for: the device is free, or gone.
  static bool IsOver(const Wanted& wanted);

  void OnLinkChanged(const Device&) override {}
  void OnLinkRemoved(int) override {}
  void OnLinksUnknown() override {}
  void OnTick() override;

  LinkWatcher* const watcher_;
  const std::function<void()> retry_;
  absl::Mutex mutex_;
  std::vector<Wanted> wanted_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace afxdp

#endif  // DATAPATH_PORT_RETRY_WATCH_H_

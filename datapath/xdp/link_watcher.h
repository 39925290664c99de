// SPDX-License-Identifier: Apache-2.0
//
// LinkWatcher: one thread that listens for changes of network devices and tells those concerned.
#ifndef DATAPATH_XDP_LINK_WATCHER_H_
#define DATAPATH_XDP_LINK_WATCHER_H_

#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "datapath/base/netlink.h"
#include "datapath/base/unique_fd.h"
#include "datapath/xdp/device.h"

namespace afxdp {

// Called on the watcher's thread.
class LinkListener {
 public:
  virtual ~LinkListener() = default;

  // Device `device` has changed.  Only what ParseLink() finds is set.
  virtual void OnLinkChanged(const Device& device) = 0;
  // The device is gone from this network namespace.
  virtual void OnLinkRemoved(int ifindex) = 0;
  // Notices were lost: look for yourself.
  virtual void OnLinksUnknown() = 0;
  // About every second: look after what sends no event.
  virtual void OnTick() = 0;
};

// Any thread, but not from within a listener.
class LinkWatcher {
 public:
  // Watches the calling thread's network namespace.
  static absl::StatusOr<std::unique_ptr<LinkWatcher>> Start();
  ~LinkWatcher();

  LinkWatcher(const LinkWatcher&) = delete;
  LinkWatcher& operator=(const LinkWatcher&) = delete;

  void Subscribe(LinkListener* listener);
  // On return `listener` is not being called and will not be again.
  void Unsubscribe(LinkListener* listener);

 private:
  LinkWatcher(NetlinkSocket socket, UniqueFd stop);

  void Run();
  void Dispatch(const nlmsghdr* message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  NetlinkSocket socket_;
  UniqueFd stop_;  // An eventfd.
  absl::Mutex mutex_;
  std::vector<LinkListener*> listeners_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace afxdp

#endif  // DATAPATH_XDP_LINK_WATCHER_H_

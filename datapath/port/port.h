// SPDX-License-Identifier: Apache-2.0
//
// Port: one network device with its XDP program and its queues.
//
//   absl::StatusOr<std::unique_ptr<Port>> port = Port::Open(services, "veth0", options, callbacks);
//   Queue* queue = (*port)->queue(0);
//
// Ports share memory and nothing else: none is special, and each has its own mode and lifetime.
#ifndef DATAPATH_PORT_PORT_H_
#define DATAPATH_PORT_PORT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "datapath/port/options.h"
#include "datapath/port/port_report.h"
#include "datapath/umem/admission.h"
#include "datapath/umem/umem.h"
#include "datapath/xdp/attachment.h"
#include "datapath/xdp/device.h"
#include "datapath/xdp/link_watcher.h"
#include "datapath/xdp/program.h"
#include "datapath/xsk/quarantine.h"
#include "datapath/xsk/queue.h"

namespace afxdp {

// What all ports use together.  Must outlive them.
struct PortServices {
  Umem* umem;
  Admission* admission;
  Quarantine* quarantine;
  LinkWatcher* watcher;
};

// Called from the link watcher's thread.  Must not call the port.
struct PortCallbacks {
  // Apply() is needed: the kernel has abandoned a queue and its device is back.
  std::function<void()> wants_reconfigure;
  // Something in Report() changed.
  std::function<void()> status_changed;
};

class Port : private LinkListener {
 public:
  // Takes device `name` of the calling thread's network namespace into use.  Whatever fails,
  // nothing is left behind.
  static absl::StatusOr<std::unique_ptr<Port>> Open(const PortServices& services,
                                                    const std::string& name,
                                                    const PortOptions& options,
                                                    PortCallbacks callbacks,
                                                    absl::Duration patience = kPatience);

  // How long to wait, over all queues, for device queues that another socket still holds.  Normally
  // it takes 16 to 70 ms after the other's close(); a queue that is held on purpose never becomes
  // free.  Whoever waits here keeps Open vSwitch's main thread.
  static constexpr absl::Duration kPatience = absl::Seconds(1);
  // Does not wait: the quarantine closes the sockets.
  ~Port() override;

  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // Checks what Apply(`options`) would do as far as can be known without doing it.  True when there
  // is something to do, false when the port is already so.  NOT_FOUND when the device is gone, or
  // another one has its name.  May run beside the hot path.
  absl::StatusOr<bool> Prepare(const PortOptions& options);

  // Makes the port what the last successful Prepare() said: closes, opens and re-attaches only what
  // differs, and replaces queues that the kernel has abandoned.  No thread may be in a queue of
  // this port.  After an error the port may have lost queues; the next Apply() goes on from there.
  absl::Status Apply();

  // The queues, stable between calls of Apply().
  uint32_t queue_count() const { return static_cast<uint32_t>(queues_.size()); }
  Queue* queue(uint32_t index) const { return queues_[index].get(); }

  const std::string& name() const { return name_; }

  // Everything there is to tell about the port.  May run beside the hot path.
  PortReport Report() const;

  // Takes back sent frames on all queues.
  void Poll() const;

 private:
  // What is left of the queues that one device queue has had so far.
  struct QueueHistory {
    std::shared_ptr<QueueCounters> counters = std::make_shared<QueueCounters>();
    KernelStatistics kernel;     // Of sockets that are closed.
    uint64_t generic_drops = 0;  // Of those, receive drops in generic mode.
  };

  Port(const PortServices& services, const Device& device, RedirectProgram program,
       PortCallbacks callbacks);

  absl::Status Configure(const PortOptions& options, absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TryMode(XdpMode mode, const PortOptions& options, absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AttachFor(XdpMode mode) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SetQueues(XdpMode mode, const PortOptions& options, absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CloseQueue(std::unique_ptr<Queue> queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What `options` would take, and what the queues that there are have taken.
  uint32_t FramesNeeded(const PortOptions& options) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  uint32_t FramesPromised() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  bool HasAbandonedQueue() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  void KeepAttached() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void OnLinkChanged(const Device& device) override;
  void OnLinkRemoved(int ifindex) override;
  void OnLinksUnknown() override;
  void OnTick() override;

  const PortServices services_;
  const std::string name_;
  const int ifindex_;
  const PortCallbacks callbacks_;

  std::atomic<bool> link_up_;

  // Guards the control path against itself: set-up on one side, the watcher and reports on the
  // other.  The hot path does not take it.
  mutable absl::Mutex mutex_;
  Device device_ ABSL_GUARDED_BY(mutex_);
  RedirectProgram program_ ABSL_GUARDED_BY(mutex_);
  std::optional<Attachment> attachment_ ABSL_GUARDED_BY(mutex_);
  std::optional<XdpMode> mode_ ABSL_GUARDED_BY(mutex_);  // In use.
  std::vector<ModeRefusal> refusals_ ABSL_GUARDED_BY(mutex_);
  PortOptions options_ ABSL_GUARDED_BY(mutex_);
  PortOptions wanted_ ABSL_GUARDED_BY(mutex_);
  bool removed_ ABSL_GUARDED_BY(mutex_) = false;
  bool displaced_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<uint32_t, QueueHistory> history_ ABSL_GUARDED_BY(mutex_);
  // Changed under the mutex, and only while no thread is in the hot path.
  std::vector<std::unique_ptr<Queue>> queues_;
};

}  // namespace afxdp

#endif  // DATAPATH_PORT_PORT_H_

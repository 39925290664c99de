// SPDX-License-Identifier: Apache-2.0
//
// Quarantine: where sockets go to be closed, and their frames wait until the kernel lets go of
// them.
//
// Closing an XSK is asynchronous: close() returns after 5 to 15 ms, the device queue is free later
// (16 to 70 ms; seconds when a container's qdisc holds packets that point into our frames), and
// until then a zero-copy device may still write into frames of the fill ring.  So a frame of a dead
// queue goes back to the pool only when the kernel says that the queue is free.
//
// A background thread does it; Add() never waits.
#ifndef DATAPATH_XSK_QUARANTINE_H_
#define DATAPATH_XSK_QUARANTINE_H_

#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "datapath/umem/admission.h"
#include "datapath/umem/umem.h"
#include "datapath/xsk/socket.h"

namespace afxdp {

// Any thread.
class Quarantine {
 public:
  explicit Quarantine(Umem* umem);
  // Waits until all sockets are closed and their frames are back.
  ~Quarantine();

  Quarantine(const Quarantine&) = delete;
  Quarantine& operator=(const Quarantine&) = delete;

  // Takes over a socket that was bound to `where` and whose frames the ledger knows as `id`'s.
  // `id` and `promise` end when the frames are back.
  void Add(XskSocket socket, const DeviceQueue& where, XskSocket::Copying copying, QueueId id,
           FramePromise promise);

  // Closes a socket that was never bound, or in vain: no device uses its frames, so they are back
  // and `id` has ended on return.  In particular it does not wait for whoever holds the queue.
  void Discard(XskSocket socket, QueueId id);

  // Waits until no socket of ours holds `where`, at most until `deadline`.
  bool WaitUntilFree(const DeviceQueue& where, absl::Time deadline);

  // A number for a new queue, that no queue has, alive or in here.
  absl::StatusOr<QueueId> AllocateId();

  // The queues in here, for those who count frames.
  std::vector<QueueId> Ids() const;

 private:
  struct Patient {
    DeviceQueue where;
    XskSocket::Copying copying;
    QueueId id;
    FramePromise promise;
    absl::Time closed = absl::InfiniteFuture();
  };
  struct Arrival {
    XskSocket socket;
    QueueId id;
  };

  void Run();
  void CloseAll(std::vector<Arrival> arrivals);
  void ReleaseFree();
  void TakeFramesBack(QueueId id);
  static bool LetGo(const DeviceQueue& where, XskSocket::Copying copying, absl::Time closed);
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return !arrivals_.empty() || (stop_ && patients_.empty());
  }

  Umem* const umem_;

  mutable absl::Mutex mutex_;
  std::vector<Arrival> arrivals_ ABSL_GUARDED_BY(mutex_);
  std::vector<Patient> patients_ ABSL_GUARDED_BY(mutex_);
  std::vector<bool> id_in_use_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace afxdp

#endif  // DATAPATH_XSK_QUARANTINE_H_

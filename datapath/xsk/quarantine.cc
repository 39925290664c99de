// SPDX-License-Identifier: Apache-2.0
#include "datapath/xsk/quarantine.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "datapath/base/errno_status.h"
#include "datapath/base/thread.h"
#include "datapath/xsk/queue_probe.h"

namespace afxdp {
namespace {

// How often the kernel is asked whether a queue is free; it sends no notice of that.
constexpr absl::Duration kProbeInterval = absl::Milliseconds(4);

// After this the frames of a copy-mode socket come back though its queue is not free: it may be
// another program's by now.  Nothing is received into them after close() (kernel: xsk_release() in
// net/xdp/xsk.c unbinds and waits for a grace period); what may still point to them are sent
// packets of the few drivers that send without copying, and those lie in a queue for less than
// this.
constexpr absl::Duration kCopyPatience = absl::Seconds(10);

// Sockets that are closed side by side.
constexpr size_t kClosers = 16;

}  // namespace

Quarantine::Quarantine(Umem* umem)
    : umem_(umem), thread_(StartThread("afxdp-close", [this] { Run(); })) {}

Quarantine::~Quarantine() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void Quarantine::Add(XskSocket socket, const DeviceQueue& where, XskSocket::Copying copying,
                     QueueId id, FramePromise promise) {
  promise.SetReturning();
  absl::MutexLock lock(&mutex_);
  patients_.push_back({where, copying, id, std::move(promise)});
  arrivals_.push_back({std::move(socket), id});
}

void Quarantine::Discard(XskSocket socket, QueueId id) {
  socket.Close();
  TakeFramesBack(id);
  absl::MutexLock lock(&mutex_);
  id_in_use_[id] = false;
}

bool Quarantine::WaitUntilFree(const DeviceQueue& where, absl::Time deadline) {
  const auto free = [this, &where]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return absl::c_none_of(patients_, [&](const Patient& p) { return p.where == where; });
  };
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithDeadline(absl::Condition(&free), deadline);
}

absl::StatusOr<QueueId> Quarantine::AllocateId() {
  absl::MutexLock lock(&mutex_);
  const auto unused = absl::c_find(id_in_use_, false);
  const auto id = static_cast<size_t>(unused - id_in_use_.begin());
  if (id >= kMaxQueueIds) {
    return ErrorWithErrno(ENOSPC, absl::StrCat("more than ", kMaxQueueIds, " queues"));
  }
  if (unused == id_in_use_.end()) id_in_use_.push_back(false);
  id_in_use_[id] = true;
  return static_cast<QueueId>(id);
}

std::vector<QueueId> Quarantine::Ids() const {
  absl::MutexLock lock(&mutex_);
  std::vector<QueueId> ids;
  for (const Patient& patient : patients_) ids.push_back(patient.id);
  return ids;
}

void Quarantine::Run() {
  for (;;) {
    std::vector<Arrival> arrivals;
    bool stop = false;
    {
      absl::MutexLock lock(&mutex_);
      const absl::Condition work(this, &Quarantine::HasWork);
      if (patients_.empty()) {
        mutex_.Await(work);
      } else {
        mutex_.AwaitWithTimeout(work, kProbeInterval);
      }
      for (Arrival& arrival : arrivals_) arrivals.push_back(std::move(arrival));
      arrivals_.clear();
      stop = stop_ && patients_.empty();
    }
    if (stop) return;
    CloseAll(std::move(arrivals));
    ReleaseFree();
  }
}

// Closes the sockets side by side: each close() waits for a grace period of its own, and 64 of them
// take 777 ms one after the other but 14 ms in threads.
void Quarantine::CloseAll(std::vector<Arrival> arrivals) {
  std::atomic<size_t> next{0};
  const auto close_some = [&] {
    for (size_t i = next++; i < arrivals.size(); i = next++) arrivals[i].socket.Close();
  };
  std::vector<std::thread> helpers;
  while (helpers.size() + 1 < std::min(arrivals.size(), kClosers)) {
    std::optional<std::thread> helper = TryStartThread("afxdp-close", close_some);
    if (!helper) break;  // No more threads to be had: this one does it alone.
    helpers.push_back(*std::move(helper));
  }
  close_some();
  for (std::thread& helper : helpers) helper.join();

  absl::MutexLock lock(&mutex_);
  for (const Arrival& arrival : arrivals) {
    absl::c_find_if(patients_, [&](const Patient& p) { return p.id == arrival.id; })->closed =
        absl::Now();
  }
}

void Quarantine::TakeFramesBack(QueueId id) {
  for (const FrameIndex frame : umem_->ledger().FramesOf(id)) {
    umem_->pool().GiveToDepot(umem_->ledger().Owner(frame), &frame, 1);
  }
}

bool Quarantine::LetGo(const DeviceQueue& where, XskSocket::Copying copying, absl::Time closed) {
  if (copying == XskSocket::Copying::kCopy && absl::Now() - closed > kCopyPatience) return true;
  return QueueIsFree(where);
}

void Quarantine::ReleaseFree() {
  struct Closed {
    DeviceQueue where;
    XskSocket::Copying copying;
    QueueId id;
    absl::Time since;
  };
  std::vector<Closed> closed;
  {
    absl::MutexLock lock(&mutex_);
    for (const Patient& patient : patients_) {
      if (patient.closed == absl::InfiniteFuture()) continue;
      closed.push_back({patient.where, patient.copying, patient.id, patient.closed});
    }
  }
  for (const Closed& patient : closed) {
    if (!LetGo(patient.where, patient.copying, patient.since)) continue;
    TakeFramesBack(patient.id);
    absl::MutexLock lock(&mutex_);
    patients_.erase(
        absl::c_find_if(patients_, [&](const Patient& p) { return p.id == patient.id; }));
    id_in_use_[patient.id] = false;
  }
}

}  // namespace afxdp

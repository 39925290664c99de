// SPDX-License-Identifier: Apache-2.0
#include "datapath/xsk/queue.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "datapath/base/errno_status.h"
#include "datapath/xsk/queue_probe.h"

namespace afxdp {
namespace {

constexpr absl::Duration kBusyRetry = absl::Milliseconds(5);

}  // namespace

absl::StatusOr<std::unique_ptr<Queue>> Queue::Open(Umem* umem, Admission* admission,
                                                   Quarantine* quarantine,
                                                   const QueueConfig& config,
                                                   const std::atomic<bool>* link_up,
                                                   const std::shared_ptr<QueueCounters>& counters,
                                                   absl::Time deadline) {
  absl::StatusOr<FramePromise> promise = admission->Promise(config.FramesNeeded(), deadline);
  if (!promise.ok()) return promise.status();
  quarantine->WaitUntilFree(config.where, deadline);
  for (;;) {
    // Ask before trying: a socket takes milliseconds to make, and each failed bind spoils one.
    while (QueueIsKnownHeld(config.where) && absl::Now() < deadline) absl::SleepFor(kBusyRetry);
    absl::StatusOr<XskSocket> socket = XskSocket::Create(umem->region(), config.rings);
    if (!socket.ok()) return socket.status();
    absl::StatusOr<QueueId> id = quarantine->AllocateId();
    if (!id.ok()) return id.status();
    std::unique_ptr<Queue> queue(new Queue(umem, quarantine, config, *id, *std::move(promise),
                                           *std::move(socket), link_up, counters));
    const absl::Status bound = queue->FillAndBind();
    if (bound.ok()) return queue;
    if (ErrnoOf(bound) != EBUSY || absl::Now() >= deadline) return bound;
    promise = std::move(queue->promise_);
    queue.reset();
    absl::SleepFor(kBusyRetry);
  }
}

absl::Status Queue::FillAndBind() {
  // Fill before binding: from then on packets may come.
  if (!receiver_->Refill()) {
    return ErrorWithErrno(ENOMEM, "the pool has no frames left to receive into");
  }
  AFXDP_RETURN_IF_ERROR(socket_->Bind(config_.where, config_.copying, config_.need_wakeup));
  bound_ = true;
  return absl::OkStatus();
}

Queue::Queue(Umem* umem, Quarantine* quarantine, const QueueConfig& config, QueueId id,
             FramePromise promise, XskSocket socket, const std::atomic<bool>* link_up,
             std::shared_ptr<QueueCounters> counters)
    : quarantine_(quarantine),
      config_(config),
      id_(id),
      promise_(std::move(promise)),
      socket_(std::move(socket)),
      counters_(std::move(counters)) {
  receiver_.emplace(umem, &*socket_, id, &counters_->receive);
  transmitter_.emplace(
      umem, &*socket_,
      Transmitter::Options{.queue = id,
                           .zero_copy = config.copying == XskSocket::Copying::kZeroCopy,
                           .need_wakeup = config.need_wakeup},
      link_up, &counters_->transmit);
}

Queue::~Queue() {
  receiver_.reset();
  transmitter_.reset();
  if (bound_) {
    quarantine_->Add(*std::move(socket_), config_.where, config_.copying, id_, std::move(promise_));
  } else {
    quarantine_->Discard(*std::move(socket_), id_);
  }
}

}  // namespace afxdp

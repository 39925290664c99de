// SPDX-License-Identifier: Apache-2.0
//
// Queue: one device queue as the switch sees it, an XSK with both directions.
//
//   absl::StatusOr<std::unique_ptr<Queue>> queue = Queue::Open(services, config, &link_up,
//   counters); size_t n = (*queue)->Receive(packets, 32);
//
// Made bound and with frames posted, but no packet arrives until its socket is in an XSKMAP.
// Destroying it hands the socket to the quarantine, which closes it and gets its frames back.
#ifndef DATAPATH_XSK_QUEUE_H_
#define DATAPATH_XSK_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "datapath/umem/admission.h"
#include "datapath/umem/umem.h"
#include "datapath/xsk/quarantine.h"
#include "datapath/xsk/queue_counters.h"
#include "datapath/xsk/receiver.h"
#include "datapath/xsk/socket.h"
#include "datapath/xsk/transmitter.h"

namespace afxdp {

struct QueueConfig {
  DeviceQueue where;
  RingSizes rings;
  XskSocket::Copying copying = XskSocket::Copying::kCopy;
  bool need_wakeup = true;

  friend bool operator==(const QueueConfig&, const QueueConfig&) = default;

  // Frames that the rings can hold: those posted for receive and those being sent.
  uint32_t FramesNeeded() const { return rings.fill + rings.tx; }
};

class Queue {
 public:
  // Fails with EBUSY when the device queue has not become free by `deadline`.
  static absl::StatusOr<std::unique_ptr<Queue>> Open(Umem* umem, Admission* admission,
                                                     Quarantine* quarantine,
                                                     const QueueConfig& config,
                                                     const std::atomic<bool>* link_up,
                                                     const std::shared_ptr<QueueCounters>& counters,
                                                     absl::Time deadline);
  ~Queue();

  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // One thread at a time.
  size_t Receive(ReceivedPacket* packets, size_t max) {
    const size_t count = receiver_->Receive(packets, max);
    // Sent frames show only when somebody looks: now, while there is nothing better to do, or when
    // frames are wanted.
    if (count == 0 || receiver_->short_of_frames()) transmitter_->Poll();
    return count;
  }

  // Any thread.
  size_t Transmit(const TransmitPacket* packets, size_t count) {
    return transmitter_->Transmit(packets, count);
  }
  // Takes back frames that have been sent.
  void Poll() { transmitter_->Poll(); }

  // Sent frames are out that Poll() would take back.
  bool busy() const { return transmitter_->busy(); }

  // The kernel has given up on this queue with packets on its ring: it must be replaced.
  bool abandoned() const { return transmitter_->abandoned(); }

  const QueueConfig& config() const { return config_; }
  QueueId id() const { return id_; }
  int fd() const { return socket_->fd(); }
  const QueueCounters& counters() const { return *counters_; }
  absl::StatusOr<KernelStatistics> Statistics() const { return socket_->Statistics(); }

 private:
  Queue(Umem* umem, Quarantine* quarantine, const QueueConfig& config, QueueId id,
        FramePromise promise, XskSocket socket, const std::atomic<bool>* link_up,
        std::shared_ptr<QueueCounters> counters);

  absl::Status FillAndBind();

  Quarantine* const quarantine_;
  const QueueConfig config_;
  const QueueId id_;
  FramePromise promise_;
  std::optional<XskSocket> socket_;
  bool bound_ = false;  // The kernel may know our frames.
  const std::shared_ptr<QueueCounters> counters_;
  std::optional<Receiver> receiver_;
  std::optional<Transmitter> transmitter_;
};

}  // namespace afxdp

#endif  // DATAPATH_XSK_QUEUE_H_

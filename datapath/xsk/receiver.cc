// SPDX-License-Identifier: Apache-2.0
#include "datapath/xsk/receiver.h"

#include <sys/socket.h>

#include <algorithm>

namespace afxdp {
namespace {

// Frames that are posted at a time: enough to spread the cost of publishing, few enough that the
// fill ring never runs far down.
constexpr uint32_t kRefillBatch = 32;

}  // namespace

Receiver::Receiver(Umem* umem, XskSocket* socket, QueueId queue, ReceiveCounters* counters)
    : umem_(umem),
      socket_(socket),
      owner_(FrameOwner::Receive(queue)),
      counters_(counters),
      refill_batch_(std::min(kRefillBatch, socket->fill.size() / 2)) {}

bool Receiver::Refill() {
  while (socket_->fill.size() - posted_ >= refill_batch_) {
    auto slots = socket_->fill.Reserve(refill_batch_);
    if (slots.size() < refill_batch_) return true;  // The kernel has not taken enough yet.
    FrameIndex frames[kRefillBatch];
    const auto got = static_cast<uint32_t>(umem_->pool().Take(owner_, frames, slots.size()));
    for (uint32_t i = 0; i < got; ++i) slots[i] = uint64_t{frames[i]} << kFrameShift;
    slots.Shrink(got);
    slots.Commit();
    posted_ += got;
    short_of_frames_ = got < refill_batch_;
    if (short_of_frames_) {
      counters_->refill_short.Add(1);
      return false;
    }
  }
  return true;
}

size_t Receiver::Receive(ReceivedPacket* packets, size_t max) {
  // 1. Refill before looking: the kernel must never find the fill ring empty while we have frames.
  Refill();

  // 2. Look at what has come.
  auto descriptors = socket_->rx.Peek(static_cast<uint32_t>(max));
  if (!descriptors) {
    if (socket_->fill.NeedsWakeup()) Wake();
    return 0;
  }

  // 3. Start fetching what the caller will read first: header slots and the packets' first lines.
  const Region& region = umem_->region();
  for (uint32_t i = 0; i < descriptors.size(); ++i) {
    const uint64_t address = descriptors[i].addr;
    if (address >= region.size()) [[unlikely]]
      continue;  // Refused in Accept().
    __builtin_prefetch(region.base() + address);
    __builtin_prefetch(umem_->headers().Slot(static_cast<FrameIndex>(address >> kFrameShift)), 1);
  }

  // 4. Take over the frames.
  size_t count = 0;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < descriptors.size(); ++i) {
    if (!Accept(descriptors[i], &packets[count])) [[unlikely]]
      continue;
    bytes += packets[count].length;
    ++count;
  }
  posted_ -= descriptors.size();
  counters_->packets.Add(count);
  counters_->bytes.Add(bytes);

  // 5. Give the slots back.
  descriptors.Release();
  return count;
}

bool Receiver::Accept(const xdp_desc& descriptor, ReceivedPacket* packet) {
  const Region& region = umem_->region();
  const FrameIndex frame =
      static_cast<FrameIndex>(std::min<uint64_t>(descriptor.addr >> kFrameShift, UINT32_MAX));
  if (!umem_->ledger().Transfer(frame, owner_, FrameOwner::Held())) [[unlikely]] {
    counters_->drop_invalid.Add(1);
    return false;
  }
  const uint32_t offset = descriptor.addr & (kFrameSize - 1);
  if (descriptor.len == 0 || descriptor.len > kFrameSize - offset) [[unlikely]] {
    umem_->pool().Give(FrameOwner::Held(), &frame, 1);
    counters_->drop_invalid.Add(1);
    return false;
  }
  packet->data = region.base() + descriptor.addr;
  packet->header = umem_->headers().Slot(frame);
  packet->length = descriptor.len;
  return true;
}

void Receiver::Wake() {
  counters_->wakeups.Add(1);
  // Makes the driver's NAPI look at the fill ring (kernel: xsk_recvmsg() in net/xdp/xsk.c).  An
  // error means that the device is down or gone, which the link watcher tells.
  recvfrom(socket_->fd(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
}

}  // namespace afxdp

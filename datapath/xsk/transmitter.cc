// SPDX-License-Identifier: Apache-2.0
#include "datapath/xsk/transmitter.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace afxdp {
namespace {

// Completions that are handled at a time.
constexpr uint32_t kReclaimBatch = 64;

}  // namespace

Transmitter::Transmitter(Umem* umem, XskSocket* socket, const Options& options,
                         const std::atomic<bool>* link_up, TransmitCounters* counters)
    : umem_(umem),
      socket_(socket),
      options_(options),
      owner_(FrameOwner::Transmit(options.queue)),
      link_up_(link_up),
      counters_(counters) {}

size_t Transmitter::Transmit(const TransmitPacket* packets, size_t count) {
  absl::MutexLock lock(&mutex_);
  if (!link_up_->load(std::memory_order_relaxed) || abandoned()) [[unlikely]] {
    Drop(packets, count, &counters_->drop_link_down);
    return 0;
  }
  size_t sent = 0;
  size_t done = 0;
  while (done < count) {
    size_t taken = 0;
    sent += SendSome(packets + done, count - done, &taken);
    done += taken;
    if (taken == 0) [[unlikely]] {
      // The ring is full, and neither reclaiming nor kicking made room.
      Drop(packets + done, count - done, &counters_->drop_no_descriptor);
      break;
    }
  }
  return sent;
}

// Puts as many packets as there is room for onto the ring and kicks.  `taken` are those dealt with,
// by sending or dropping; the result are those sent.
size_t Transmitter::SendSome(const TransmitPacket* packets, size_t count, size_t* taken) {
  // 1. Room.
  auto slots = socket_->tx.Reserve(MakeRoom(count));

  // 2. Write the descriptors.  A packet that cannot be sent takes no slot.
  Tally tally;
  uint32_t used = 0;
  size_t next = 0;
  while (next < count && used < slots.size()) {
    const TransmitPacket& packet = packets[next++];
    if (!Place(packet, &slots[used])) [[unlikely]]
      continue;
    ++tally.packets[static_cast<size_t>(packet.kind)];
    tally.bytes += packet.length;
    ++used;
  }
  *taken = next;
  slots.Shrink(used);
  slots.Commit();
  outstanding_.store(outstanding_.load(std::memory_order_relaxed) + used,
                     std::memory_order_relaxed);
  Count(tally);

  // 3. Send.
  Kick();
  return used;
}

// Returns how many descriptors may be written, at most `wanted`.  Every packet on the TX ring needs
// a slot on the completion ring later, so what counts is what has not been reclaimed.
uint32_t Transmitter::MakeRoom(size_t wanted) {
  const auto most = static_cast<uint32_t>(std::min<size_t>(wanted, socket_->tx.size()));
  if (Room() < most) Reclaim();
  if (Room() == 0) [[unlikely]] {
    // All that is outstanding waits to be sent: an earlier kick came to nothing.
    Kick();
    Reclaim();
  }
  return std::min(most, Room());
}

bool Transmitter::Place(const TransmitPacket& packet, xdp_desc* descriptor) {
  const bool in_place =
      packet.kind == TransmitKind::kInPlace || packet.kind == TransmitKind::kInPlaceClone;
  if (!(in_place ? PlaceFrame(packet, descriptor) : PlaceCopy(packet, descriptor))) return false;
  descriptor->len = packet.length;
  descriptor->options = 0;
  return true;
}

// The frame that a packet in place is in, by what its sender says and not by its bytes, of which
// there may be none.
FrameIndex Transmitter::FrameOf(const TransmitPacket& packet) const {
  return static_cast<FrameIndex>(
      std::min<uint64_t>(umem_->region().Address(packet.frame) >> kFrameShift, UINT32_MAX));
}

bool Transmitter::PlaceFrame(const TransmitPacket& packet, xdp_desc* descriptor) {
  const FrameIndex frame = FrameOf(packet);
  const uint64_t offset =
      umem_->region().Address(packet.data) - umem_->region().Address(packet.frame);
  if (packet.length < kMinLength || offset >= kFrameSize || packet.length > kFrameSize - offset)
      [[unlikely]] {
    umem_->pool().Give(FrameOwner::Held(), &frame, 1);
    counters_->drop_invalid.Add(1);
    return false;
  }
  if (!umem_->ledger().Transfer(frame, FrameOwner::Held(), owner_)) [[unlikely]] {
    counters_->drop_invalid.Add(1);
    return false;
  }
  descriptor->addr = (uint64_t{frame} << kFrameShift) + offset;
  return true;
}

bool Transmitter::PlaceCopy(const TransmitPacket& packet, xdp_desc* descriptor) {
  if (packet.length < kMinLength || packet.length > kMaxReceiveLength) [[unlikely]] {
    counters_->drop_invalid.Add(1);
    return false;
  }
  FrameIndex frame;
  if (umem_->pool().Take(owner_, &frame, 1) == 0) [[unlikely]] {
    counters_->drop_no_frame.Add(1);
    return false;
  }
  // Where a received packet would lie, with its headroom in front.
  descriptor->addr = (uint64_t{frame} << kFrameShift) + kReceiveHeadroom;
  std::memcpy(umem_->region().base() + descriptor->addr, packet.data, packet.length);
  return true;
}

void Transmitter::Count(const Tally& tally) {
  const auto add = [&](TransmitKind kind, Counter* counter) {
    const uint64_t packets = tally.packets[static_cast<size_t>(kind)];
    if (packets == 0) return;
    counter->Add(packets);
    counters_->packets.Add(packets);
  };
  add(TransmitKind::kInPlace, &counters_->in_place);
  add(TransmitKind::kInPlaceClone, &counters_->copied_clone);
  add(TransmitKind::kCopyForeign, &counters_->copied_foreign);
  add(TransmitKind::kCopyUnfit, &counters_->copied_unfit);
  counters_->bytes.Add(tally.bytes);
}

void Transmitter::Drop(const TransmitPacket* packets, size_t count, Counter* why) {
  for (size_t i = 0; i < count; ++i) {
    const TransmitKind kind = packets[i].kind;
    if (kind != TransmitKind::kInPlace && kind != TransmitKind::kInPlaceClone) continue;
    const FrameIndex frame = static_cast<FrameIndex>(
        std::min<uint64_t>(umem_->region().Address(packets[i].data) >> kFrameShift, UINT32_MAX));
    umem_->pool().Give(FrameOwner::Held(), &frame, 1);
  }
  why->Add(count);
}

void Transmitter::Reclaim() {
  while (auto completions = socket_->completion.Peek(kReclaimBatch)) {
    FrameIndex frames[kReclaimBatch];
    const uint32_t count = completions.size();
    for (uint32_t i = 0; i < count; ++i) {
      // The low bits may differ from what was submitted; the frame is what counts.
      frames[i] =
          static_cast<FrameIndex>(std::min<uint64_t>(completions[i] >> kFrameShift, UINT32_MAX));
    }
    completions.Release();
    const auto given = static_cast<uint32_t>(umem_->pool().Give(owner_, frames, count));
    if (given < count) [[unlikely]]
      counters_->completion_invalid.Add(count - given);
    outstanding_.store(outstanding_.load(std::memory_order_relaxed) - given,
                       std::memory_order_relaxed);
  }
}

void Transmitter::Kick() {
  if (options_.zero_copy) {
    // The device sends by itself once it has been woken.
    if (socket_->tx.Pending() > 0) KickOnce();
    return;
  }
  // In copy mode a call sends at most 32 packets (kernel: TX_BATCH_SIZE in net/xdp/xsk.c) and ends
  // early at one that the device drops (EBUSY).  Each round takes something off the ring or is the
  // last, which bounds the loop; what is left then is kicked again with the next packets or the
  // next idle poll.
  uint32_t pending = socket_->tx.Pending();
  while (pending > 0 && KickOnce()) {
    const uint32_t left = socket_->tx.Pending();
    if (left == pending) break;
    pending = left;
  }
}

// One sendto(), where the kernel asks for it.  False when there is no point in another.
bool Transmitter::KickOnce() {
  if (options_.need_wakeup && !socket_->tx.NeedsWakeup()) return false;
  counters_->kicks.Add(1);
  if (sendto(socket_->fd(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) >= 0) return true;
  switch (errno) {
    case EAGAIN:  // More than one call's worth, or the peer is slower than we are.
      counters_->kick_again.Add(1);
      return true;
    case EBUSY:
      // In copy mode the device dropped the packet at the ring's head, whose frame completes.  In
      // zero-copy mode it is being configured.
      (options_.zero_copy ? counters_->kick_again : counters_->kick_busy).Add(1);
      return true;
    case ENOBUFS:  // The kernel is out of memory; later.
    case ENOMEM:
    case EINTR:
      counters_->kick_error.Add(1);
      return false;
    default:
      // ENETDOWN, ENXIO: the device is down or gone, and the packets stay on the ring (kernel:
      // xsk_check_common() in net/xdp/xsk.c).  A zero-copy driver says so too while it resets,
      // after which it goes on by itself; that it is really down is seen by Poll().
      counters_->kick_error.Add(1);
      if (!options_.zero_copy) abandoned_.store(true, std::memory_order_relaxed);
      return false;
  }
}

// Whether packets are left that the device has not sent.  A zero-copy driver takes them off our
// ring long before it sends them, so there all that has not completed counts.
bool Transmitter::HasUnsent() const {
  if (options_.zero_copy) return outstanding_.load(std::memory_order_relaxed) > 0;
  return socket_->tx.Pending() > 0;
}

void Transmitter::Poll() {
  if (outstanding_.load(std::memory_order_relaxed) == 0) return;
  if (!mutex_.TryLock()) return;
  Reclaim();
  if (!abandoned()) {
    if (!link_up_->load(std::memory_order_relaxed)) {
      if (HasUnsent()) abandoned_.store(true, std::memory_order_relaxed);
    } else if (socket_->tx.Pending() > 0) {
      Kick();
      Reclaim();
    }
  }
  mutex_.Unlock();
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
#include "datapath/port/port.h"

#include <net/if.h>

#include <algorithm>
#include <cerrno>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "datapath/base/errno_status.h"
#include "datapath/base/log.h"
#include "datapath/xsk/queue_probe.h"

namespace afxdp {
namespace {

// Whether a lesser mode can work where one has failed with `status`.  Not when the cause lies with
// the process, the pool or another user of the device.
bool AnotherModeMayHelp(const absl::Status& status) {
  switch (ErrnoOf(status)) {
    case EPERM:
    case EACCES:
    case EEXIST:
    case EBUSY:
    case ENODEV:
    case ENOMEM:
    case ENOBUFS:
    case EMFILE:
    case ENFILE:
      return false;
    default:
      return true;
  }
}

// Spares an attempt that must fail: it would cost a registration of the region, some 12 ms.
absl::Status CheckDriver(XdpMode mode, int ifindex) {
  if (CopyingOf(mode) != XskSocket::Copying::kZeroCopy) return absl::OkStatus();
  const absl::StatusOr<bool> able = DriverHasZeroCopy(ifindex);
  if (!able.ok() || *able) return absl::OkStatus();
  return ErrnoError(EOPNOTSUPP, "the device's driver has no AF_XDP zero-copy");
}

absl::Status AllModesRefused(const std::vector<ModeRefusal>& refusals) {
  const std::string text =
      absl::StrJoin(refusals, "; ", [](std::string* out, const ModeRefusal& refusal) {
        absl::StrAppend(out, "xdp-mode ", XdpModeName(refusal.mode), ": ", refusal.why.message());
      });
  const bool only_one = refusals.size() == 1 && refusals.back().mode != XdpMode::kGeneric;
  return ErrorWithErrno(
      ErrnoOf(refusals.back().why),
      absl::StrCat(text, only_one ? "; xdp-mode=best-effort takes the best that works" : ""));
}

// What the kernel counted on two sockets of one device queue.
KernelStatistics Sum(const KernelStatistics& a, const KernelStatistics& b) {
  return {.rx_dropped = a.rx_dropped + b.rx_dropped,
          .rx_invalid_descs = a.rx_invalid_descs + b.rx_invalid_descs,
          .tx_invalid_descs = a.tx_invalid_descs + b.tx_invalid_descs,
          .rx_ring_full = a.rx_ring_full + b.rx_ring_full,
          .rx_fill_ring_empty_descs = a.rx_fill_ring_empty_descs + b.rx_fill_ring_empty_descs,
          .tx_ring_empty_descs = a.tx_ring_empty_descs + b.tx_ring_empty_descs};
}

// What the kernel could not put into a socket.  In native mode the device counts these as well, in
// generic mode nobody does (measured on veth).
uint64_t ReceiveDrops(const KernelStatistics& kernel) {
  return kernel.rx_dropped + kernel.rx_ring_full;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Port>> Port::Open(const PortServices& services,
                                                 const std::string& name,
                                                 const PortOptions& options,
                                                 PortCallbacks callbacks, absl::Duration patience) {
  absl::StatusOr<Device> device = FindDevice(name);
  if (!device.ok()) return device.status();
  AFXDP_RETURN_IF_ERROR(CheckDevice(*device));
  AFXDP_RETURN_IF_ERROR(CheckQueues(options, *device));
  AFXDP_RETURN_IF_ERROR(CheckNoForeignProgram(device->ifindex));
  absl::StatusOr<RedirectProgram> program = RedirectProgram::Load();
  if (!program.ok()) return program.status();

  std::unique_ptr<Port> port(
      new Port(services, *device, *std::move(program), std::move(callbacks)));
  {
    absl::MutexLock lock(&port->mutex_);
    AFXDP_RETURN_IF_ERROR(services.admission->Check(port->FramesNeeded(options), /*returned=*/0));
    AFXDP_RETURN_IF_ERROR(port->Configure(options, absl::Now() + patience));
    port->wanted_ = options;
  }
  services.watcher->Subscribe(port.get());
  // What changed before we were listening.
  port->OnLinksUnknown();
  return port;
}

Port::Port(const PortServices& services, const Device& device, RedirectProgram program,
           PortCallbacks callbacks)
    : services_(services),
      name_(device.name),
      ifindex_(device.ifindex),
      callbacks_(std::move(callbacks)),
      link_up_(device.link_up()),
      device_(device),
      program_(std::move(program)) {}

Port::~Port() {
  services_.watcher->Unsubscribe(this);
  absl::MutexLock lock(&mutex_);
  // The program first: no packet may look for a socket that is being closed.
  attachment_.reset();
  for (std::unique_ptr<Queue>& queue : queues_) CloseQueue(std::move(queue));
}

absl::StatusOr<bool> Port::Prepare(const PortOptions& options) {
  absl::MutexLock lock(&mutex_);
  if (removed_ || if_nametoindex(name_.c_str()) != static_cast<unsigned int>(ifindex_)) {
    return ErrorWithErrno(ENODEV, "the device that the port was opened on is gone");
  }
  if (options == options_) {
    wanted_ = options;
    return queues_.size() != options_.n_rxq || (HasAbandonedQueue() && link_up_.load());
  }
  absl::StatusOr<Device> device = FindDevice(ifindex_);
  if (!device.ok()) return device.status();
  AFXDP_RETURN_IF_ERROR(CheckDevice(*device));
  AFXDP_RETURN_IF_ERROR(CheckQueues(options, *device));
  AFXDP_RETURN_IF_ERROR(services_.admission->Check(FramesNeeded(options), FramesPromised()));
  wanted_ = options;
  return true;
}

absl::Status Port::Apply() {
  absl::MutexLock lock(&mutex_);
  return Configure(wanted_, absl::Now() + kPatience);
}

absl::Status Port::Configure(const PortOptions& options, absl::Time deadline) {
  // A port that runs keeps its mode unless another is asked for: to try a better one would cost the
  // queues that work.
  const bool keep_mode = mode_ && options.mode == options_.mode;
  const std::vector<XdpMode> modes = keep_mode ? std::vector<XdpMode>{*mode_} : options.Modes();
  std::vector<ModeRefusal> refusals;
  for (const XdpMode mode : modes) {
    absl::Status status = TryMode(mode, options, deadline);
    if (status.ok()) {
      mode_ = mode;
      options_ = options;
      if (!keep_mode) refusals_ = std::move(refusals);
      return status;
    }
    if (!AnotherModeMayHelp(status)) return status;
    refusals.push_back({mode, std::move(status)});
  }
  return AllModesRefused(refusals);
}

// The sockets first, as a bind that fails leaves no trace, while attaching a program changes the
// device's features, of which the kernel sends notice (kernel: veth_xdp_set() in
// drivers/net/veth.c); upon each of these Open vSwitch tries again to add the ports that have
// failed.
absl::Status Port::TryMode(XdpMode mode, const PortOptions& options, absl::Time deadline) {
  AFXDP_RETURN_IF_ERROR(CheckDriver(mode, ifindex_));
  AFXDP_RETURN_IF_ERROR(SetQueues(mode, options, deadline));
  for (const std::unique_ptr<Queue>& queue : queues_) {
    AFXDP_RETURN_IF_ERROR(program_.Connect(queue->config().where.queue, queue->fd()));
  }
  // Last, with the map filled: no packet of a new port finds an empty slot and strays to the stack.
  return AttachFor(mode);
}

absl::Status Port::AttachFor(XdpMode mode) {
  if (attachment_ && attachment_->hook() == HookOf(mode) && attachment_->attached()) {
    return absl::OkStatus();
  }
  attachment_.reset();
  absl::StatusOr<Attachment> attachment = Attachment::Attach(ifindex_, program_.fd(), HookOf(mode));
  if (!attachment.ok()) return attachment.status();
  attachment_ = *std::move(attachment);
  return absl::OkStatus();
}

absl::Status Port::SetQueues(XdpMode mode, const PortOptions& options, absl::Time deadline) {
  // 1. What is wanted, in the order of the port's RX queues.
  std::vector<QueueConfig> wanted;
  for (uint32_t i = 0; i < options.n_rxq; ++i) {
    wanted.push_back({.where = {.ifindex = ifindex_, .queue = options.start_queue + i},
                      .rings = options.Rings(device_),
                      .copying = CopyingOf(mode),
                      .need_wakeup = options.need_wakeup});
  }
  // 2. Keep what is so already, close the rest.
  std::vector<std::unique_ptr<Queue>> kept(wanted.size());
  for (std::unique_ptr<Queue>& queue : queues_) {
    const auto place = absl::c_find(wanted, queue->config());
    if (place != wanted.end() && !queue->abandoned()) {
      kept[static_cast<size_t>(place - wanted.begin())] = std::move(queue);
    } else {
      CloseQueue(std::move(queue));
    }
  }
  queues_.clear();
  // 3. Open what is missing.
  absl::Status status;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (kept[i] == nullptr && status.ok()) {
      absl::StatusOr<std::unique_ptr<Queue>> opened =
          Queue::Open(services_.umem, services_.admission, services_.quarantine, wanted[i],
                      &link_up_, history_[wanted[i].where.queue].counters, deadline);
      if (opened.ok()) {
        kept[i] = *std::move(opened);
      } else {
        status = opened.status();
      }
    }
    if (kept[i] != nullptr) queues_.push_back(std::move(kept[i]));
  }
  return status;
}

void Port::CloseQueue(std::unique_ptr<Queue> queue) {
  const uint32_t number = queue->config().where.queue;
  // The map entry before the socket, so that no packet finds a dying one.
  if (absl::Status status = program_.Disconnect(number); !status.ok()) {
    Log(LogLevel::kDebug, absl::StrCat(name_, ": ", status.message()));
  }
  if (const absl::StatusOr<KernelStatistics> last = queue->Statistics(); last.ok()) {
    history_[number].kernel = Sum(history_[number].kernel, *last);
    if (mode_ == XdpMode::kGeneric) history_[number].generic_drops += ReceiveDrops(*last);
  }
}

uint32_t Port::FramesNeeded(const PortOptions& options) const {
  const QueueConfig config = {.where = {}, .rings = options.Rings(device_)};
  return options.n_rxq * config.FramesNeeded();
}

uint32_t Port::FramesPromised() const {
  uint32_t frames = 0;
  for (const std::unique_ptr<Queue>& queue : queues_) frames += queue->config().FramesNeeded();
  return frames;
}

bool Port::HasAbandonedQueue() const {
  return absl::c_any_of(queues_, [](const auto& queue) { return queue->abandoned(); });
}

void Port::Poll() const {
  absl::MutexLock lock(&mutex_);
  for (const std::unique_ptr<Queue>& queue : queues_) queue->Poll();
}

PortReport Port::Report() const {
  absl::MutexLock lock(&mutex_);
  PortReport report;
  report.device = device_;
  report.link_up = link_up_.load();
  report.displaced = displaced_;
  report.mode = mode_.value_or(XdpMode::kGeneric);
  report.refusals = refusals_;
  report.program = DescribeProgramOf(program_.fd());
  report.options = options_;
  report.rings = options_.Rings(device_);
  for (const auto& [number, history] : history_) {
    report.drops += CountDrops(*history.counters);
    report.drops.receive += history.generic_drops;
  }
  for (const std::unique_ptr<Queue>& queue : queues_) {
    const uint32_t number = queue->config().where.queue;
    const auto past = history_.find(number);
    KernelStatistics kernel = past == history_.end() ? KernelStatistics() : past->second.kernel;
    if (const absl::StatusOr<KernelStatistics> now = queue->Statistics(); now.ok()) {
      kernel = Sum(kernel, *now);
      if (mode_ == XdpMode::kGeneric) report.drops.receive += ReceiveDrops(*now);
    }
    report.queues.push_back({number, queue->id(), NameCounters(queue->counters(), kernel)});
  }
  return report;
}

}  // namespace afxdp

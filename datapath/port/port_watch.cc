// SPDX-License-Identifier: Apache-2.0
//
// The part of Port that runs on the link watcher's thread.
#include "absl/strings/str_cat.h"
#include "datapath/base/errno_status.h"
#include "datapath/base/log.h"
#include "datapath/port/port.h"

namespace afxdp {

void Port::OnLinkChanged(const Device& device) {
  if (device.ifindex != ifindex_) return;
  const bool up = device.link_up();
  bool changed = link_up_.exchange(up) != up;
  bool rebuild = false;
  {
    absl::MutexLock lock(&mutex_);
    if (device.mtu != device_.mtu && device.mtu > MaxMtu()) {
      Log(LogLevel::kWarning,
          absl::StrCat(name_, ": its MTU is now ", device.mtu, "; packets longer than the ",
                       MaxMtu(), " that fit into a frame are lost"));
    }
    changed |= device.mtu != device_.mtu || device.flags != device_.flags;
    device_.mtu = device.mtu;
    device_.flags = device.flags;
    if (!up) {
      // They notice what is left on their rings, even if nobody uses them before the link is back.
      for (const std::unique_ptr<Queue>& queue : queues_) queue->Poll();
    }
    rebuild = up && HasAbandonedQueue();
  }
  if (rebuild) callbacks_.wants_reconfigure();
  if (changed) callbacks_.status_changed();
}

void Port::OnLinkRemoved(int ifindex) {
  if (ifindex != ifindex_) return;
  link_up_ = false;
  {
    absl::MutexLock lock(&mutex_);
    removed_ = true;
  }
  callbacks_.status_changed();
}

void Port::OnLinksUnknown() {
  const absl::StatusOr<Device> device = FindDevice(ifindex_);
  if (device.ok()) {
    OnLinkChanged(*device);
  } else if (ErrnoOf(device.status()) == ENODEV) {
    OnLinkRemoved(ifindex_);
  }
}

void Port::OnTick() {
  bool rebuild = false;
  bool was_displaced = false;
  bool is_displaced = false;
  {
    absl::MutexLock lock(&mutex_);
    if (removed_) return;
    was_displaced = displaced_;
    KeepAttached();
    is_displaced = displaced_;
    rebuild = link_up_.load() && HasAbandonedQueue();
  }
  if (rebuild) callbacks_.wants_reconfigure();
  if (was_displaced != is_displaced) callbacks_.status_changed();
}

// Puts our program back when somebody has detached it, unless another one is there now.
void Port::KeepAttached() {
  if (!mode_) return;
  if (attachment_ && attachment_->attached()) {
    displaced_ = false;
    return;
  }
  if (!displaced_) {
    Log(LogLevel::kWarning,
        absl::StrCat(name_, ": somebody has detached our XDP program; attaching it again"));
  }
  absl::Status status = AttachFor(*mode_);
  if (status.ok()) {
    Log(LogLevel::kInfo, absl::StrCat(name_, ": our XDP program is attached again"));
  } else if (!displaced_) {
    Log(LogLevel::kWarning,
        absl::StrCat(name_, ": ", status.message(), "; trying again every second"));
  }
  displaced_ = !status.ok();
}

}  // namespace afxdp

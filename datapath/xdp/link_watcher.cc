// SPDX-License-Identifier: Apache-2.0
#include "datapath/xdp/link_watcher.h"

#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "datapath/base/errno_status.h"
#include "datapath/base/thread.h"

namespace afxdp {
namespace {

constexpr absl::Duration kTick = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<LinkWatcher>> LinkWatcher::Start() {
  absl::StatusOr<NetlinkSocket> socket = NetlinkSocket::Open(NETLINK_ROUTE, RTMGRP_LINK);
  if (!socket.ok()) return Annotate(socket.status(), "watching links");
  UniqueFd stop(eventfd(0, EFD_CLOEXEC));
  if (!stop.valid()) return ErrnoError(errno, "eventfd");
  return std::unique_ptr<LinkWatcher>(new LinkWatcher(*std::move(socket), std::move(stop)));
}

LinkWatcher::LinkWatcher(NetlinkSocket socket, UniqueFd stop)
    : socket_(std::move(socket)),
      stop_(std::move(stop)),
      thread_(StartThread("afxdp-links", [this] { Run(); })) {}

LinkWatcher::~LinkWatcher() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void LinkWatcher::Subscribe(LinkListener* listener) {
  absl::MutexLock lock(&mutex_);
  listeners_.push_back(listener);
}

void LinkWatcher::Unsubscribe(LinkListener* listener) {
  absl::MutexLock lock(&mutex_);
  listeners_.erase(std::remove(listeners_.begin(), listeners_.end(), listener), listeners_.end());
}

void LinkWatcher::Run() {
  absl::Time next_tick = absl::Now() + kTick;
  for (;;) {
    pollfd fds[] = {{socket_.fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    const absl::Duration wait = std::max(next_tick - absl::Now(), absl::ZeroDuration());
    poll(fds, 2,
         static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(wait, absl::Milliseconds(1)))));
    if (fds[1].revents != 0) return;

    absl::MutexLock lock(&mutex_);
    if (fds[0].revents != 0) {
      const absl::Status status = socket_.ReceiveNotifications(
          [this](const nlmsghdr* message) ABSL_NO_THREAD_SAFETY_ANALYSIS { Dispatch(message); });
      if (!status.ok()) {
        for (LinkListener* listener : listeners_) listener->OnLinksUnknown();
      }
    }
    if (absl::Now() >= next_tick) {
      next_tick = absl::Now() + kTick;
      for (LinkListener* listener : listeners_) listener->OnTick();
    }
  }
}

void LinkWatcher::Dispatch(const nlmsghdr* message) {
  if (message->nlmsg_type == RTM_NEWLINK) {
    const Device device = ParseLink(message);
    for (LinkListener* listener : listeners_) listener->OnLinkChanged(device);
  } else if (message->nlmsg_type == RTM_DELLINK) {
    // A bridge tells of a port that leaves it in the same words; the device itself stays.
    const auto* header = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message));
    if (header->ifi_family == AF_BRIDGE) return;
    for (LinkListener* listener : listeners_) listener->OnLinkRemoved(header->ifi_index);
  }
}

}  // namespace afxdp

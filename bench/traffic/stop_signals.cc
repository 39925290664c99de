// SPDX-License-Identifier: Apache-2.0
#include "stop_signals.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>

#include "absl/time/clock.h"

namespace afxdp {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

bool WaitForStop(absl::Time deadline) {
  const sigset_t signals = StopSignals();
  while (true) {
    const absl::Duration left = std::max(deadline - absl::Now(), absl::ZeroDuration());
    // sigtimedwait() takes no infinite timeout; a day is as good.
    const timespec timeout = absl::ToTimespec(std::min(left, absl::Hours(24)));
    if (sigtimedwait(&signals, nullptr, &timeout) > 0) {
      return true;
    }
    if (absl::Now() >= deadline) {
      return false;
    }
  }
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/waiting.h"

#include "absl/time/clock.h"

namespace afxdp::testing {

bool WaitFor(const std::function<bool()>& condition, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  for (;;) {
    if (condition()) return true;
    if (absl::Now() >= deadline) return condition();
    absl::SleepFor(absl::Milliseconds(1));
  }
}

}  // namespace afxdp::testing

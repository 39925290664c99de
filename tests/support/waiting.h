// SPDX-License-Identifier: Apache-2.0
//
// Waiting for something that another thread or the kernel does, with a deadline instead of a sleep
// that hopes to be long enough.
#ifndef TESTS_SUPPORT_WAITING_H_
#define TESTS_SUPPORT_WAITING_H_

#include <functional>

#include "absl/time/time.h"

namespace afxdp::testing {

// Long enough for anything that is going to happen at all, also under a sanitizer on a busy
// machine.
inline constexpr absl::Duration kPatience = absl::Seconds(15);

// Calls `condition` again and again until it is true; returns whether that was within `timeout`.
bool WaitFor(const std::function<bool()>& condition, absl::Duration timeout = kPatience);

}  // namespace afxdp::testing

#endif  // TESTS_SUPPORT_WAITING_H_

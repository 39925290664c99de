// SPDX-License-Identifier: Apache-2.0
//
// SIGINT and SIGTERM as something to wait for, so that tools end in order and not in a handler.
//
//   BlockStopSignals();                  // In main(), before any thread is started.
//   while (!WaitForStop(deadline)) { ... }
#ifndef BENCH_TRAFFIC_STOP_SIGNALS_H_
#define BENCH_TRAFFIC_STOP_SIGNALS_H_

#include "absl/time/time.h"

namespace afxdp {

// For the calling thread and those that it starts.
void BlockStopSignals();

// Waits until a stop signal arrives (true) or `deadline` has passed (false).
bool WaitForStop(absl::Time deadline);

}  // namespace afxdp

#endif  // BENCH_TRAFFIC_STOP_SIGNALS_H_

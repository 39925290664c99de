// SPDX-License-Identifier: Apache-2.0
//
// Threads of the library: named, and deaf to the process's signals.
#ifndef DATAPATH_BASE_THREAD_H_
#define DATAPATH_BASE_THREAD_H_

#include <functional>
#include <string>
#include <thread>

namespace afxdp {

// Runs `body` on a new thread called `name` (at most 15 characters, a limit of Linux).  All signals
// are blocked in it, so that they reach a thread of the program that expects them.
std::thread StartThread(const std::string& name, std::function<void()> body);

}  // namespace afxdp

#endif  // DATAPATH_BASE_THREAD_H_

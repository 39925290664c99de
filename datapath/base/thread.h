// SPDX-License-Identifier: Apache-2.0
//
// Threads of the library: named, and deaf to the process's signals.
#ifndef DATAPATH_BASE_THREAD_H_
#define DATAPATH_BASE_THREAD_H_

#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace afxdp {

// Runs `body` on a new thread called `name` (at most 15 characters, a limit of Linux).  All signals
// are blocked in it, so that they reach a thread of the program that expects them.
// Ends with an exception (std::system_error) when there are no more threads to be had.
std::thread StartThread(const std::string& name, std::function<void()> body);

// The same, with nothing instead of the exception.
std::optional<std::thread> TryStartThread(const std::string& name, std::function<void()> body);

}  // namespace afxdp

#endif  // DATAPATH_BASE_THREAD_H_

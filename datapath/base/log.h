// SPDX-License-Identifier: Apache-2.0
//
// Where the library's messages go.  The program that uses the library sets one function; without it
// nothing is printed.  For the control path only: the hot path counts instead of logging.
#ifndef DATAPATH_BASE_LOG_H_
#define DATAPATH_BASE_LOG_H_

#include <string>

namespace afxdp {

// kError and kWarning are for what an operator must act on.
enum class LogLevel { kError, kWarning, kInfo, kDebug };

using LogFunction = void (*)(LogLevel level, const char* message);

// Any thread; takes effect for later messages.
void SetLogFunction(LogFunction function);

void Log(LogLevel level, const std::string& message);

}  // namespace afxdp

#endif  // DATAPATH_BASE_LOG_H_

// SPDX-License-Identifier: Apache-2.0
#include "datapath/base/log.h"

#include <atomic>

namespace afxdp {
namespace {
std::atomic<LogFunction> log_function{nullptr};
}  // namespace

void SetLogFunction(LogFunction function) { log_function.store(function); }

void Log(LogLevel level, const std::string& message) {
  if (LogFunction function = log_function.load()) function(level, message.c_str());
}

}  // namespace afxdp

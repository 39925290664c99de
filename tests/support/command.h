// SPDX-License-Identifier: Apache-2.0
//
// Running a system tool, such as ip(8), in the calling thread's network namespace.
#ifndef TESTS_SUPPORT_COMMAND_H_
#define TESTS_SUPPORT_COMMAND_H_

#include <string>

namespace afxdp::testing {

struct CommandResult {
  int status = -1;     // As of exit().
  std::string output;  // Of both kinds.
};

CommandResult TryCommand(const std::string& command);

// The same for a command that has to work: a failure is the test's.
std::string Command(const std::string& command);

}  // namespace afxdp::testing

#endif  // TESTS_SUPPORT_COMMAND_H_

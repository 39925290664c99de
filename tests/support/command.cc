// SPDX-License-Identifier: Apache-2.0
#include "tests/support/command.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>

namespace afxdp::testing {

CommandResult TryCommand(const std::string& command) {
  CommandResult result;
  // sbin, for those who come by su rather than by sudo.
  FILE* pipe = popen(("PATH=$PATH:/usr/sbin:/sbin; { " + command + "; } 2>&1").c_str(), "re");
  if (pipe == nullptr) return result;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) result.output += buffer;
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::string Command(const std::string& command) {
  const CommandResult result = TryCommand(command);
  if (result.status != 0) {
    ADD_FAILURE() << command << " ended with " << result.status << ":\n" << result.output;
  }
  return result.output;
}

}  // namespace afxdp::testing

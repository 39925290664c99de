// SPDX-License-Identifier: Apache-2.0
#include "tests/support/net_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/support/command.h"

namespace afxdp::testing {
namespace {

// A test that ends up in the wrong namespace would work on the machine's own devices.
void Insist(bool worked, const char* what) {
  if (worked) return;
  std::perror(what);
  std::abort();
}

}  // namespace

bool EnterNewNamespace() {
  if (unshare(CLONE_NEWNET) != 0) return false;
  // /proc/sys/net shows the namespace of whoever looks.  There is none in a kernel without IPv6.
  for (const char* name : {"all", "default"}) {
    std::ofstream(std::string("/proc/sys/net/ipv6/conf/") + name + "/disable_ipv6") << "1";
  }
  Command("ip link set lo up");
  return true;
}

NetNamespace NetNamespace::Current() {
  const int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  Insist(fd >= 0, "opening the network namespace");
  return NetNamespace(fd);
}

NetNamespace NetNamespace::Create() {
  const NetNamespace before = Current();
  Insist(EnterNewNamespace(), "making a network namespace");
  NetNamespace created = Current();
  Insist(setns(before.fd(), CLONE_NEWNET) == 0, "going back to the network namespace");
  return created;
}

std::string NetNamespace::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd());
}

InNamespace::InNamespace(const NetNamespace& there) : before_(NetNamespace::Current()) {
  Insist(setns(there.fd(), CLONE_NEWNET) == 0, "entering a network namespace");
}

InNamespace::~InNamespace() {
  Insist(setns(before_.fd(), CLONE_NEWNET) == 0, "leaving a network namespace");
}

}  // namespace afxdp::testing

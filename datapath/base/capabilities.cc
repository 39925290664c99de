// SPDX-License-Identifier: Apache-2.0
#include "datapath/base/capabilities.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace afxdp {
namespace {

constexpr uint64_t Bit(int capability) { return uint64_t{1} << capability; }

}  // namespace

uint64_t EffectiveCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) return 0;
  return data[0].effective | uint64_t{data[1].effective} << 32;
}

std::string MissingCapabilities(uint64_t effective) {
  std::vector<const char*> missing;
  if (!(effective & Bit(CAP_NET_RAW))) {
    missing.push_back("CAP_NET_RAW (to open AF_XDP sockets)");
  }
  if (!(effective & Bit(CAP_NET_ADMIN))) {
    missing.push_back("CAP_NET_ADMIN (to attach XDP programs)");
  }
  if (!(effective & (Bit(CAP_BPF) | Bit(CAP_SYS_ADMIN)))) {
    missing.push_back("CAP_BPF (to load XDP programs and their maps)");
  }
  return absl::StrJoin(missing, ", ");
}

std::string ExplainRefusal(int error) {
  if (error != EPERM && error != EACCES) return "";
  const std::string missing = MissingCapabilities(EffectiveCapabilities());
  return missing.empty() ? "" : absl::StrCat("; missing ", missing);
}

uint64_t MemlockLimit() {
  if (EffectiveCapabilities() & Bit(CAP_IPC_LOCK)) return RLIM_INFINITY;
  rlimit limit = {};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 0;
  return limit.rlim_cur;
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// Which of the capabilities that AF_XDP needs the calling thread lacks, so that a bare EPERM can be
// told in words.
#ifndef DATAPATH_BASE_CAPABILITIES_H_
#define DATAPATH_BASE_CAPABILITIES_H_

#include <cstdint>
#include <string>

namespace afxdp {

// The thread's effective capability set, a bit per CAP_* number.
uint64_t EffectiveCapabilities();

// "CAP_NET_RAW (to open AF_XDP sockets), CAP_BPF (…)" for those of CAP_NET_RAW, CAP_NET_ADMIN,
// CAP_BPF that `effective` lacks; empty when all are there.  CAP_SYS_ADMIN stands in for CAP_BPF
// (kernel: bpf_capable() in include/linux/capability.h).
std::string MissingCapabilities(uint64_t effective);

// "; missing CAP_…" when `error` is a refusal (EPERM, EACCES) and capabilities are missing, to be
// put behind an error's text; else empty.
std::string ExplainRefusal(int error);

// How much memory may be locked, in bytes: RLIM_INFINITY when CAP_IPC_LOCK lifts the limit
// (kernel: xdp_umem_account_pages() in net/xdp/xdp_umem.c).
uint64_t MemlockLimit();

}  // namespace afxdp

#endif  // DATAPATH_BASE_CAPABILITIES_H_

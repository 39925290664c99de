// SPDX-License-Identifier: Apache-2.0
//
// What XDP programs a device runs, and how an administrator takes them off.
#ifndef TESTS_NETNS_XDP_QUERY_H_
#define TESTS_NETNS_XDP_QUERY_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace afxdp::testing {

struct XdpPrograms {
  uint32_t native = 0;  // The programs' numbers; 0: none.
  uint32_t generic = 0;
};
XdpPrograms QueryXdp(const std::string& device);

// Detaches the bpf_link by which a program is on `device`, as `bpftool link detach` does.  False
// when there is none.
bool DetachLinkOf(const std::string& device);

// The socket's inode, which tells whether it is still the same one; descriptors are used again.
ino_t InodeOf(int fd);

}  // namespace afxdp::testing

#endif  // TESTS_NETNS_XDP_QUERY_H_

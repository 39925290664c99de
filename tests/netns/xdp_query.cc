// SPDX-License-Identifier: Apache-2.0
#include "tests/netns/xdp_query.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sys/stat.h>

#include "datapath/base/unique_fd.h"
#include "tests/support/devices.h"

namespace afxdp::testing {

XdpPrograms QueryXdp(const std::string& device) {
  LIBBPF_OPTS(bpf_xdp_query_opts, query);
  EXPECT_EQ(bpf_xdp_query(IfIndex(device), 0, &query), 0) << device;
  return {query.drv_prog_id, query.skb_prog_id};
}

bool DetachLinkOf(const std::string& device) {
  uint32_t id = 0;
  while (bpf_link_get_next_id(id, &id) == 0) {
    const UniqueFd link(bpf_link_get_fd_by_id(id));
    bpf_link_info info = {};
    __u32 length = sizeof info;
    if (!link.valid() || bpf_obj_get_info_by_fd(link.get(), &info, &length) != 0) continue;
    if (info.type != BPF_LINK_TYPE_XDP) continue;
    // Numbers of devices are per namespace, so make sure that the program is the device's, too.
    const XdpPrograms programs = QueryXdp(device);
    if (info.xdp.ifindex != static_cast<__u32>(IfIndex(device))) continue;
    if (info.prog_id != programs.native && info.prog_id != programs.generic) continue;
    return bpf_link_detach(link.get()) == 0;
  }
  return false;
}

ino_t InodeOf(int fd) {
  struct stat status = {};
  EXPECT_EQ(fstat(fd, &status), 0);
  return status.st_ino;
}

}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
#include "datapath/xdp/attachment.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "datapath/base/capabilities.h"
#include "datapath/base/errno_status.h"
#include "datapath/xdp/program.h"

namespace afxdp {
namespace {

// What usually lies behind an errno value here, for people; empty when there is nothing to add.
std::string Hint(int error, XdpHook hook) {
  switch (error) {
    case EPERM:
    case EACCES:
      return ExplainRefusal(error);
    case EOPNOTSUPP:
      return hook == XdpHook::kNative ? "; the driver has no native XDP, xdp-mode=generic works"
                                      : "";
    case EINVAL:
    case ERANGE:
      return hook == XdpHook::kNative
                 ? "; often the device's or its peer's MTU is too large for XDP, or large receive "
                   "offload is on"
                 : "";
    default:
      return "";
  }
}

}  // namespace

absl::Status CheckNoForeignProgram(int ifindex) {
  LIBBPF_OPTS(bpf_xdp_query_opts, query);
  if (const int error = bpf_xdp_query(ifindex, 0, &query)) {
    return ErrnoError(-error, "asking for the device's XDP program");
  }
  for (const uint32_t id :
       {query.drv_prog_id, query.skb_prog_id, query.hw_prog_id, query.prog_id}) {
    if (id == 0) continue;
    const ProgramInfo info = DescribeProgram(id);
    return ErrorWithErrno(
        EEXIST, absl::StrCat("the device already runs the XDP program ", info.name, " (id ", id,
                             "), which is not ours: whoever attached it must detach it first"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Attachment> Attachment::Attach(int ifindex, int program, XdpHook hook) {
  AFXDP_RETURN_IF_ERROR(CheckNoForeignProgram(ifindex));
  LIBBPF_OPTS(bpf_link_create_opts, options);
  options.flags = hook == XdpHook::kNative ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
  UniqueFd link(bpf_link_create(program, ifindex, BPF_XDP, &options));
  if (link.valid()) return Attachment(std::move(link), hook);
  const int error = errno;
  return ErrorWithErrno(error, absl::StrCat("attaching the XDP program in ",
                                            hook == XdpHook::kNative ? "native" : "generic",
                                            " mode: ", DescribeErrno(error), Hint(error, hook)));
}

bool Attachment::attached() const {
  bpf_link_info info = {};
  __u32 length = sizeof info;
  // A detached link stays, with ifindex 0 (kernel: bpf_xdp_link_detach() in net/core/dev.c).
  return bpf_obj_get_info_by_fd(link_.get(), &info, &length) == 0 && info.xdp.ifindex != 0;
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
#include "datapath/xdp/program.h"

#include <afxdp_redirect_bpf.skel.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "datapath/base/capabilities.h"
#include "datapath/base/errno_status.h"
#include "datapath/base/log.h"
#include "datapath/base/unique_fd.h"

namespace afxdp {
namespace {

absl::Status Explain(int error, const std::string& operation) {
  return ErrorWithErrno(error,
                        absl::StrCat(operation, ": ", DescribeErrno(error), ExplainRefusal(error)));
}

__attribute__((format(printf, 2, 0))) int PrintToLog(libbpf_print_level, const char* format,
                                                     va_list arguments) {
  char text[512];
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  if (length > 0) {
    std::string message(text);
    while (!message.empty() && message.back() == '\n') message.pop_back();
    Log(LogLevel::kDebug, message);
  }
  return length;
}

}  // namespace

void RedirectLibbpfMessages() { libbpf_set_print(PrintToLog); }

void RedirectProgram::Destroyer::operator()(afxdp_redirect_bpf* skeleton) const {
  afxdp_redirect_bpf__destroy(skeleton);
}

absl::StatusOr<RedirectProgram> RedirectProgram::Load() {
  afxdp_redirect_bpf* skeleton = afxdp_redirect_bpf__open();
  if (skeleton == nullptr) return Explain(errno, "opening the XDP program");
  RedirectProgram program(skeleton);
  if (const int error = afxdp_redirect_bpf__load(skeleton)) {
    return Explain(-error, "loading the XDP program");
  }
  return program;
}

int RedirectProgram::fd() const { return bpf_program__fd(skeleton_->progs.afxdp_redirect); }

absl::Status RedirectProgram::Connect(uint32_t queue, int socket) {
  const int map = bpf_map__fd(skeleton_->maps.afxdp_xsks);
  if (bpf_map_update_elem(map, &queue, &socket, BPF_ANY) == 0) return absl::OkStatus();
  return Explain(errno, absl::StrCat("putting the XSK of queue ", queue, " into the XSKMAP"));
}

absl::Status RedirectProgram::Disconnect(uint32_t queue) {
  const int map = bpf_map__fd(skeleton_->maps.afxdp_xsks);
  // The kernel takes out an XSK by itself when it is closed.
  if (bpf_map_delete_elem(map, &queue) == 0 || errno == ENOENT) return absl::OkStatus();
  return Explain(errno, absl::StrCat("taking queue ", queue, " out of the XSKMAP"));
}

ProgramInfo DescribeProgram(uint32_t id) {
  const UniqueFd fd(bpf_prog_get_fd_by_id(id));
  if (!fd.valid()) return {id, "name unknown"};
  return DescribeProgramOf(fd.get());
}

ProgramInfo DescribeProgramOf(int fd) {
  bpf_prog_info info = {};
  __u32 length = sizeof info;
  if (bpf_obj_get_info_by_fd(fd, &info, &length) != 0) return {};
  return {info.id, info.name};
}

}  // namespace afxdp

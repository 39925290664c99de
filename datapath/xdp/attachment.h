// SPDX-License-Identifier: Apache-2.0
//
// Attachment: an XDP program on a device, held by a bpf_link.
//
// The link dies with the process, however that ends, so no program is ever left behind; and while
// it lives nobody replaces the program by accident.  A device that has a program already is left
// alone.
#ifndef DATAPATH_XDP_ATTACHMENT_H_
#define DATAPATH_XDP_ATTACHMENT_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datapath/base/unique_fd.h"

namespace afxdp {

// Where in the kernel the program runs: in the driver, or in the stack, for any device.
enum class XdpHook { kNative, kGeneric };

class Attachment {
 public:
  // Attaches `program` to device `ifindex`.  EEXIST, with the other program's name and id, when
  // there is one.
  static absl::StatusOr<Attachment> Attach(int ifindex, int program, XdpHook hook);

  XdpHook hook() const { return hook_; }

  // Whether the program is still attached: an administrator can detach a link (bpftool link
  // detach), and no event tells.
  bool attached() const;

 private:
  Attachment(UniqueFd link, XdpHook hook) : link_(std::move(link)), hook_(hook) {}

  UniqueFd link_;
  XdpHook hook_;
};

// EEXIST, with name and id, when some XDP program is on the device.
absl::Status CheckNoForeignProgram(int ifindex);

}  // namespace afxdp

#endif  // DATAPATH_XDP_ATTACHMENT_H_

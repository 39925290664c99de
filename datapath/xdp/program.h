// SPDX-License-Identifier: Apache-2.0
//
// RedirectProgram: the XDP program of one port, with its XSKMAP.
#ifndef DATAPATH_XDP_PROGRAM_H_
#define DATAPATH_XDP_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct afxdp_redirect_bpf;  // From the skeleton.

namespace afxdp {

// One thread at a time.
class RedirectProgram {
 public:
  static absl::StatusOr<RedirectProgram> Load();

  // From now on packets of `queue` go to the XSK `socket`.
  absl::Status Connect(uint32_t queue, int socket);
  // From now on they go to the kernel's stack.
  absl::Status Disconnect(uint32_t queue);

  int fd() const;

 private:
  struct Destroyer {
    void operator()(afxdp_redirect_bpf* skeleton) const;
  };
  explicit RedirectProgram(afxdp_redirect_bpf* skeleton) : skeleton_(skeleton) {}

  std::unique_ptr<afxdp_redirect_bpf, Destroyer> skeleton_;
};

// A loaded XDP program as the kernel describes it.
struct ProgramInfo {
  uint32_t id = 0;
  std::string name;
};
ProgramInfo DescribeProgram(uint32_t id);
// The same by descriptor.
ProgramInfo DescribeProgramOf(int fd);

// Sends libbpf's messages to our log, as debug messages: what matters comes back as errors.  Once
// per process.
void RedirectLibbpfMessages();

}  // namespace afxdp

#endif  // DATAPATH_XDP_PROGRAM_H_

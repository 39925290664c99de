// SPDX-License-Identifier: Apache-2.0
//
// absl::Status that remembers the errno value it came from.
//
// A failed system call becomes a status by ErrnoError(); on its way up, Annotate() puts the context
// in front ("eth0: queue 3: bind: Device or resource busy (errno 16, EBUSY)"); and the C interface
// asks ErrnoOf() for the number that Open vSwitch wants.
#ifndef DATAPATH_BASE_ERRNO_STATUS_H_
#define DATAPATH_BASE_ERRNO_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace afxdp {

// The failure of `operation` with errno value `error` (positive).
absl::Status ErrnoError(int error, absl::string_view operation);

// A failure that is no system call's, with the errno value that callers shall see.
absl::Status ErrorWithErrno(int error, absl::string_view message);

// `status` with "`context`: " in front of its message; OK stays OK.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

// The errno value of `status`: what it was made from, else the nearest to its code; 0 for OK.
int ErrnoOf(const absl::Status& status);

// "Device or resource busy (errno 16, EBUSY)".
std::string DescribeErrno(int error);

}  // namespace afxdp

// Returns from the calling function when `expression` is not OK.
#define AFXDP_RETURN_IF_ERROR(expression)                                                  \
  do {                                                                                     \
    if (absl::Status afxdp_status = (expression); !afxdp_status.ok()) return afxdp_status; \
  } while (false)

#endif  // DATAPATH_BASE_ERRNO_STATUS_H_

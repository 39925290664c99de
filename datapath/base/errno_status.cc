// SPDX-License-Identifier: Apache-2.0
#include "datapath/base/errno_status.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace afxdp {
namespace {

// Where the number is kept inside the status.
constexpr absl::string_view kErrnoPayload = "afxdp/errno";

absl::Status WithErrno(absl::Status status, int error) {
  status.SetPayload(kErrnoPayload, absl::Cord(absl::StrCat(error)));
  return status;
}

int ErrnoForCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kNotFound:
      return ENODEV;
    case absl::StatusCode::kAlreadyExists:
      return EEXIST;
    case absl::StatusCode::kPermissionDenied:
      return EPERM;
    case absl::StatusCode::kResourceExhausted:
      return ENOMEM;
    case absl::StatusCode::kUnavailable:
      return EBUSY;
    case absl::StatusCode::kUnimplemented:
      return EOPNOTSUPP;
    case absl::StatusCode::kDeadlineExceeded:
      return ETIMEDOUT;
    default:
      return EINVAL;
  }
}

}  // namespace

std::string DescribeErrno(int error) {
  const char* name = strerrorname_np(error);
  return absl::StrCat(strerrordesc_np(error) ? strerrordesc_np(error) : "Unknown error", " (errno ",
                      error, name ? ", " : "", name ? name : "", ")");
}

absl::Status ErrnoError(int error, absl::string_view operation) {
  return ErrorWithErrno(error, absl::StrCat(operation, ": ", DescribeErrno(error)));
}

absl::Status ErrorWithErrno(int error, absl::string_view message) {
  return WithErrno(absl::Status(absl::ErrnoToStatusCode(error), message), error);
}

absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), absl::StrCat(context, ": ", status.message()));
  status.ForEachPayload(
      [&](absl::string_view key, const absl::Cord& value) { annotated.SetPayload(key, value); });
  return annotated;
}

int ErrnoOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kErrnoPayload);
  int error = 0;
  if (payload && absl::SimpleAtoi(std::string(*payload), &error)) return error;
  return ErrnoForCode(status.code());
}

}  // namespace afxdp

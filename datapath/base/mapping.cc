// SPDX-License-Identifier: Apache-2.0
#include "datapath/base/mapping.h"

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "datapath/base/errno_status.h"

namespace afxdp {

absl::StatusOr<Mapping> Mapping::Create(size_t size, int flags, int fd, off_t offset,
                                        absl::string_view what) {
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, offset);
  if (data == MAP_FAILED) return ErrnoError(errno, absl::StrCat("mmap of ", what));
  return Mapping(data, size);
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// Mapping: memory from mmap() with one owner.
#ifndef DATAPATH_BASE_MAPPING_H_
#define DATAPATH_BASE_MAPPING_H_

#include <sys/mman.h>
#include <sys/types.h>

#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace afxdp {

class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    Reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~Mapping() { Reset(); }

  // Maps `size` bytes of `fd` (-1: anonymous memory) from `offset` on, readable and writable.
  // `what` names the mapping in the error.
  static absl::StatusOr<Mapping> Create(size_t size, int flags, int fd, off_t offset,
                                        absl::string_view what);

  char* data() const { return static_cast<char*>(data_); }
  size_t size() const { return size_; }

  void Reset() {
    if (data_ != nullptr) munmap(data_, size_);
    data_ = nullptr;
    size_ = 0;
  }

 private:
  Mapping(void* data, size_t size) : data_(data), size_(size) {}

  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace afxdp

#endif  // DATAPATH_BASE_MAPPING_H_

// SPDX-License-Identifier: Apache-2.0
//
// UniqueFd: a file descriptor with one owner, closed when the owner goes.
//
//   UniqueFd fd(socket(AF_XDP, SOCK_RAW, 0));
//   if (!fd.valid()) return ErrnoError(errno, "socket");
#ifndef DATAPATH_BASE_UNIQUE_FD_H_
#define DATAPATH_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace afxdp {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  // Closes what is held and takes `fd` instead.
  void Reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace afxdp

#endif  // DATAPATH_BASE_UNIQUE_FD_H_

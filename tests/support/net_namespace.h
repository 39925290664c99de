// SPDX-License-Identifier: Apache-2.0
//
// Network namespaces without a name: each exists as long as a thread is in it or a descriptor of it
// is open, so none is left behind however a test ends.
//
//   NetNamespace container = NetNamespace::Create();
//   {
//     InNamespace inside(container);
//     Command("ip link set veth1 up");
//   }
#ifndef TESTS_SUPPORT_NET_NAMESPACE_H_
#define TESTS_SUPPORT_NET_NAMESPACE_H_

#include <string>

#include "datapath/base/unique_fd.h"

namespace afxdp::testing {

class NetNamespace {
 public:
  // The calling thread's.
  static NetNamespace Current();
  // A new one, with its loopback device up and IPv6 off, so that nothing is sent but what a test
  // sends.  The calling thread stays where it is.
  static NetNamespace Create();

  int fd() const { return fd_.get(); }
  // For `ip link set DEVICE netns PATH`.
  std::string path() const;

 private:
  explicit NetNamespace(int fd) : fd_(fd) {}
  UniqueFd fd_;
};

// The calling thread is in `there` for the object's life.
class InNamespace {
 public:
  explicit InNamespace(const NetNamespace& there);
  ~InNamespace();
  InNamespace(const InNamespace&) = delete;
  InNamespace& operator=(const InNamespace&) = delete;

 private:
  const NetNamespace before_;
};

// Moves the calling thread into a new namespace for good.  False, with errno set, when it may not.
bool EnterNewNamespace();

}  // namespace afxdp::testing

#endif  // TESTS_SUPPORT_NET_NAMESPACE_H_

// SPDX-License-Identifier: Apache-2.0
//
// FakeXsk: an XskSocket whose rings are plain memory and whose kernel is the test.
//
//   FakeXsk xsk;
//   Receiver receiver(umem, &xsk.socket(), 0, &counters);
//   receiver.Refill();
//   xsk.rx.Produce({.addr = *xsk.fill.Consume() + 256, .len = 60});
//
// Kicks go to a socket pair: they succeed, or fail when the other end is closed.
#ifndef TESTS_SUPPORT_FAKE_XSK_H_
#define TESTS_SUPPORT_FAKE_XSK_H_

#include <linux/if_xdp.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "datapath/base/unique_fd.h"
#include "datapath/xsk/socket.h"
#include "tests/support/plain_ring.h"

namespace afxdp::testing {

class FakeXsk {
 public:
  struct Options {
    uint32_t ring_size = 64;
    uint32_t first_index = 0;  // Of all four rings.
  };
  FakeXsk() : FakeXsk(Options()) {}
  explicit FakeXsk(const Options& options);

  XskSocket& socket() { return *socket_; }

  // Sends up to `max` packets as the kernel does: off the TX ring, onto the completion ring.
  // Returns their descriptors.
  std::vector<xdp_desc> Send(uint32_t max = UINT32_MAX);

  // System calls made on the socket since the last call of this.
  int CountKicks();
  // From now on system calls on the socket fail, and not in a way that would pass.
  void Break() { kernel_.Reset(); }

  PlainRing<__u64> fill;
  PlainRing<xdp_desc> rx;
  PlainRing<xdp_desc> tx;
  PlainRing<__u64> completion;

 private:
  UniqueFd kernel_;  // The other end of the socket's descriptor.
  std::optional<XskSocket> socket_;
};

}  // namespace afxdp::testing

#endif  // TESTS_SUPPORT_FAKE_XSK_H_

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_xsk.h"

#include <sys/socket.h>

#include <cstdlib>

namespace afxdp::testing {

FakeXsk::FakeXsk(const Options& options)
    : fill(options.ring_size, options.first_index),
      rx(options.ring_size, options.first_index),
      tx(options.ring_size, options.first_index),
      completion(options.ring_size, options.first_index) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
  kernel_.Reset(fds[1]);
  socket_.emplace(XskSocket::Adopt(UniqueFd(fds[0]), {.fill = fill.memory(),
                                                      .rx = rx.memory(),
                                                      .tx = tx.memory(),
                                                      .completion = completion.memory()}));
}

std::vector<xdp_desc> FakeXsk::Send(uint32_t max) {
  std::vector<xdp_desc> sent;
  while (sent.size() < max) {
    const std::optional<xdp_desc> descriptor = tx.Consume();
    if (!descriptor) break;
    sent.push_back(*descriptor);
    completion.Produce(descriptor->addr);
  }
  return sent;
}

int FakeXsk::CountKicks() {
  int kicks = 0;
  char nothing;
  while (recv(kernel_.get(), &nothing, sizeof nothing, MSG_DONTWAIT) >= 0) ++kicks;
  return kicks;
}

}  // namespace afxdp::testing

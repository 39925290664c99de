// SPDX-License-Identifier: Apache-2.0
#include "tests/support/packet_socket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include "tests/support/packet.h"

namespace afxdp::testing {
namespace {

constexpr int kReceiveBuffer = 32 << 20;

}  // namespace

PacketSocket::PacketSocket(const NetNamespace& where, const std::string& device) {
  const InNamespace inside(where);
  fd_.Reset(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(kTestEthertype)));
  EXPECT_TRUE(fd_.valid()) << "opening a packet socket";
  setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer);
  sockaddr_ll address = {};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(kTestEthertype);
  address.sll_ifindex = static_cast<int>(if_nametoindex(device.c_str()));
  EXPECT_NE(address.sll_ifindex, 0) << device;
  EXPECT_EQ(bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
      << device;
}

bool PacketSocket::Send(const std::string& packet) {
  return send(fd_.get(), packet.data(), packet.size(), 0) == static_cast<ssize_t>(packet.size());
}

std::optional<std::string> PacketSocket::Receive(absl::Duration timeout) {
  pollfd waiting = {fd_.get(), POLLIN, 0};
  if (poll(&waiting, 1, static_cast<int>(absl::ToInt64Milliseconds(timeout))) != 1) {
    return std::nullopt;
  }
  std::string packet(65536, '\0');
  // MSG_TRUNC, so that a packet that does not fit would not pass for a whole one.
  const ssize_t length = recv(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_TRUNC);
  if (length < 0) return std::nullopt;
  packet.resize(static_cast<size_t>(length));
  return packet;
}

std::vector<uint32_t> PacketSocket::ReceiveNumbers(size_t count, absl::Duration timeout) {
  std::vector<uint32_t> numbers;
  while (numbers.size() < count) {
    const std::optional<std::string> packet = Receive(timeout);
    if (!packet) break;
    numbers.push_back(PacketNumber(*packet).value_or(UINT32_MAX));
  }
  return numbers;
}

}  // namespace afxdp::testing

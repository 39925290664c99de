// SPDX-License-Identifier: Apache-2.0
#include "tests/support/devices.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/support/command.h"
#include "tests/support/packet.h"

namespace afxdp::testing {

int IfIndex(const std::string& device) { return static_cast<int>(if_nametoindex(device.c_str())); }

void MakeVeth(const std::string& name, const std::string& peer, const NetNamespace& container,
              const VethOptions& options) {
  const std::string shape = absl::StrCat("numrxqueues ", options.queues, " numtxqueues ",
                                         options.queues, " mtu ", options.mtu);
  Command(absl::StrCat("ip link add ", name, " ", shape, " type veth peer name ", peer, " ", shape,
                       " netns ", container.path()));
  if (!options.up) return;
  Command(absl::StrCat("ip link set ", name, " up"));
  const InNamespace inside(container);
  Command(absl::StrCat("ip link set ", peer, " up"));
}

Tap::Tap(const std::string& name, bool persistent)
    : fd_(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)) {
  EXPECT_TRUE(fd_.valid()) << "/dev/net/tun: " << std::strerror(errno);
  ifreq request = {};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  EXPECT_EQ(ioctl(fd_.get(), TUNSETIFF, &request), 0) << name << ": " << std::strerror(errno);
  if (persistent) {
    EXPECT_EQ(ioctl(fd_.get(), TUNSETPERSIST, 1), 0);
  }
  Command(absl::StrCat("ip link set ", name, " up"));
}

bool Tap::Send(const std::string& packet) {
  return write(fd_.get(), packet.data(), packet.size()) == static_cast<ssize_t>(packet.size());
}

std::optional<std::string> Tap::Receive(absl::Duration timeout) {
  pollfd waiting = {fd_.get(), POLLIN, 0};
  const int milliseconds = static_cast<int>(absl::ToInt64Milliseconds(timeout));
  while (poll(&waiting, 1, milliseconds) == 1) {
    std::string packet(65536, '\0');
    const ssize_t length = read(fd_.get(), packet.data(), packet.size());
    if (length < 0) return std::nullopt;
    packet.resize(static_cast<size_t>(length));
    // A stack may have something to say on a new device too.
    if (packet.size() >= kMinTestPacket && packet.compare(12, 2, "\x88\xb5") == 0) return packet;
  }
  return std::nullopt;
}

std::vector<uint32_t> Tap::ReceiveNumbers(size_t count, absl::Duration timeout) {
  std::vector<uint32_t> numbers;
  while (numbers.size() < count) {
    const std::optional<std::string> packet = Receive(timeout);
    if (!packet) break;
    numbers.push_back(PacketNumber(*packet).value_or(UINT32_MAX));
  }
  return numbers;
}

}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
//
// Stands in for a virtual machine on a tap device: holds the tap's file descriptors as QEMU does,
// and puts a kernel's network stack behind them, that of another network namespace, by a second
// tap device and moving each frame from one to the other.
//
//   tap_vm --tap tap0 --guest-netns /run/netns/guest --guest eth0 [--queues N]
//
// The tap is looked for in the network namespace that the program is started in, and made when it
// is not there; the guest's device goes away with the program.  Ends on SIGTERM or SIGINT.  Frames
// carry no virtio-net header, so the guest's stack finishes its checksums and segments by itself.

#include <fcntl.h>
#include <getopt.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

constexpr size_t kLargestFrame = 65550;  // An IP packet of 65535 bytes and its Ethernet header.
constexpr int kMostQueues = 16;
// Frames moved from one descriptor before the others get their turn.
constexpr int kBurst = 64;

struct Options {
  std::string tap;
  std::string guest_netns;
  std::string guest;
  int queues = 1;
};

// Two descriptors of equal rank: what is read from one is written to the other.
struct Pair {
  int host;
  int guest;
};

[[noreturn]] void Die(std::string_view what) {
  throw std::system_error(errno, std::generic_category(), std::string(what));
}

int OpenTap(const std::string& name, bool multi_queue) {
  const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    Die("/dev/net/tun");
  }
  ifreq request = {};
  if (name.size() >= sizeof(request.ifr_name)) {
    errno = ENAMETOOLONG;
    Die(name);
  }
  std::memcpy(request.ifr_name, name.data(), name.size());
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (multi_queue) {
    request.ifr_flags |= IFF_MULTI_QUEUE;
  }
  if (ioctl(fd, TUNSETIFF, &request) != 0) {
    Die(name + ": TUNSETIFF");
  }
  return fd;
}

void EnterNetns(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) {
    Die(path);
  }
  close(fd);
}

// Opens all of the tap's queues before the namespace changes: a tun descriptor belongs to the
// namespace that it was opened in.
std::vector<Pair> OpenPairs(const Options& options) {
  const bool multi_queue = options.queues > 1;
  std::vector<Pair> pairs;
  pairs.reserve(static_cast<size_t>(options.queues));
  for (int queue = 0; queue < options.queues; ++queue) {
    pairs.push_back({.host = OpenTap(options.tap, multi_queue), .guest = -1});
  }
  EnterNetns(options.guest_netns);
  for (Pair& pair : pairs) {
    pair.guest = OpenTap(options.guest, multi_queue);
  }
  return pairs;
}

// Moves frames until none is left or the burst is over.  A frame that the other side does not
// take (its device is down: EIO) is lost, as on a real wire.
void Move(int from, int to) {
  static std::array<char, kLargestFrame> frame;
  for (int moved = 0; moved < kBurst; ++moved) {
    const ssize_t length = read(from, frame.data(), frame.size());
    if (length < 0) {
      if (errno == EAGAIN || errno == EINTR) {
        return;
      }
      Die("reading a frame");
    }
    if (write(to, frame.data(), static_cast<size_t>(length)) < 0 && errno == EBADFD) {
      Die("writing a frame");
    }
  }
}

int TerminationSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int fd = signalfd(-1, &signals, SFD_CLOEXEC);
  if (fd < 0) {
    Die("signalfd");
  }
  return fd;
}

void Run(const Options& options) {
  const int stop = TerminationSignals();
  std::vector<std::pair<int, int>> ways;
  for (const Pair& pair : OpenPairs(options)) {
    ways.emplace_back(pair.host, pair.guest);
    ways.emplace_back(pair.guest, pair.host);
  }
  std::vector<pollfd> polled = {{.fd = stop, .events = POLLIN, .revents = 0}};
  for (const auto& [from, to] : ways) {
    polled.push_back({.fd = from, .events = POLLIN, .revents = 0});
  }
  while (poll(polled.data(), polled.size(), -1) >= 0 || errno == EINTR) {
    if ((polled[0].revents & POLLIN) != 0) {
      return;
    }
    for (size_t i = 0; i < ways.size(); ++i) {
      // POLLERR means that the tap was deleted; the read then fails with EBADFD.
      if (polled[i + 1].revents != 0) {
        Move(ways[i].first, ways[i].second);
      }
    }
  }
  Die("poll");
}

[[noreturn]] void Usage() {
  std::fputs("usage: tap_vm --tap NAME --guest-netns PATH --guest NAME [--queues 1..16]\n", stderr);
  std::exit(2);
}

Options Parse(int argc, char** argv) {
  static constexpr std::array<option, 5> kLong = {{
      {"tap", required_argument, nullptr, 't'},
      {"guest-netns", required_argument, nullptr, 'n'},
      {"guest", required_argument, nullptr, 'g'},
      {"queues", required_argument, nullptr, 'q'},
      {nullptr, 0, nullptr, 0},
  }};
  Options options;
  int letter = 0;
  while ((letter = getopt_long(argc, argv, "", kLong.data(), nullptr)) != -1) {
    const std::string value = optarg == nullptr ? "" : optarg;
    switch (letter) {
      case 't':
        options.tap = value;
        break;
      case 'n':
        options.guest_netns = value;
        break;
      case 'g':
        options.guest = value;
        break;
      case 'q': {
        const auto result =
            std::from_chars(value.data(), value.data() + value.size(), options.queues);
        if (result.ec != std::errc() || result.ptr != value.data() + value.size()) {
          Usage();
        }
        break;
      }
      default:
        Usage();
    }
  }
  if (optind != argc || options.tap.empty() || options.guest_netns.empty() ||
      options.guest.empty() || options.queues < 1 || options.queues > kMostQueues) {
    Usage();
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Run(Parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tap_vm: %s\n", error.what());
    return 1;
  }
  return 0;
}

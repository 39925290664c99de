// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "traffic_shared.h"

// Needs the structs of traffic_shared.h.
#include "afxdp_bench_gen_bpf.skel.h"

namespace afxdp {
namespace {

// Frames per round of a test run.  More than the 256 slots of a veth's XDP ring (VETH_RING_SIZE)
// would be lost even by an idle receiver; below 64 rounds get dear.
constexpr uint32_t kBatch = 64;

// Interrupts a test run: bpf_test_timer_continue() ends it when a signal is pending.
constexpr int kInterruptSignal = SIGUSR1;

void InstallInterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(kInterruptSignal, &action, nullptr);
}

}  // namespace

void Generator::SkeletonDeleter::operator()(afxdp_bench_gen_bpf* skeleton) const {
  afxdp_bench_gen_bpf__destroy(skeleton);
}

absl::StatusOr<std::unique_ptr<Generator>> Generator::Create(const std::string& device,
                                                             const PacketSpec& spec,
                                                             uint32_t flows) {
  const uint32_t ifindex = if_nametoindex(device.c_str());
  if (ifindex == 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("looking up device ", device));
  }
  Skeleton skeleton(afxdp_bench_gen_bpf__open());
  if (skeleton == nullptr) {
    return absl::ErrnoToStatus(errno, "opening the generator's BPF object");
  }
  PacketTemplate packet = BuildPacket(spec);
  skeleton->rodata->config = {.ifindex = ifindex,
                              .flows = flows,
                              .src_ip = spec.src_ip,
                              .ip_sum = packet.ip_sum,
                              .udp_sum = packet.udp_sum};
  if (int error = afxdp_bench_gen_bpf__load(skeleton.get()); error != 0) {
    return absl::ErrnoToStatus(-error, "loading the generator's BPF program");
  }
  return std::unique_ptr<Generator>(new Generator(std::move(skeleton), std::move(packet)));
}

Generator::Generator(Skeleton skeleton, PacketTemplate packet)
    : skeleton_(std::move(skeleton)), packet_(std::move(packet)) {}

Generator::~Generator() { Stop().IgnoreError(); }

void Generator::Start() {
  InstallInterruptHandler();
  thread_ = std::thread([this] { Run(); });
}

absl::Status Generator::Stop() {
  if (!thread_.joinable()) {
    return status_;
  }
  stop_ = true;
  // A signal that arrives between two test runs interrupts neither, hence the repetition.
  while (!done_) {
    pthread_kill(thread_.native_handle(), kInterruptSignal);
    absl::SleepFor(absl::Milliseconds(2));
  }
  thread_.join();
  return status_;
}

uint64_t Generator::offered() const {
  return *static_cast<const volatile decltype(skeleton_->bss->offered)*>(&skeleton_->bss->offered);
}

void Generator::Run() {
  // Setting up a test run costs about 25 ms, so each goes on until it is interrupted.
  LIBBPF_OPTS(bpf_test_run_opts, options);
  options.data_in = packet_.bytes.data();
  options.data_size_in = static_cast<uint32_t>(packet_.bytes.size());
  options.repeat = std::numeric_limits<int>::max();
  options.batch_size = kBatch;
  options.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
  const int program = bpf_program__fd(skeleton_->progs.bench_gen);
  while (!stop_) {
    const int error = bpf_prog_test_run_opts(program, &options);
    if (error != 0 && error != -EINTR) {
      status_ = absl::ErrnoToStatus(-error, "BPF_PROG_TEST_RUN with live frames");
      break;
    }
  }
  done_ = true;
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// Offers packets to the far end of a veth at the highest rate that one core can.
//
//   auto generator = Generator::Create("eth0", spec, 1000);
//   if (!generator.ok()) return generator.status();
//   (*generator)->Start();
//   WaitForStop(deadline);
//   absl::Status status = (*generator)->Stop();
//   uint64_t packets = (*generator)->offered();
//
// The kernel runs an XDP program over frames of its own (BPF_PROG_TEST_RUN with live frames) and
// the program redirects each to the veth's near end, which hands it to the far end's XDP ring
// (veth_xdp_xmit).  So the far end must run an XDP program, as a switch's AF_XDP port does; a frame
// that finds that ring full is dropped there, which is what overload means.
#ifndef BENCH_TRAFFIC_GENERATOR_H_
#define BENCH_TRAFFIC_GENERATOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packet.h"

struct afxdp_bench_gen_bpf;

namespace afxdp {

class Generator {
 public:
  // Loads the program for `device`, a veth of the calling thread's network namespace.
  static absl::StatusOr<std::unique_ptr<Generator>> Create(const std::string& device,
                                                           const PacketSpec& spec, uint32_t flows);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // Starts a thread that sends until Stop(), on the CPUs of the calling thread.
  void Start();
  // Ends the thread; what went wrong in it, if anything.
  absl::Status Stop();

  // Packets that were handed to the device so far.
  uint64_t offered() const;

 private:
  struct SkeletonDeleter {
    void operator()(afxdp_bench_gen_bpf* skeleton) const;
  };
  using Skeleton = std::unique_ptr<afxdp_bench_gen_bpf, SkeletonDeleter>;

  Generator(Skeleton skeleton, PacketTemplate packet);
  void Run();

  Skeleton skeleton_;
  PacketTemplate packet_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> done_ = false;
  absl::Status status_;  // Written by the thread before done_, read after it.
};

}  // namespace afxdp

#endif  // BENCH_TRAFFIC_GENERATOR_H_

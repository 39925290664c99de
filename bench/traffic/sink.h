// SPDX-License-Identifier: Apache-2.0
//
// Counts and drops the IPv4 packets that arrive at a device, at tc ingress.
//
//   auto sink = Sink::Attach("eth0");
//   if (!sink.ok()) return sink.status();
//   absl::StatusOr<SinkCount> count = (*sink)->Read();
#ifndef BENCH_TRAFFIC_SINK_H_
#define BENCH_TRAFFIC_SINK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

struct afxdp_bench_sink_bpf;

namespace afxdp {

struct SinkCount {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};

class Sink {
 public:
  // Adds a clsact qdisc to `device`, of the calling thread's network namespace, if it has none.
  static absl::StatusOr<std::unique_ptr<Sink>> Attach(const std::string& device);
  // Removes the program, and the qdisc if Attach() added it.
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Since Attach(), over all CPUs.
  absl::StatusOr<SinkCount> Read() const;

 private:
  struct SkeletonDeleter {
    void operator()(afxdp_bench_sink_bpf* skeleton) const;
  };
  using Skeleton = std::unique_ptr<afxdp_bench_sink_bpf, SkeletonDeleter>;

  Sink(Skeleton skeleton, int ifindex) : skeleton_(std::move(skeleton)), ifindex_(ifindex) {}

  Skeleton skeleton_;
  int ifindex_;
  bool qdisc_added_ = false;
  uint32_t handle_ = 0;  // Of the filter; 0: none attached.
  uint32_t priority_ = 0;
};

}  // namespace afxdp

#endif  // BENCH_TRAFFIC_SINK_H_

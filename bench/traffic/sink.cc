// SPDX-License-Identifier: Apache-2.0
#include "sink.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "afxdp_bench_sink_bpf.skel.h"
#include "traffic_shared.h"

namespace afxdp {

void Sink::SkeletonDeleter::operator()(afxdp_bench_sink_bpf* skeleton) const {
  afxdp_bench_sink_bpf__destroy(skeleton);
}

absl::StatusOr<std::unique_ptr<Sink>> Sink::Attach(const std::string& device) {
  const int ifindex = static_cast<int>(if_nametoindex(device.c_str()));
  if (ifindex == 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("looking up device ", device));
  }
  Skeleton skeleton(afxdp_bench_sink_bpf__open_and_load());
  if (skeleton == nullptr) {
    return absl::ErrnoToStatus(errno, "loading the sink's BPF program");
  }
  const int program = bpf_program__fd(skeleton->progs.bench_sink);
  std::unique_ptr<Sink> sink(new Sink(std::move(skeleton), ifindex));

  LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_INGRESS);
  const int created = bpf_tc_hook_create(&hook);
  if (created != 0 && created != -EEXIST) {
    return absl::ErrnoToStatus(-created, absl::StrCat("adding a clsact qdisc to ", device));
  }
  sink->qdisc_added_ = created == 0;
  LIBBPF_OPTS(bpf_tc_opts, filter, .prog_fd = program);
  if (int error = bpf_tc_attach(&hook, &filter); error != 0) {
    return absl::ErrnoToStatus(-error, absl::StrCat("attaching the sink to ", device));
  }
  sink->handle_ = filter.handle;
  sink->priority_ = filter.priority;
  return sink;
}

Sink::~Sink() {
  LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex_, .attach_point = BPF_TC_INGRESS);
  if (handle_ != 0) {
    LIBBPF_OPTS(bpf_tc_opts, filter, .handle = handle_, .priority = priority_);
    bpf_tc_detach(&hook, &filter);
  }
  if (qdisc_added_) {
    // Only for both directions at once does libbpf delete the qdisc and not merely its filters.
    hook.attach_point = static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS);
    bpf_tc_hook_destroy(&hook);
  }
}

absl::StatusOr<SinkCount> Sink::Read() const {
  std::vector<bench_sink_count> per_cpu(static_cast<size_t>(libbpf_num_possible_cpus()));
  const uint32_t key = 0;
  const int map = bpf_map__fd(skeleton_->maps.sink_counts);
  if (bpf_map_lookup_elem(map, &key, per_cpu.data()) != 0) {
    return absl::ErrnoToStatus(errno, "reading the sink's counters");
  }
  SinkCount total;
  for (const bench_sink_count& count : per_cpu) {
    total.packets += count.packets;
    total.bytes += count.bytes;
  }
  return total;
}

}  // namespace afxdp

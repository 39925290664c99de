/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What the traffic tool and its BPF programs agree on. */
#ifndef BENCH_TRAFFIC_TRAFFIC_SHARED_H
#define BENCH_TRAFFIC_TRAFFIC_SHARED_H

#include <linux/types.h>

/* Flows differ in their UDP source port first, in their IPv4 source address from the
 * (1 << BENCH_PORT_BITS)th on. */
#define BENCH_PORT_BITS 15
#define BENCH_FIRST_PORT 1024

/* Read-only for the generator's program, set before it is loaded. */
struct bench_gen_config {
  __u32 ifindex; /* The container's end of the veth. */
  __u32 flows;
  __u32 src_ip; /* Of the first flow, host byte order. */
  /* Ones' complement sums over what all flows share: the IPv4 header without check and saddr, and
   * the UDP pseudo header, header and payload without check, saddr and source port.  Folded to 16
   * bits, in the byte order of the packet. */
  __u32 ip_sum;
  __u32 udp_sum;
};

/* The sink's count, one per CPU. */
struct bench_sink_count {
  __u64 packets;
  __u64 bytes;
};

#endif /* BENCH_TRAFFIC_TRAFFIC_SHARED_H */

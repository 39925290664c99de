// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Counts and drops IPv4 at tc ingress.  Not an XDP program: on a veth that gets skbs, one would
 * make the kernel copy each of them first (veth_convert_skb_to_xdp_buff), which no container pays. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "traffic_shared.h"

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bench_sink_count);
} sink_counts SEC(".maps");

SEC("tc")
int bench_sink(struct __sk_buff *skb)
{
    __u32 zero = 0;
    struct bench_sink_count *count = bpf_map_lookup_elem(&sink_counts, &zero);
    if (!count || skb->protocol != bpf_htons(ETH_P_IP)) {
        return TC_ACT_OK;
    }
    count->packets++;
    count->bytes += skb->len;
    return TC_ACT_SHOT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

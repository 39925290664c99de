// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Sends each frame of a test run out of a device, as the next flow.
 *
 * Test-run frames keep what an earlier run wrote into them (only their pointers are restored,
 * reset_ctx() in net/bpf/test_run.c), so every varying field is written every time. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "traffic_shared.h"

struct frame {
    struct ethhdr eth;
    struct iphdr ip;
    struct udphdr udp;
} __attribute__((packed));

const volatile struct bench_gen_config config;
/* One thread generates, so plain increments will do. */
__u64 offered;
__u32 next_flow;

static __u16 fold(__u32 sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

SEC("xdp")
int bench_gen(struct xdp_md *ctx)
{
    struct frame *frame = (void *)(long)ctx->data;
    if ((void *)(frame + 1) > (void *)(long)ctx->data_end) {
        return XDP_ABORTED;
    }

    __u32 flow = next_flow;
    next_flow = flow + 1 < config.flows ? flow + 1 : 0;

    __u32 address = bpf_htonl(config.src_ip + (flow >> BENCH_PORT_BITS));
    __u16 port = bpf_htons(BENCH_FIRST_PORT + (flow & ((1 << BENCH_PORT_BITS) - 1)));
    __u32 address_sum = (address & 0xffff) + (address >> 16);
    __u16 udp_check = ~fold(config.udp_sum + address_sum + port);

    frame->ip.saddr = address;
    frame->ip.check = ~fold(config.ip_sum + address_sum);
    frame->udp.source = port;
    frame->udp.check = udp_check ? udp_check : 0xffff; /* 0 means "none" (RFC 768). */

    offered++;
    return bpf_redirect(config.ifindex, 0);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The maps that a port's programs share. */
#ifndef BPF_MAPS_BPF_H
#define BPF_MAPS_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "afxdp_shared.h"

/* RX queue number -> XSK.  An empty slot means that the queue is not ours. */
struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __uint(max_entries, AFXDP_MAX_QUEUES);
    __type(key, __u32);
    __type(value, __u32);
} afxdp_xsks SEC(".maps");

#endif /* BPF_MAPS_BPF_H */

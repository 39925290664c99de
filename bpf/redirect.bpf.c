// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The default program: a packet goes to the XSK of the queue that it came in on, and to the kernel's
 * stack when that queue has none.  Nothing else, since every instruction here is paid per packet. */
#include "maps.bpf.h"

SEC("xdp")
int afxdp_redirect(struct xdp_md *ctx)
{
    /* The lower bits of the flags are what the helper returns for an empty slot
     * (__bpf_xdp_redirect_map in include/linux/filter.h). */
    return bpf_redirect_map(&afxdp_xsks, ctx->rx_queue_index, XDP_PASS);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

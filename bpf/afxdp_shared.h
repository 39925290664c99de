/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What the XDP programs and the C++ library agree on.  Included by both, so it holds plain numbers
 * and structs only. */
#ifndef BPF_AFXDP_SHARED_H
#define BPF_AFXDP_SHARED_H

/* Entries of a port's XSKMAP, one per device queue by its number. */
#define AFXDP_MAX_QUEUES 256

#endif /* BPF_AFXDP_SHARED_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the rest of Open vSwitch calls of the AF_XDP provider: the callbacks of
 * the netdev classes "afxdp" and "afxdp-nonpmd" (their tables are in
 * netdev-linux.c), and what dp-packet.[ch] needs for a packet that lies in a
 * frame of the provider's pool (source DPBUF_AFXDP). */

#ifndef NETDEV_AFXDP_H
#define NETDEV_AFXDP_H 1

#include <stdbool.h>

struct dp_packet;
struct dp_packet_batch;
struct netdev;
struct netdev_custom_stats;
struct netdev_rxq;
struct netdev_stats;
struct smap;

#ifdef HAVE_AF_XDP

/* Takes the daemon-wide options out of the 'other_config' column of the
 * Open_vSwitch table.  Must be called before the first port is added. */
void netdev_afxdp_init(const struct smap *other_config);

/* Callbacks of the netdev classes, see struct netdev_class. */
int netdev_afxdp_construct(struct netdev *);
void netdev_afxdp_destruct(struct netdev *);
int netdev_afxdp_get_config(const struct netdev *, struct smap *args);
int netdev_afxdp_set_config(struct netdev *, const struct smap *args,
                            char **errp);
int netdev_afxdp_reconfigure(struct netdev *);
int netdev_afxdp_get_stats(const struct netdev *, struct netdev_stats *);
int netdev_afxdp_get_custom_stats(const struct netdev *,
                                  struct netdev_custom_stats *);
int netdev_afxdp_get_status(const struct netdev *, struct smap *);
void netdev_afxdp_rxq_wait(struct netdev_rxq *);
int netdev_afxdp_rxq_construct(struct netdev_rxq *);
void netdev_afxdp_rxq_destruct(struct netdev_rxq *);
int netdev_afxdp_rxq_recv(struct netdev_rxq *, struct dp_packet_batch *,
                          int *qfill);
int netdev_afxdp_batch_send(struct netdev *, int qid,
                            struct dp_packet_batch *, bool concurrent_txq);

/* Returns EINVAL if a packet of 'mtu' bytes does not fit into a frame. */
int netdev_afxdp_verify_mtu_size(const struct netdev *, int mtu);

/* Called from the fatal signal handler for each device. */
void signal_remove_xdp(struct netdev *);

/* Frees a DPBUF_AFXDP packet: its frame, and its data if they have moved to
 * the heap.  Any thread. */
void free_afxdp_buf(struct dp_packet *);

/* Frees the data of a DPBUF_AFXDP packet if they have moved to the heap.  The
 * caller gives the packet other data, or none. */
void free_afxdp_heap_base(struct dp_packet *);

/* Returns a copy of the DPBUF_AFXDP packet 'src' in another frame of the pool,
 * or a null pointer if there is no free frame or 'src' would not fit. */
struct dp_packet *clone_afxdp_buf(const struct dp_packet *src);

#else /* !HAVE_AF_XDP */

#include <stddef.h>

#include "openvswitch/compiler.h"

static inline void
netdev_afxdp_init(const struct smap *other_config OVS_UNUSED)
{
    /* Nothing. */
}

static inline void
free_afxdp_buf(struct dp_packet *p OVS_UNUSED)
{
    /* Nothing. */
}

static inline void
free_afxdp_heap_base(struct dp_packet *p OVS_UNUSED)
{
    /* Nothing. */
}

static inline struct dp_packet *
clone_afxdp_buf(const struct dp_packet *src OVS_UNUSED)
{
    return NULL;
}

#endif /* HAVE_AF_XDP */
#endif /* netdev-afxdp.h */

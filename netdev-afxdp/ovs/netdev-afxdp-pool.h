/* SPDX-License-Identifier: Apache-2.0
 *
 * The AF_XDP provider's pool of frames, its packets and the hot path.
 *
 * Every frame of the pool has a slot for its packet's header, in an array that
 * the library keeps beside the frames: struct afxdp_slot, of which the rest of
 * OVS sees the dp_packet.  A packet is never allocated; to own the slot is to
 * own the frame. */

#ifndef NETDEV_AFXDP_POOL_H
#define NETDEV_AFXDP_POOL_H 1

#ifdef HAVE_AF_XDP

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "afxdp_api.h"
#include "dp-packet.h"
#include "openvswitch/list.h"
#include "ovs-atomic.h"

struct netdev;

struct afxdp_slot {
    /* First byte of the slot's frame; the lowest bit (AFXDP_SLOT_CLONE) says
     * that the packet is a clone.  It is kept here because dp_packet_base()
     * leaves the frame when the packet is resized, and because a clone
     * inherits everything behind 'l2_pad_size' from the original. */
    uintptr_t tagged_frame;

    struct dp_packet packet;
};

#define AFXDP_SLOT_CLONE ((uintptr_t) 1)

/* The AF_XDP part of a struct netdev_linux. */
struct netdev_afxdp {
    /* The queues of 'port' for threads that poll and send.  Changed only while
     * no thread does, by netdev_afxdp_reconfigure() and when the port is
     * closed.  Null until the first reconfiguration of an open port. */
    struct afxdp_queue **queues;
    size_t n_queues;

    /* Packets that were to be sent while there was no queue.  Any thread. */
    atomic_uint64_t tx_dropped;

    /* How many rxqs of this netdev are open.  If none, then no datapath has
     * this netdev as a port that polls. */
    atomic_count n_rxqs_open;

    /* afxdp_port_apply() has something to do.  Set by the main thread and by
     * the library's. */
    atomic_bool apply_wanted;

    /* Guarded by the netdev_linux's mutex. */
    struct afxdp_port *port;    /* Null until opened and after a failure. */

    /* In 'all_devs', guarded by 'all_devs_mutex'. */
    struct ovs_list list_node;
    struct netdev *netdev;
};

/* Makes sure that the datapath exists, with the daemon-wide options that
 * netdev_afxdp_init() was given last.  Maps memory and starts threads, so it
 * must not be called before there is a port to open: not every daemon has
 * one, and those that do may still have to fork.  Returns 0 or a positive
 * errno value, then with a message for afxdp_free() in '*error'. */
int afxdp_pool_create_once(const struct afxdp_callbacks *, char **error);

/* Null until afxdp_pool_create_once() has succeeded. */
struct afxdp_datapath *afxdp_pool_datapath(void);

#endif /* HAVE_AF_XDP */
#endif /* netdev-afxdp-pool.h */

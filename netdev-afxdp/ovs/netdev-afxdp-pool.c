/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "netdev-afxdp-pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dp-packet.h"
#include "netdev-afxdp.h"
#include "netdev-linux-private.h"
#include "openvswitch/compiler.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/thread.h"
#include "openvswitch/vlog.h"
#include "smap.h"
#include "unixctl.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(netdev_afxdp_pool);

#define FRAME_SIZE 4096

/* dp_packet_set_allocated() takes 16 bits. */
BUILD_ASSERT_DECL(FRAME_SIZE <= UINT16_MAX);

/* How many packets go to the library in one call.  A batch that is sent can
 * hold more, see dp_packet_batch_grow(). */
enum { SEND_CHUNK = NETDEV_MAX_BURST };

/* Written once, before there is any port and so any packet. */
static struct afxdp_datapath *datapath;

/* The daemon-wide options as the user wrote them; null: not set. */
static struct ovs_mutex options_mutex = OVS_MUTEX_INITIALIZER;
static char *umem_frames OVS_GUARDED_BY(options_mutex);
static char *hugepages OVS_GUARDED_BY(options_mutex);

/* The pool: daemon-wide options, creation, commands. */

/* Fills 'config' with the daemon-wide options.  Unacceptable ones get the
 * default; '*error' then says so and must be given to afxdp_free(). */
static int
parse_options(struct afxdp_datapath_config *config, char **error)
    OVS_EXCLUDED(options_mutex)
{
    int retval;

    ovs_mutex_lock(&options_mutex);
    retval = afxdp_datapath_parse(umem_frames, hugepages, config, error);
    ovs_mutex_unlock(&options_mutex);

    return retval;
}

int
afxdp_pool_create_once(const struct afxdp_callbacks *callbacks, char **error)
{
    static struct ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
    int retval = 0;

    ovs_mutex_lock(&mutex);
    if (!datapath) {
        struct afxdp_datapath_config config;
        char *warning = NULL;

        memset(&config, 0, sizeof config);
        /* netdev_afxdp_init() has logged what is wrong with the options. */
        parse_options(&config, &warning);
        afxdp_free(warning);

        /* The datapath writes 'md' of each packet: it starts a cache line. */
        config.header_size = sizeof(struct afxdp_slot);
        config.header_align = CACHE_LINE_SIZE;
        config.header_align_offset = offsetof(struct afxdp_slot, packet)
                                     + offsetof(struct dp_packet, md);
        config.callbacks = *callbacks;
        retval = afxdp_datapath_create(&config, &datapath, error);
    }
    ovs_mutex_unlock(&mutex);

    return retval;
}

struct afxdp_datapath *
afxdp_pool_datapath(void)
{
    return datapath;
}

static void
unixctl_pool(struct unixctl_conn *conn, int argc OVS_UNUSED,
             const char *argv[] OVS_UNUSED, void *aux OVS_UNUSED)
{
    char *text;

    if (!datapath) {
        unixctl_command_reply_error(conn, "there is no pool yet: the first "
                                    "afxdp port creates it");
        return;
    }

    text = afxdp_datapath_describe_pool(datapath);
    unixctl_command_reply(conn, text);
    afxdp_free(text);
}

static void
unixctl_show(struct unixctl_conn *conn, int argc, const char *argv[],
             void *aux OVS_UNUSED)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    char *text;

    text = datapath ? afxdp_datapath_describe_ports(datapath, name) : NULL;
    if (text) {
        unixctl_command_reply(conn, text);
        afxdp_free(text);
    } else if (name) {
        text = xasprintf("%s: no such afxdp port", name);
        unixctl_command_reply_error(conn, text);
        free(text);
    } else {
        unixctl_command_reply(conn, "");
    }
}

/* Replaces '*option' by 'value', either of which may be null.  Returns true if
 * they differ. */
static bool
replace_option(char **option, const char *value)
{
    if (nullable_string_is_equal(*option, value)) {
        return false;
    }
    free(*option);
    *option = nullable_xstrdup(value);
    return true;
}

/* Called at each turn of the main loop. */
void
netdev_afxdp_init(const struct smap *other_config)
{
    static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;
    struct afxdp_datapath_config config;
    char *error = NULL;
    bool changed;

    if (ovsthread_once_start(&once)) {
        unixctl_command_register("afxdp/pool", "", 0, 0, unixctl_pool, NULL);
        unixctl_command_register("afxdp/show", "[port]", 0, 1, unixctl_show,
                                 NULL);
        ovsthread_once_done(&once);
    }

    ovs_mutex_lock(&options_mutex);
    changed = replace_option(&umem_frames,
                             smap_get(other_config, "afxdp-umem-frames"));
    changed |= replace_option(&hugepages,
                              smap_get(other_config, "afxdp-hugepages"));
    ovs_mutex_unlock(&options_mutex);
    if (!changed) {
        return;
    }

    if (parse_options(&config, &error)) {
        VLOG_WARN("%s, so the default is used", error);
    }
    afxdp_free(error);
    if (datapath) {
        VLOG_WARN("other_config:afxdp-umem-frames and afxdp-hugepages take "
                  "effect when ovs-vswitchd is restarted");
    }
}

/* Packets. */

static inline struct afxdp_slot *
afxdp_slot_cast(const struct dp_packet *packet)
{
    ovs_assert(packet->source == DPBUF_AFXDP);
    return CONTAINER_OF(packet, struct afxdp_slot, packet);
}

/* Do the packet's data still lie in its frame, that is, has it never been
 * through dp_packet_resize()? */
static inline bool
afxdp_slot_in_frame(const struct afxdp_slot *slot)
{
    const void *base = dp_packet_base(&slot->packet);

    return (uintptr_t) base == (slot->tagged_frame & ~AFXDP_SLOT_CLONE);
}

/* Makes 'slot' a packet of 'size' bytes at 'data' in 'frame', with all of the
 * frame before and behind them as headroom and tailroom.  'md' is left to the
 * datapath (or to the caller). */
static inline void
afxdp_slot_init(struct afxdp_slot *slot, void *frame, void *data,
                uint32_t size)
{
    struct dp_packet *packet = &slot->packet;

    slot->tagged_frame = (uintptr_t) frame;
    dp_packet_init_specific(packet);
    dp_packet_set_base(packet, frame);
    dp_packet_set_allocated(packet, FRAME_SIZE);
    dp_packet_set_data(packet, data);
    dp_packet_set_size(packet, size);
    packet->source = DPBUF_AFXDP;
    dp_packet_reset_offload(packet);
    dp_packet_reset_offsets(packet);
    dp_packet_reset_cutlen(packet);
    dp_packet_set_tso_segsz(packet, 0);
    packet->packet_type = htonl(PT_ETH);
}

void
free_afxdp_heap_base(struct dp_packet *packet)
{
    if (!afxdp_slot_in_frame(afxdp_slot_cast(packet))) {
        free(dp_packet_base(packet));
    }
}

void
free_afxdp_buf(struct dp_packet *packet)
{
    free_afxdp_heap_base(packet);
    afxdp_frame_free(datapath, afxdp_slot_cast(packet));
}

struct dp_packet *
clone_afxdp_buf(const struct dp_packet *src)
{
    struct afxdp_slot *slot;
    uint32_t mark;
    void *frame;
    char *data;

    if (!afxdp_slot_in_frame(afxdp_slot_cast(src))) {
        /* It may be larger than a frame. */
        return NULL;
    }

    slot = afxdp_frame_alloc(datapath, &frame);
    if (!slot) {
        return NULL;
    }

    data = (char *) frame + dp_packet_headroom(src);
    afxdp_slot_init(slot, frame, data, dp_packet_size(src));
    slot->tagged_frame |= AFXDP_SLOT_CLONE;
    memcpy(data, dp_packet_data(src), dp_packet_size(src));

    /* As dp_packet_clone_with_headroom() does. */
    memcpy(&slot->packet.l2_pad_size, &src->l2_pad_size,
           sizeof *src - offsetof(struct dp_packet, l2_pad_size));
    dp_packet_set_tso_segsz(&slot->packet, dp_packet_get_tso_segsz(src));
    if (dp_packet_rss_valid(src)) {
        dp_packet_set_rss_hash(&slot->packet, dp_packet_get_rss_hash(src));
    }
    if (dp_packet_has_flow_mark(src, &mark)) {
        dp_packet_set_flow_mark(&slot->packet, mark);
    }
    return &slot->packet;
}

/* Receive. */

int
netdev_afxdp_rxq_construct(struct netdev_rxq *rxq_)
{
    struct netdev_rxq_linux *rxq = netdev_rxq_linux_cast(rxq_);
    struct netdev_afxdp *afxdp = netdev_linux_cast(rxq_->netdev)->afxdp;

    if (rxq_->queue_id >= afxdp->n_queues) {
        return ENODEV;
    }

    /* For netdev_linux_rxq_wait(). */
    rxq->fd = afxdp_queue_fd(afxdp->queues[rxq_->queue_id]);
    atomic_count_inc(&afxdp->n_rxqs_open);
    return 0;
}

void
netdev_afxdp_rxq_destruct(struct netdev_rxq *rxq)
{
    atomic_count_dec(&netdev_linux_cast(rxq->netdev)->afxdp->n_rxqs_open);
}

int
netdev_afxdp_rxq_recv(struct netdev_rxq *rxq, struct dp_packet_batch *batch,
                      int *qfill)
{
    const struct netdev_afxdp *afxdp = netdev_linux_cast(rxq->netdev)->afxdp;
    struct afxdp_packet packets[NETDEV_MAX_BURST];
    size_t n;

    if (OVS_UNLIKELY(rxq->queue_id >= afxdp->n_queues)) {
        return EAGAIN;
    }

    n = afxdp_queue_receive(afxdp->queues[rxq->queue_id], packets,
                            NETDEV_MAX_BURST);
    if (!n) {
        return EAGAIN;
    }

    for (size_t i = 0; i < n; i++) {
        const struct afxdp_packet *packet = &packets[i];
        struct afxdp_slot *slot = packet->header;
        void *frame = (void *) ((uintptr_t) packet->data
                                & ~(uintptr_t) (FRAME_SIZE - 1));

        afxdp_slot_init(slot, frame, packet->data, packet->length);
        batch->packets[i] = &slot->packet;
    }
    batch->count = n;

    if (qfill) {
        *qfill = -ENOTSUP;
    }
    return 0;
}

/* Called for ports that the main thread polls, besides waiting for packets. */
void
netdev_afxdp_rxq_wait(struct netdev_rxq *rxq)
{
    const struct netdev_afxdp *afxdp = netdev_linux_cast(rxq->netdev)->afxdp;

    if (rxq->queue_id < afxdp->n_queues
        && afxdp_queue_is_busy(afxdp->queues[rxq->queue_id])) {
        poll_timer_wait(1);
    }
}

/* Transmit. */

static inline enum afxdp_transmit_kind
transmit_kind(const struct dp_packet *packet)
{
    const struct afxdp_slot *slot;

    if (packet->source != DPBUF_AFXDP) {
        return AFXDP_COPY_FOREIGN;
    }

    slot = afxdp_slot_cast(packet);
    if (OVS_UNLIKELY(!afxdp_slot_in_frame(slot))) {
        return AFXDP_COPY_UNFIT;
    }
    return (slot->tagged_frame & AFXDP_SLOT_CLONE
            ? AFXDP_IN_PLACE_CLONE
            : AFXDP_IN_PLACE);
}

/* Sends or drops the 'n' packets, at most SEND_CHUNK.  Returns how many were
 * sent. */
static size_t
send_chunk(struct afxdp_queue *queue, struct dp_packet **packets, size_t n)
{
    struct afxdp_transmit transmits[SEND_CHUNK];
    struct dp_packet *copied[SEND_CHUNK];
    size_t n_copied = 0;
    size_t n_sent;

    for (size_t i = 0; i < n; i++) {
        struct afxdp_transmit *transmit = &transmits[i];
        struct dp_packet *packet = packets[i];

        transmit->data = dp_packet_data(packet);
        transmit->frame = dp_packet_base(packet);
        transmit->length = dp_packet_size(packet);
        transmit->kind = transmit_kind(packet);
        if (transmit->kind != AFXDP_IN_PLACE
            && transmit->kind != AFXDP_IN_PLACE_CLONE) {
            copied[n_copied++] = packet;
        }
    }

    n_sent = afxdp_queue_transmit(queue, transmits, n);

    /* The frames sent in place, and so their packets, are the queue's. */
    for (size_t i = 0; i < n_copied; i++) {
        dp_packet_delete(copied[i]);
    }
    return n_sent;
}

/* The library locks the queue itself, because OVS's 'concurrent_txq' says
 * nothing about the thread that polls the queue of the same number and takes
 * frames off its completion ring. */
int
netdev_afxdp_batch_send(struct netdev *netdev, int qid,
                        struct dp_packet_batch *batch,
                        bool concurrent_txq OVS_UNUSED)
{
    struct netdev_afxdp *afxdp = netdev_linux_cast(netdev)->afxdp;
    size_t n = dp_packet_batch_size(batch);
    struct afxdp_queue *queue;
    size_t n_sent = 0;

    if (OVS_UNLIKELY(!afxdp->n_queues)) {
        uint64_t old;

        atomic_add_relaxed(&afxdp->tx_dropped, n, &old);
        dp_packet_delete_batch(batch, true);
        return ENETDOWN;
    }

    queue = afxdp->queues[qid % afxdp->n_queues];
    for (size_t i = 0; i < n; i += SEND_CHUNK) {
        n_sent += send_chunk(queue, &batch->packets[i],
                             MIN(n - i, SEND_CHUNK));
    }
    dp_packet_batch_reset(batch);

    return n_sent == n ? 0 : EAGAIN;
}

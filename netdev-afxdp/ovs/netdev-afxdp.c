/* SPDX-License-Identifier: Apache-2.0
 *
 * The control side of the AF_XDP provider: a port's life from construct to
 * destruct, its options, and what it shows.  The pool, the packets and the hot
 * path are in netdev-afxdp-pool.c; what touches the kernel is in the library,
 * behind afxdp_api.h.
 *
 * Locks.  A port is opened, reconfigured and closed by the main thread, except
 * that netdev_afxdp_destruct() may run in any thread.  The mutex of the
 * netdev_linux guards the members that other threads read as well.  The order
 * is netdev_mutex (netdev.c), all_devs_mutex, netdev_linux's mutex.  The
 * library's threads call back with none of them held and take none. */

#include <config.h>

#include "netdev-afxdp.h"

#include <errno.h>
#include <stdlib.h>

#include "afxdp_api.h"
#include "if-notifier.h"
#include "netdev-afxdp-pool.h"
#include "netdev-linux-private.h"
#include "netdev-provider.h"
#include "openvswitch/list.h"
#include "openvswitch/thread.h"
#include "openvswitch/vlog.h"
#include "ovs-atomic.h"
#include "smap.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(netdev_afxdp);

static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(5, 20);

/* Every netdev_afxdp from construct to destruct. */
static struct ovs_mutex all_devs_mutex = OVS_MUTEX_INITIALIZER;
static struct ovs_list all_devs OVS_GUARDED_BY(all_devs_mutex)
    = OVS_LIST_INITIALIZER(&all_devs);

/* Callbacks: may be called by the library's own threads. */

static void
log_message(enum afxdp_log_level level, const char *message)
{
    switch (level) {
    case AFXDP_LOG_ERROR:
        VLOG_ERR_RL(&rl, "%s", message);
        break;
    case AFXDP_LOG_WARNING:
        VLOG_WARN_RL(&rl, "%s", message);
        break;
    case AFXDP_LOG_INFO:
        VLOG_INFO("%s", message);
        break;
    case AFXDP_LOG_DEBUG:
    default:
        VLOG_DBG("%s", message);
        break;
    }
}

static void
port_wants_reconfigure(void *netdev_)
{
    struct netdev *netdev = netdev_;

    atomic_store(&netdev_linux_cast(netdev)->afxdp->apply_wanted, true);
    netdev_request_reconfigure(netdev);
}

static void
port_status_changed(void *netdev)
{
    netdev_change_seq_changed(netdev);
}

static const struct afxdp_callbacks callbacks = {
    .log = log_message,
    .port_wants_reconfigure = port_wants_reconfigure,
    .port_status_changed = port_status_changed,
    .ports_may_open = if_notifier_manual_report,
};

/* Opening and closing. */

/* Takes the port away from 'dev' and closes it.  No thread may poll 'dev' or
 * send on it. */
static void
close_port(struct netdev_linux *dev)
    OVS_EXCLUDED(dev->mutex)
{
    struct netdev_afxdp *afxdp = dev->afxdp;
    struct afxdp_port *port;

    ovs_mutex_lock(&dev->mutex);
    port = afxdp->port;
    afxdp->port = NULL;
    afxdp->n_queues = 0;
    free(afxdp->queues);
    afxdp->queues = NULL;
    ovs_mutex_unlock(&dev->mutex);

    if (port) {
        afxdp_port_close(port);
    }
}

/* When the bridge deletes a port and adds it again, netdev_remove() makes room
 * for a new netdev of the same name, but the old one lives on with its sockets
 * until the last reference is gone, some of which are freed by RCU: not before
 * the main thread, which is about to open the new one, has come to rest.  The
 * datapath has closed the old one's rxqs by then, and does not send on it any
 * more. */
static void
close_predecessors(struct netdev *netdev)
    OVS_EXCLUDED(all_devs_mutex)
{
    struct netdev_afxdp *other;

    ovs_mutex_lock(&all_devs_mutex);
    LIST_FOR_EACH (other, list_node, &all_devs) {
        if (other->netdev != netdev
            && !strcmp(netdev_get_name(other->netdev),
                       netdev_get_name(netdev))
            && !atomic_count_get(&other->n_rxqs_open)) {
            close_port(netdev_linux_cast(other->netdev));
        }
    }
    ovs_mutex_unlock(&all_devs_mutex);
}

/* Opens the port of 'netdev', which has none.  Without the mutex: binding may
 * have to wait for queues that are being torn down. */
static int
open_port(struct netdev *netdev, const struct afxdp_port_options_text *options,
          char **error)
{
    struct netdev_linux *dev = netdev_linux_cast(netdev);
    struct afxdp_port *port;
    int retval;

    retval = afxdp_pool_create_once(&callbacks, error);
    if (retval) {
        return retval;
    }

    close_predecessors(netdev);
    retval = afxdp_port_open(afxdp_pool_datapath(), netdev_get_name(netdev),
                             options, netdev, &port, error);
    if (retval) {
        return retval;
    }

    ovs_mutex_lock(&dev->mutex);
    dev->afxdp->port = port;
    ovs_mutex_unlock(&dev->mutex);

    return 0;
}

int
netdev_afxdp_construct(struct netdev *netdev)
{
    struct netdev_linux *dev = netdev_linux_cast(netdev);
    struct netdev_afxdp *afxdp;
    int error;

    error = netdev_linux_construct(netdev);
    if (error) {
        return error;
    }

    /* netdev_linux_construct() may have claimed what ethtool says that the
     * device offloads.  Nothing of it can be asked for on an XSK. */
    netdev->ol_flags = 0;

    /* Nothing to poll before the first reconfiguration.  One transmit queue is
     * claimed even then, because dpif-netdev always uses at least one. */
    netdev->n_rxq = 0;
    netdev->n_txq = 1;

    afxdp = xzalloc(sizeof *afxdp);
    atomic_init(&afxdp->tx_dropped, 0);
    atomic_count_init(&afxdp->n_rxqs_open, 0);
    atomic_init(&afxdp->apply_wanted, false);
    afxdp->netdev = netdev;
    dev->afxdp = afxdp;

    ovs_mutex_lock(&all_devs_mutex);
    ovs_list_push_back(&all_devs, &afxdp->list_node);
    ovs_mutex_unlock(&all_devs_mutex);

    netdev_request_reconfigure(netdev);
    return 0;
}

/* Runs under netdev_mutex, which nobody may hold for long: the library closes
 * the sockets in the background. */
void
netdev_afxdp_destruct(struct netdev *netdev)
{
    struct netdev_linux *dev = netdev_linux_cast(netdev);

    ovs_mutex_lock(&all_devs_mutex);
    ovs_list_remove(&dev->afxdp->list_node);
    ovs_mutex_unlock(&all_devs_mutex);

    close_port(dev);
    free(dev->afxdp);
    dev->afxdp = NULL;
    ovs_mutex_destroy(&dev->mutex);
}

/* Configuration. */

/* Logs why 'netdev' cannot be configured: 'text' (freed here), or 'error' if
 * that is null.  Stores it in '*errp' too, if that is nonnull.  At level INFO,
 * as the callers of our callers log a warning without the reason. */
static void
report_config_error(const struct netdev *netdev, int error, char *text,
                    char **errp)
{
    char *message = (text ? xstrdup(text)
                     : xasprintf("%s: %s", netdev_get_name(netdev),
                                 ovs_strerror(error)));

    VLOG_INFO_RL(&rl, "%s", message);
    if (errp) {
        *errp = message;
    } else {
        free(message);
    }
    afxdp_free(text);
}

/* Called for a new port, and then at every bridge_reconfigure(), that is, at
 * every change of any link: what has not changed must cost nothing.
 *
 * Only a message given here reaches the Interface's 'error' column.  So a new
 * port is opened here.  For a port that is there already 'errp' goes nowhere,
 * but an error makes the bridge delete it and add it again, which reports. */
int
netdev_afxdp_set_config(struct netdev *netdev, const struct smap *args,
                        char **errp)
{
    const struct afxdp_port_options_text options = {
        .xdp_mode = smap_get(args, "xdp-mode"),
        .n_rxq = smap_get(args, "n_rxq"),
        .start_queue = smap_get(args, "start-queue"),
        .n_rxq_desc = smap_get(args, "n_rxq_desc"),
        .n_txq_desc = smap_get(args, "n_txq_desc"),
        .use_need_wakeup = smap_get(args, "use-need-wakeup"),
    };
    struct netdev_linux *dev = netdev_linux_cast(netdev);
    struct netdev_afxdp *afxdp = dev->afxdp;
    bool changed = false;
    char *text = NULL;
    bool is_open;
    int error = 0;

    ovs_mutex_lock(&dev->mutex);
    is_open = afxdp->port != NULL;
    if (is_open) {
        error = afxdp_port_prepare(afxdp->port, &options, &changed, &text);
    }
    ovs_mutex_unlock(&dev->mutex);

    if (!is_open) {
        error = open_port(netdev, &options, &text);
    }

    if (error) {
        report_config_error(netdev, error, text, errp);
        return error;
    }

    if (changed) {
        atomic_store(&afxdp->apply_wanted, true);
    }
    if (changed || !is_open) {
        netdev_request_reconfigure(netdev);
    }
    return 0;
}

static void
add_to_smap(void *smap, const char *key, const char *value)
{
    smap_replace(smap, key, value);
}

int
netdev_afxdp_get_config(const struct netdev *netdev, struct smap *args)
{
    struct netdev_linux *dev = netdev_linux_cast(netdev);

    ovs_mutex_lock(&dev->mutex);
    if (dev->afxdp->port) {
        afxdp_port_visit_config(dev->afxdp->port, add_to_smap, args);
    }
    ovs_mutex_unlock(&dev->mutex);

    return 0;
}

/* Lets the threads that poll and send see the port's queues as they are. */
static void
publish_queues(struct netdev_linux *dev)
    OVS_REQUIRES(dev->mutex)
{
    struct netdev_afxdp *afxdp = dev->afxdp;
    size_t n = afxdp_port_queue_count(afxdp->port);

    afxdp->queues = xrealloc(afxdp->queues, n * sizeof *afxdp->queues);
    for (size_t i = 0; i < n; i++) {
        afxdp->queues[i] = afxdp_port_queue(afxdp->port, i);
    }
    afxdp->n_queues = n;

    dev->up.n_rxq = n;
    dev->up.n_txq = MAX(n, 1);
}

/* Applies what is pending for a port that is open. */
static int
apply_port(struct netdev_linux *dev, bool *changed, char **text)
    OVS_EXCLUDED(dev->mutex)
{
    struct netdev_afxdp *afxdp = dev->afxdp;
    bool apply_wanted;
    int error = 0;

    ovs_mutex_lock(&dev->mutex);
    /* Cleared first: what the library wants from here on needs another run. */
    atomic_read(&afxdp->apply_wanted, &apply_wanted);
    if (apply_wanted) {
        atomic_store(&afxdp->apply_wanted, false);
        error = afxdp_port_apply(afxdp->port, text);
    }
    if (!error && (apply_wanted || !afxdp->queues)) {
        publish_queues(dev);
        *changed = true;
    }
    ovs_mutex_unlock(&dev->mutex);

    return error;
}

/* Called without a reason as well, e.g. when only the datapath's use of the
 * transmit queues changes.
 *
 * When the port cannot be what it should be, it is closed and its datapath
 * removes it; the bridge is asked to add it again, so that the reason reaches
 * the Interface's 'error' column. */
int
netdev_afxdp_reconfigure(struct netdev *netdev)
{
    struct netdev_linux *dev = netdev_linux_cast(netdev);
    bool changed = false;
    char *text = NULL;
    bool is_open;
    int error = 0;

    ovs_mutex_lock(&dev->mutex);
    is_open = dev->afxdp->port != NULL;
    ovs_mutex_unlock(&dev->mutex);

    if (!is_open) {
        /* Nobody has called netdev_afxdp_set_config(). */
        const struct afxdp_port_options_text defaults = { .xdp_mode = NULL };

        error = open_port(netdev, &defaults, &text);
    }
    if (!error) {
        error = apply_port(dev, &changed, &text);
    }

    if (error) {
        report_config_error(netdev, error, text, NULL);
        close_port(dev);
        netdev->n_rxq = 0;
        netdev->n_txq = 1;
        if_notifier_manual_report();
        changed = true;
    }
    if (changed) {
        netdev_change_seq_changed(netdev);
    }
    return error;
}

int
netdev_afxdp_verify_mtu_size(const struct netdev *netdev, int mtu)
{
    if (mtu > afxdp_max_mtu()) {
        /* netdev_set_mtu() logs a warning without the reason. */
        VLOG_INFO_RL(&rl, "%s: an MTU of %d does not fit into a frame, the "
                     "largest that does is %d",
                     netdev_get_name(netdev), mtu, afxdp_max_mtu());
        return EINVAL;
    }
    return 0;
}

/* Nothing to do: the XDP program is held by a bpf_link, which goes away with
 * the process however that ends. */
void
signal_remove_xdp(struct netdev *netdev OVS_UNUSED)
{
}

/* Statistics and status. */

int
netdev_afxdp_get_stats(const struct netdev *netdev, struct netdev_stats *stats)
{
    struct netdev_linux *dev = netdev_linux_cast(netdev);
    uint64_t tx_dropped, rx_dropped;
    int error;

    error = get_stats_via_netlink(netdev, stats);
    if (error) {
        return error;
    }

    atomic_read_relaxed(&dev->afxdp->tx_dropped, &tx_dropped);
    stats->tx_dropped += tx_dropped;

    ovs_mutex_lock(&dev->mutex);
    if (dev->afxdp->port) {
        afxdp_port_drops(dev->afxdp->port, &tx_dropped, &rx_dropped);
        stats->tx_dropped += tx_dropped;
        stats->rx_dropped += rx_dropped;
    }
    ovs_mutex_unlock(&dev->mutex);

    return 0;
}

struct counters {
    struct netdev_custom_stats *stats;
    size_t allocated;
};

static void
add_counter(void *counters_, const char *name, uint64_t value)
{
    struct counters *counters = counters_;
    struct netdev_custom_stats *stats = counters->stats;
    struct netdev_custom_counter *counter;

    if (stats->size == counters->allocated) {
        stats->counters = x2nrealloc(stats->counters, &counters->allocated,
                                     sizeof *stats->counters);
    }

    counter = &stats->counters[stats->size++];
    ovs_strlcpy(counter->name, name, sizeof counter->name);
    counter->value = value;
}

int
netdev_afxdp_get_custom_stats(const struct netdev *netdev,
                              struct netdev_custom_stats *stats)
{
    struct netdev_linux *dev = netdev_linux_cast(netdev);
    struct counters counters = { .stats = stats };

    stats->counters = NULL;
    stats->size = 0;

    ovs_mutex_lock(&dev->mutex);
    if (dev->afxdp->port) {
        afxdp_port_visit_counters(dev->afxdp->port, add_counter, &counters);
    }
    ovs_mutex_unlock(&dev->mutex);

    return 0;
}

int
netdev_afxdp_get_status(const struct netdev *netdev, struct smap *args)
{
    struct netdev_linux *dev = netdev_linux_cast(netdev);
    int error;

    /* Names the driver, which not every device does. */
    error = netdev_linux_get_status(netdev, args);

    ovs_mutex_lock(&dev->mutex);
    if (dev->afxdp->port) {
        afxdp_port_visit_status(dev->afxdp->port, add_to_smap, args);
        error = 0;
    }
    ovs_mutex_unlock(&dev->mutex);

    return error;
}

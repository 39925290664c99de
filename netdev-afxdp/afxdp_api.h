// SPDX-License-Identifier: Apache-2.0
//
// The C interface between the OVS side of the provider (C, built inside OVS's own tree) and the
// C++ library.  It is all that netdev-afxdp.c knows of the library, and the library knows nothing
// of OVS: what it must call back goes through `struct afxdp_callbacks`.
//
// Conventions: opaque handles, plain structs, no exception crosses.  A function that can fail
// returns 0 or a positive errno value and, where it has a `char **error`, stores a message there
// for people, to be given to afxdp_free().  The hot path (afxdp_queue_*, afxdp_frame_*) returns
// counts, never allocates and never logs.
#ifndef NETDEV_AFXDP_AFXDP_API_H
#define NETDEV_AFXDP_AFXDP_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct afxdp_datapath;  // The shared UMEM and everything that serves all ports.
struct afxdp_port;      // One network device with its XSKs.
struct afxdp_queue;     // One XSK: RX, fill, TX and completion ring of one device queue.

enum afxdp_log_level { AFXDP_LOG_ERROR, AFXDP_LOG_WARNING, AFXDP_LOG_INFO, AFXDP_LOG_DEBUG };

// What the library calls back.  All may be called from the library's own threads, never from the
// hot path, and must not call back into the library.
struct afxdp_callbacks {
  void (*log)(enum afxdp_log_level level, const char* message);
  // The port whose `owner` this is needs afxdp_port_apply(), at a time when no thread is receiving
  // or sending on it.
  void (*port_wants_reconfigure)(void* owner);
  // Something that afxdp_port_status() shows has changed.
  void (*port_status_changed)(void* owner);
  // A device that afxdp_port_open() found in somebody else's hands (EBUSY, EEXIST) is free now.
  void (*ports_may_open)(void);
};

// ---- Daemon-wide -------------------------------------------------------------------------------

struct afxdp_datapath_config {
  uint32_t frames;        // Frames of 4096 bytes in the pool; 0: the default.
  bool hugepages;         // Try huge pages first.
  uint32_t header_size;   // Bytes of the provider's packet header, one per frame.
  uint32_t header_align;  // The header's byte at `header_align_offset` is aligned to this.
  uint32_t header_align_offset;
  struct afxdp_callbacks callbacks;
};

// Checks the daemon-wide options as users write them (`frames` and `hugepages` may be null: not
// set) and stores them in `config`.  On EINVAL `config` holds the defaults for what was wrong.
int afxdp_datapath_parse(const char* frames, const char* hugepages,
                         struct afxdp_datapath_config* config, char** error);

// Maps the region.  Starts the library's threads, so it must not be called before a daemon forks.
// There is no destroy: the datapath lives as long as its process, because packets may be freed by
// any thread until the very end.
int afxdp_datapath_create(const struct afxdp_datapath_config* config,
                          struct afxdp_datapath** datapath, char** error);

// ---- Ports (control path; calls for one port must not overlap with its hot path unless said) ----

// Options as users write them; null: not set.
struct afxdp_port_options_text {
  const char* xdp_mode;
  const char* n_rxq;
  const char* start_queue;
  const char* n_rxq_desc;
  const char* n_txq_desc;
  const char* use_need_wakeup;
};

// Opens device `name` in the caller's network namespace: binds an XSK to each queue, posts frames
// for receive and attaches the XDP program.  `owner` is handed to the callbacks.  On failure
// nothing is left behind.
int afxdp_port_open(struct afxdp_datapath* datapath, const char* name,
                    const struct afxdp_port_options_text* options, void* owner,
                    struct afxdp_port** port, char** error);

// Checks `options` against the port's device, without touching the port; may run beside the hot
// path.  Returns ENODEV when the device that the port was opened on is not there any more under
// its name.  `*changed` says whether afxdp_port_apply() has something to do.
int afxdp_port_prepare(struct afxdp_port* port, const struct afxdp_port_options_text* options,
                       bool* changed, char** error);

// Makes the port what the last successful afxdp_port_prepare() said, rebuilding only what differs
// and queues that the kernel has abandoned.  No thread may be in the hot path of this port.
int afxdp_port_apply(struct afxdp_port* port, char** error);

// Closes the port.  Returns at once: sockets are closed in the background and their frames come
// back when the kernel has let go of them.  No callback for its owner runs after the return.
void afxdp_port_close(struct afxdp_port* port);

uint32_t afxdp_port_queue_count(const struct afxdp_port* port);
struct afxdp_queue* afxdp_port_queue(const struct afxdp_port* port, uint32_t index);

// Largest MTU that fits into a frame, in bytes.
int afxdp_max_mtu(void);

// Calls `visit` with each option in use, for get_config.  May run beside the hot path.
void afxdp_port_visit_config(const struct afxdp_port* port,
                             void (*visit)(void* aux, const char* key, const char* value),
                             void* aux);
// The same for what get_status shows.
void afxdp_port_visit_status(const struct afxdp_port* port,
                             void (*visit)(void* aux, const char* key, const char* value),
                             void* aux);
// Calls `visit` with each counter, named `xsk_queue_N_…`.  May run beside the hot path.
void afxdp_port_visit_counters(const struct afxdp_port* port,
                               void (*visit)(void* aux, const char* name, uint64_t value),
                               void* aux);
// Packets that the port gave up on, on transmit and on receive, and that the device's own counters
// do not know of.
void afxdp_port_drops(const struct afxdp_port* port, uint64_t* tx_dropped, uint64_t* rx_dropped);

// ---- What afxdp/pool and afxdp/show print; free with afxdp_free()
// --------------------------------

char* afxdp_datapath_describe_pool(struct afxdp_datapath* datapath);
// `name` null: all ports.  Returns null when there is no such port.
char* afxdp_datapath_describe_ports(struct afxdp_datapath* datapath, const char* name);
void afxdp_free(char* text);

// ---- Hot path ----------------------------------------------------------------------------------

// A received packet: its bytes, and the provider's header of the frame that holds them.  The
// receiver owns the frame until it gives it to afxdp_queue_transmit() or afxdp_frame_free().
struct afxdp_packet {
  void* data;
  void* header;
  uint32_t length;
};

// Moves at most `max` packets from the RX ring into `packets` and returns how many.  One thread at
// a time per queue.
size_t afxdp_queue_receive(struct afxdp_queue* queue, struct afxdp_packet* packets, size_t max);

// How a packet reaches the TX ring, and why it is copied if it is.
enum afxdp_transmit_kind {
  AFXDP_IN_PLACE,        // Its bytes lie in the frame of its header; the frame itself is sent.
  AFXDP_IN_PLACE_CLONE,  // The same, for a frame that afxdp_frame_alloc() gave for a clone.
  AFXDP_COPY_FOREIGN,    // Bytes from anywhere else, copied.
  AFXDP_COPY_UNFIT,      // A packet of the pool that outgrew its frame, copied.
};

struct afxdp_transmit {
  const void* data;
  const void* frame;  // First byte of the frame, for packets in place.
  uint32_t length;
  enum afxdp_transmit_kind kind;
};

// Sends `count` packets, or drops and counts them: none is kept.  In-place frames belong to the
// queue from here on whatever happens; the bytes of the others may be freed on return.  Any thread.
// Returns how many were put on the ring.
size_t afxdp_queue_transmit(struct afxdp_queue* queue, const struct afxdp_transmit* packets,
                            size_t count);

// The queue's socket, for poll().
int afxdp_queue_fd(const struct afxdp_queue* queue);

// Whether packets may be waiting to be sent again or to be taken back, for which no event comes:
// call afxdp_queue_receive() within about a millisecond, even when nothing has arrived.
bool afxdp_queue_is_busy(const struct afxdp_queue* queue);

// Takes a frame for a packet built by the caller.  Returns its header and sets `*frame` to its
// first byte (4096 bytes are the caller's), or null when the pool is empty.  Any thread.
void* afxdp_frame_alloc(struct afxdp_datapath* datapath, void** frame);

// Gives back the frame that `header` belongs to.  Any thread.
void afxdp_frame_free(struct afxdp_datapath* datapath, void* header);

#ifdef __cplusplus
}
#endif

#endif  // NETDEV_AFXDP_AFXDP_API_H

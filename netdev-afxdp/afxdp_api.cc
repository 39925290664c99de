// SPDX-License-Identifier: Apache-2.0
#include "netdev-afxdp/afxdp_api.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "datapath/base/errno_status.h"
#include "datapath/base/log.h"
#include "datapath/port/datapath.h"

// The opaque handles.  Ports and queues are the library's own objects by another name.
struct afxdp_datapath {
  std::unique_ptr<afxdp::Datapath> datapath;
  afxdp::Umem* umem;  // Of `datapath`, a step nearer for the hot path.
  afxdp_callbacks callbacks;
};

struct afxdp_port {
  afxdp_datapath* owner;
  afxdp::Port* port;
};

namespace {

using afxdp::Queue;

// C's view of packets is ours: the arrays are handed through as they are.
static_assert(sizeof(afxdp_packet) == sizeof(afxdp::ReceivedPacket));
static_assert(offsetof(afxdp_packet, data) == offsetof(afxdp::ReceivedPacket, data));
static_assert(offsetof(afxdp_packet, header) == offsetof(afxdp::ReceivedPacket, header));
static_assert(offsetof(afxdp_packet, length) == offsetof(afxdp::ReceivedPacket, length));
static_assert(sizeof(afxdp_transmit) == sizeof(afxdp::TransmitPacket));
static_assert(offsetof(afxdp_transmit, data) == offsetof(afxdp::TransmitPacket, data));
static_assert(offsetof(afxdp_transmit, frame) == offsetof(afxdp::TransmitPacket, frame));
static_assert(offsetof(afxdp_transmit, length) == offsetof(afxdp::TransmitPacket, length));
static_assert(offsetof(afxdp_transmit, kind) == offsetof(afxdp::TransmitPacket, kind));
static_assert(sizeof(afxdp_transmit_kind) == sizeof(afxdp::TransmitKind));
static_assert(AFXDP_IN_PLACE == static_cast<int>(afxdp::TransmitKind::kInPlace));
static_assert(AFXDP_IN_PLACE_CLONE == static_cast<int>(afxdp::TransmitKind::kInPlaceClone));
static_assert(AFXDP_COPY_FOREIGN == static_cast<int>(afxdp::TransmitKind::kCopyForeign));
static_assert(AFXDP_COPY_UNFIT == static_cast<int>(afxdp::TransmitKind::kCopyUnfit));

afxdp_callbacks global_callbacks;

Queue* FromC(afxdp_queue* queue) { return reinterpret_cast<Queue*>(queue); }
const Queue* FromC(const afxdp_queue* queue) { return reinterpret_cast<const Queue*>(queue); }
afxdp_queue* ToC(Queue* queue) { return reinterpret_cast<afxdp_queue*>(queue); }

afxdp_log_level ToC(afxdp::LogLevel level) {
  switch (level) {
    case afxdp::LogLevel::kError:
      return AFXDP_LOG_ERROR;
    case afxdp::LogLevel::kWarning:
      return AFXDP_LOG_WARNING;
    case afxdp::LogLevel::kInfo:
      return AFXDP_LOG_INFO;
    case afxdp::LogLevel::kDebug:
      return AFXDP_LOG_DEBUG;
  }
  return AFXDP_LOG_DEBUG;
}

void LogToC(afxdp::LogLevel level, const char* message) {
  global_callbacks.log(ToC(level), message);
}

// Memory for C, from malloc() as free() expects.
char* CopyText(absl::string_view text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) std::abort();
  std::copy(text.begin(), text.end(), copy);
  copy[text.size()] = '\0';
  return copy;
}

int Fail(const absl::Status& status, char** error) {
  if (error != nullptr) *error = CopyText(status.message());
  return afxdp::ErrnoOf(status);
}

afxdp::PortOptionsText FromC(const afxdp_port_options_text& options) {
  return {.xdp_mode = options.xdp_mode,
          .n_rxq = options.n_rxq,
          .start_queue = options.start_queue,
          .n_rxq_desc = options.n_rxq_desc,
          .n_txq_desc = options.n_txq_desc,
          .use_need_wakeup = options.use_need_wakeup};
}

}  // namespace

extern "C" {

int afxdp_datapath_parse(const char* frames, const char* hugepages, afxdp_datapath_config* config,
                         char** error) {
  const afxdp::RegionOptions defaults;
  config->frames = defaults.frames;
  config->hugepages = defaults.hugepages;
  // One after the other, so that one wrong value does not discard the other.
  std::vector<std::string> wrong;
  if (const auto options = afxdp::ParseRegionOptions(frames, nullptr); options.ok()) {
    config->frames = options->frames;
  } else {
    wrong.emplace_back(options.status().message());
  }
  if (const auto options = afxdp::ParseRegionOptions(nullptr, hugepages); options.ok()) {
    config->hugepages = options->hugepages;
  } else {
    wrong.emplace_back(options.status().message());
  }
  if (wrong.empty()) return 0;
  return Fail(afxdp::ErrorWithErrno(EINVAL, absl::StrJoin(wrong, "; ")), error);
}

int afxdp_datapath_create(const afxdp_datapath_config* config, afxdp_datapath** datapath,
                          char** error) {
  global_callbacks = config->callbacks;
  afxdp::SetLogFunction(LogToC);
  afxdp::DatapathConfig options;
  if (config->frames != 0) options.region.frames = config->frames;
  options.region.hugepages = config->hugepages;
  options.headers = {.size = config->header_size,
                     .align = config->header_align,
                     .align_offset = config->header_align_offset};
  options.ports_may_open = config->callbacks.ports_may_open;
  absl::StatusOr<std::unique_ptr<afxdp::Datapath>> created;
  try {
    created = afxdp::Datapath::Create(options);
  } catch (const std::exception& exception) {
    // No memory, or no thread to be had.
    created = afxdp::ErrorWithErrno(EAGAIN, exception.what());
  }
  if (!created.ok()) return Fail(created.status(), error);
  afxdp::Umem* umem = &(*created)->umem();
  *datapath = new afxdp_datapath{*std::move(created), umem, config->callbacks};
  return 0;
}

int afxdp_port_open(afxdp_datapath* datapath, const char* name,
                    const afxdp_port_options_text* options, void* owner, afxdp_port** port,
                    char** error) {
  const auto parsed = afxdp::ParsePortOptions(FromC(*options));
  if (!parsed.ok()) return Fail(afxdp::Annotate(parsed.status(), name), error);
  const afxdp_callbacks& callbacks = datapath->callbacks;
  auto opened = datapath->datapath->OpenPort(
      name, *parsed,
      {.wants_reconfigure = [=] { callbacks.port_wants_reconfigure(owner); },
       .status_changed = [=] { callbacks.port_status_changed(owner); }});
  if (!opened.ok()) return Fail(opened.status(), error);
  *port = new afxdp_port{datapath, *opened};
  return 0;
}

int afxdp_port_prepare(afxdp_port* port, const afxdp_port_options_text* options, bool* changed,
                       char** error) {
  const auto parsed = afxdp::ParsePortOptions(FromC(*options));
  if (!parsed.ok()) return Fail(afxdp::Annotate(parsed.status(), port->port->name()), error);
  const auto prepared = port->port->Prepare(*parsed);
  if (!prepared.ok()) return Fail(afxdp::Annotate(prepared.status(), port->port->name()), error);
  *changed = *prepared;
  return 0;
}

int afxdp_port_apply(afxdp_port* port, char** error) {
  const absl::Status status = port->port->Apply();
  return status.ok() ? 0 : Fail(afxdp::Annotate(status, port->port->name()), error);
}

void afxdp_port_close(afxdp_port* port) {
  port->owner->datapath->ClosePort(port->port);
  delete port;
}

uint32_t afxdp_port_queue_count(const afxdp_port* port) { return port->port->queue_count(); }

afxdp_queue* afxdp_port_queue(const afxdp_port* port, uint32_t index) {
  return ToC(port->port->queue(index));
}

int afxdp_max_mtu(void) { return static_cast<int>(afxdp::MaxMtu()); }

void afxdp_port_visit_config(const afxdp_port* port,
                             void (*visit)(void* aux, const char* key, const char* value),
                             void* aux) {
  for (const auto& [key, value] : afxdp::ConfigItems(port->port->Report())) {
    visit(aux, key.c_str(), value.c_str());
  }
}

void afxdp_port_visit_status(const afxdp_port* port,
                             void (*visit)(void* aux, const char* key, const char* value),
                             void* aux) {
  for (const auto& [key, value] : afxdp::StatusItems(port->port->Report())) {
    visit(aux, key.c_str(), value.c_str());
  }
}

void afxdp_port_visit_counters(const afxdp_port* port,
                               void (*visit)(void* aux, const char* name, uint64_t value),
                               void* aux) {
  for (const afxdp::QueueReport& queue : port->port->Report().queues) {
    for (const auto& [name, value] : queue.counters) {
      visit(aux, absl::StrCat("xsk_queue_", queue.queue, "_", name).c_str(), value);
    }
  }
}

void afxdp_port_drops(const afxdp_port* port, uint64_t* tx_dropped, uint64_t* rx_dropped) {
  const afxdp::PortDrops drops = port->port->Report().drops;
  *tx_dropped = drops.transmit;
  *rx_dropped = drops.receive;
}

char* afxdp_datapath_describe_pool(afxdp_datapath* datapath) {
  return CopyText(datapath->datapath->DescribePool());
}

char* afxdp_datapath_describe_ports(afxdp_datapath* datapath, const char* name) {
  const auto text = datapath->datapath->DescribePorts(name ? name : "");
  return text ? CopyText(*text) : nullptr;
}

void afxdp_free(char* text) { std::free(text); }

size_t afxdp_queue_receive(afxdp_queue* queue, afxdp_packet* packets, size_t max) {
  return FromC(queue)->Receive(reinterpret_cast<afxdp::ReceivedPacket*>(packets), max);
}

size_t afxdp_queue_transmit(afxdp_queue* queue, const afxdp_transmit* packets, size_t count) {
  return FromC(queue)->Transmit(reinterpret_cast<const afxdp::TransmitPacket*>(packets), count);
}

bool afxdp_queue_is_busy(const afxdp_queue* queue) { return FromC(queue)->busy(); }

int afxdp_queue_fd(const afxdp_queue* queue) { return FromC(queue)->fd(); }

void* afxdp_frame_alloc(afxdp_datapath* datapath, void** frame) {
  afxdp::FrameIndex index;
  if (datapath->umem->pool().Take(afxdp::FrameOwner::Held(), &index, 1) == 0) return nullptr;
  *frame = datapath->umem->region().FrameData(index);
  return datapath->umem->headers().Slot(index);
}

void afxdp_frame_free(afxdp_datapath* datapath, void* header) {
  const afxdp::FrameIndex index = datapath->umem->headers().FrameOf(header);
  datapath->umem->pool().Give(afxdp::FrameOwner::Held(), &index, 1);
}

}  // extern "C"

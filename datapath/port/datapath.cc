// SPDX-License-Identifier: Apache-2.0
#include "datapath/port/datapath.h"

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "datapath/base/errno_status.h"

namespace afxdp {
namespace {

// A thread's name and number, "pmd-c01/id:8/4711".
std::string ThreadName(pid_t thread) {
  std::ifstream file(absl::StrCat("/proc/self/task/", thread, "/comm"));
  std::string name;
  std::getline(file, name);
  return absl::StrCat(name.empty() ? "gone" : name, "/", thread);
}

}  // namespace

absl::StatusOr<RegionOptions> ParseRegionOptions(const char* frames, const char* hugepages) {
  RegionOptions options;
  if (frames != nullptr && (!absl::SimpleAtoi(frames, &options.frames) ||
                            options.frames < kMinFrames || options.frames > kMaxFrames)) {
    return ErrorWithErrno(
        EINVAL, absl::StrCat("afxdp-umem-frames=", frames, " is not a number from ", kMinFrames,
                             " to ", kMaxFrames));
  }
  if (hugepages != nullptr && !absl::SimpleAtob(hugepages, &options.hugepages)) {
    return ErrorWithErrno(EINVAL,
                          absl::StrCat("afxdp-hugepages=", hugepages, " is not true or false"));
  }
  return options;
}

absl::StatusOr<std::unique_ptr<Datapath>> Datapath::Create(const DatapathConfig& config) {
  RedirectLibbpfMessages();
  absl::StatusOr<std::unique_ptr<Umem>> umem = Umem::Create(config.region, config.headers);
  if (!umem.ok()) return umem.status();
  absl::StatusOr<std::unique_ptr<LinkWatcher>> watcher = LinkWatcher::Start();
  if (!watcher.ok()) return watcher.status();
  return std::unique_ptr<Datapath>(
      new Datapath(*std::move(umem), *std::move(watcher), config.ports_may_open));
}

Datapath::Datapath(std::unique_ptr<Umem> umem, std::unique_ptr<LinkWatcher> watcher,
                   std::function<void()> ports_may_open)
    : umem_(std::move(umem)),
      admission_(umem_->region().frames()),
      quarantine_(umem_.get()),
      watcher_(std::move(watcher)),
      retry_watch_(watcher_.get(), std::move(ports_may_open)) {}

Datapath::~Datapath() {
  absl::MutexLock lock(&mutex_);
  ports_.clear();
}

absl::StatusOr<Port*> Datapath::OpenPort(const std::string& name, const PortOptions& options,
                                         PortCallbacks callbacks) {
  const PortServices services = {.umem = umem_.get(),
                                 .admission = &admission_,
                                 .quarantine = &quarantine_,
                                 .watcher = watcher_.get()};
  // A device that was found taken is not waited for again: we are told when it is free.
  const absl::Duration patience = retry_watch_.Has(name) ? absl::ZeroDuration() : Port::kPatience;
  absl::StatusOr<std::unique_ptr<Port>> port =
      Port::Open(services, name, options, std::move(callbacks), patience);
  if (!port.ok()) {
    const int error = ErrnoOf(port.status());
    const bool frames_come_back = error == ENOMEM && admission_.returning() > 0;
    if (error == EBUSY || error == EEXIST || frames_come_back) retry_watch_.Add(name, options);
    return Annotate(port.status(), name);
  }
  retry_watch_.Remove(name);
  absl::MutexLock lock(&mutex_);
  ports_.push_back(*std::move(port));
  return ports_.back().get();
}

void Datapath::ClosePort(Port* port) {
  std::unique_ptr<Port> closed;  // Destroyed without the lock.
  absl::MutexLock lock(&mutex_);
  const auto place = absl::c_find_if(ports_, [&](const auto& p) { return p.get() == port; });
  if (place == ports_.end()) return;
  closed = std::move(*place);
  ports_.erase(place);
}

std::string Datapath::DescribePool() {
  absl::MutexLock lock(&mutex_);
  // Frames that have been sent and not been looked at since belong to the pool.
  for (const std::unique_ptr<Port>& port : ports_) port->Poll();

  FramePool& pool = umem_->pool();
  FrameLedger::Census census = umem_->ledger().Count();
  uint64_t sum = pool.DepotSize();
  std::string text =
      absl::StrCat("frames: ", umem_->region().frames(),
                   "\npage size: ", umem_->region().hugepages() ? "2 MiB huge pages" : "4 KiB",
                   "\npool: ", sum, "\n");
  for (const FramePool::CacheUse& cache : pool.Caches()) {
    absl::StrAppend(&text, "cache ", ThreadName(cache.thread), ": ", cache.frames, "\n");
    sum += cache.frames;
  }
  absl::StrAppend(&text, "held by OVS: ", census.held, "\n");
  sum += census.held;
  for (const std::unique_ptr<Port>& port : ports_) {
    // By the report, because the queues themselves may be changing.
    for (const QueueReport& queue : port->Report().queues) {
      const FrameLedger::Census::QueueFrames frames = census.queues[queue.id];
      absl::StrAppend(&text, "port ", port->name(), " queue ", queue.queue, ": rx ", frames.receive,
                      " tx ", frames.transmit, "\n");
      sum += frames.receive + frames.transmit;
      census.queues.erase(queue.id);
    }
  }
  uint64_t quarantined = 0;
  for (const auto& [id, frames] : census.queues) quarantined += frames.receive + frames.transmit;
  absl::StrAppend(&text, "quarantined: ", quarantined, "\nreserved: ", admission_.promised(),
                  " of ", admission_.limit(), "\nmisgiven: ", pool.misgiven(),
                  "\nsum: ", sum + quarantined, "\n");
  return text;
}

std::optional<std::string> Datapath::DescribePorts(absl::string_view name) const {
  absl::MutexLock lock(&mutex_);
  std::optional<std::string> text;
  if (name.empty()) text = "";
  for (const std::unique_ptr<Port>& port : ports_) {
    if (!name.empty() && port->name() != name) continue;
    text = absl::StrCat(text.value_or(""), DescribePort(port->Report()));
  }
  return text;
}

}  // namespace afxdp

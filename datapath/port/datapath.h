// SPDX-License-Identifier: Apache-2.0
//
// Datapath: the shared memory, what serves all ports, and the ports.
//
//   absl::StatusOr<std::unique_ptr<Datapath>> datapath = Datapath::Create(config);
//   absl::StatusOr<Port*> port = (*datapath)->OpenPort("veth0", options, callbacks);
#ifndef DATAPATH_PORT_DATAPATH_H_
#define DATAPATH_PORT_DATAPATH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "datapath/port/options.h"
#include "datapath/port/port.h"
#include "datapath/port/retry_watch.h"
#include "datapath/umem/admission.h"
#include "datapath/umem/umem.h"
#include "datapath/xdp/link_watcher.h"
#include "datapath/xsk/quarantine.h"

namespace afxdp {

struct DatapathConfig {
  RegionOptions region;
  HeaderLayout headers;
  // Called when a device that OpenPort() found in somebody else's hands has become free.  From a
  // thread of the datapath's own; must not call back.
  std::function<void()> ports_may_open = [] {};
};

// Bounds of the pool, in frames of 4096 bytes.
inline constexpr uint32_t kMinFrames = 1024;
inline constexpr uint32_t kMaxFrames = 1u << 22;

// Reads the options as users write them; null where one is not set.
absl::StatusOr<RegionOptions> ParseRegionOptions(const char* frames, const char* hugepages);

// Control path; any thread.
class Datapath {
 public:
  // Maps the memory and starts the threads that serve all ports.
  static absl::StatusOr<std::unique_ptr<Datapath>> Create(const DatapathConfig& config);
  // Closes all ports and waits for their sockets.
  ~Datapath();

  Umem& umem() { return *umem_; }
  Admission& admission() { return admission_; }
  Quarantine& quarantine() { return quarantine_; }

  // The port belongs to the datapath, until ClosePort().
  absl::StatusOr<Port*> OpenPort(const std::string& name, const PortOptions& options,
                                 PortCallbacks callbacks);
  void ClosePort(Port* port);

  // Where every frame is: a line per owner, and their sum.
  std::string DescribePool();
  // All there is to tell about one port, or all of them (`name` empty).  Nothing when there is
  // none.
  std::optional<std::string> DescribePorts(absl::string_view name) const;

 private:
  Datapath(std::unique_ptr<Umem> umem, std::unique_ptr<LinkWatcher> watcher,
           std::function<void()> ports_may_open);

  const std::unique_ptr<Umem> umem_;
  Admission admission_;
  Quarantine quarantine_;
  const std::unique_ptr<LinkWatcher> watcher_;
  RetryWatch retry_watch_;

  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<Port>> ports_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace afxdp

#endif  // DATAPATH_PORT_DATAPATH_H_

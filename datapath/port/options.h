// SPDX-License-Identifier: Apache-2.0
//
// What a user can set about a port.
#ifndef DATAPATH_PORT_OPTIONS_H_
#define DATAPATH_PORT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "datapath/xdp/attachment.h"
#include "datapath/xdp/device.h"
#include "datapath/xsk/socket.h"

namespace afxdp {

// How packets get from the device into the sockets, best first.
enum class XdpMode { kNativeZeroCopy, kNative, kGeneric };

// "native-with-zerocopy", "native" or "generic".
const char* XdpModeName(XdpMode mode);
XdpHook HookOf(XdpMode mode);
XskSocket::Copying CopyingOf(XdpMode mode);

struct PortOptions {
  // Empty: "best-effort", the best that works.
  std::optional<XdpMode> mode;
  uint32_t n_rxq = 1;
  uint32_t start_queue = 0;            // Device queue that is RX queue 0 of the port.
  std::optional<uint32_t> n_rxq_desc;  // Empty: by the kind of device.
  std::optional<uint32_t> n_txq_desc;
  bool need_wakeup = true;

  friend bool operator==(const PortOptions&, const PortOptions&) = default;

  // The modes to try, in this order.
  std::vector<XdpMode> Modes() const;
  RingSizes Rings(const Device& device) const;
};

// The options as users write them; null where one is not set.
struct PortOptionsText {
  const char* xdp_mode = nullptr;
  const char* n_rxq = nullptr;
  const char* start_queue = nullptr;
  const char* n_rxq_desc = nullptr;
  const char* n_txq_desc = nullptr;
  const char* use_need_wakeup = nullptr;
};

// INVALID_ARGUMENT names the option, what it was and what it may be.
absl::StatusOr<PortOptions> ParsePortOptions(const PortOptionsText& text);

// Whether `device` has the queues that `options` wants.
absl::Status CheckQueues(const PortOptions& options, const Device& device);

// Bounds of a ring, in descriptors.  The upper one is what NIC drivers take.
inline constexpr uint32_t kMinRing = 64;
inline constexpr uint32_t kMaxRing = 4096;

// Default rings.  A NIC bursts, and in zero-copy mode its TX ring holds what the wire has not taken
// yet.  A veth or tap fills its ring from one CPU's softirq, and what is sent is back after the
// kick; a hundred of these must fit into the default pool (docs/decisions/0004).
inline constexpr uint32_t kNicRxRing = 2048;
inline constexpr uint32_t kNicTxRing = 2048;
inline constexpr uint32_t kVirtualRxRing = 512;
inline constexpr uint32_t kVirtualTxRing = 128;

}  // namespace afxdp

#endif  // DATAPATH_PORT_OPTIONS_H_

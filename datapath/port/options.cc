// SPDX-License-Identifier: Apache-2.0
#include "datapath/port/options.h"

#include <bit>
#include <cerrno>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bpf/afxdp_shared.h"
#include "datapath/base/errno_status.h"

namespace afxdp {
namespace {

absl::Status Wrong(absl::string_view option, absl::string_view value, absl::string_view wanted) {
  return ErrorWithErrno(EINVAL, absl::StrCat(option, "=", value, " is not ", wanted));
}

absl::Status ParseCount(absl::string_view option, const char* text, uint32_t least, uint32_t most,
                        uint32_t* value) {
  if (text == nullptr) return absl::OkStatus();
  uint32_t parsed = 0;
  if (!absl::SimpleAtoi(text, &parsed) || parsed < least || parsed > most) {
    return Wrong(option, text, absl::StrCat("a number from ", least, " to ", most));
  }
  *value = parsed;
  return absl::OkStatus();
}

absl::Status ParseRing(absl::string_view option, const char* text, std::optional<uint32_t>* value) {
  if (text == nullptr) return absl::OkStatus();
  uint32_t parsed = 0;
  if (!absl::SimpleAtoi(text, &parsed) || parsed < kMinRing || parsed > kMaxRing ||
      !std::has_single_bit(parsed)) {
    return Wrong(option, text, absl::StrCat("a power of two from ", kMinRing, " to ", kMaxRing));
  }
  *value = parsed;
  return absl::OkStatus();
}

absl::Status ParseMode(const char* text, std::optional<XdpMode>* mode) {
  if (text == nullptr || absl::string_view(text) == "best-effort") return absl::OkStatus();
  for (const XdpMode candidate : {XdpMode::kNativeZeroCopy, XdpMode::kNative, XdpMode::kGeneric}) {
    if (absl::string_view(text) != XdpModeName(candidate)) continue;
    *mode = candidate;
    return absl::OkStatus();
  }
  return Wrong("xdp-mode", text, "best-effort, native-with-zerocopy, native or generic");
}

}  // namespace

const char* XdpModeName(XdpMode mode) {
  switch (mode) {
    case XdpMode::kNativeZeroCopy:
      return "native-with-zerocopy";
    case XdpMode::kNative:
      return "native";
    case XdpMode::kGeneric:
      return "generic";
  }
  return "unknown";
}

XdpHook HookOf(XdpMode mode) {
  return mode == XdpMode::kGeneric ? XdpHook::kGeneric : XdpHook::kNative;
}

XskSocket::Copying CopyingOf(XdpMode mode) {
  return mode == XdpMode::kNativeZeroCopy ? XskSocket::Copying::kZeroCopy
                                          : XskSocket::Copying::kCopy;
}

std::vector<XdpMode> PortOptions::Modes() const {
  if (mode) return {*mode};
  return {XdpMode::kNativeZeroCopy, XdpMode::kNative, XdpMode::kGeneric};
}

RingSizes PortOptions::Rings(const Device& device) const {
  const uint32_t rx = n_rxq_desc.value_or(device.is_virtual() ? kVirtualRxRing : kNicRxRing);
  const uint32_t tx = n_txq_desc.value_or(device.is_virtual() ? kVirtualTxRing : kNicTxRing);
  // Frames are posted for receive up to the RX ring's size, and each sent one needs room on the
  // completion ring, so the rings of a pair are of one size.
  return {.rx = rx, .fill = rx, .tx = tx, .completion = tx};
}

absl::StatusOr<PortOptions> ParsePortOptions(const PortOptionsText& text) {
  PortOptions options;
  AFXDP_RETURN_IF_ERROR(ParseMode(text.xdp_mode, &options.mode));
  AFXDP_RETURN_IF_ERROR(ParseCount("n_rxq", text.n_rxq, 1, AFXDP_MAX_QUEUES, &options.n_rxq));
  AFXDP_RETURN_IF_ERROR(
      ParseCount("start-queue", text.start_queue, 0, AFXDP_MAX_QUEUES - 1, &options.start_queue));
  AFXDP_RETURN_IF_ERROR(ParseRing("n_rxq_desc", text.n_rxq_desc, &options.n_rxq_desc));
  AFXDP_RETURN_IF_ERROR(ParseRing("n_txq_desc", text.n_txq_desc, &options.n_txq_desc));
  if (text.use_need_wakeup != nullptr &&
      !absl::SimpleAtob(text.use_need_wakeup, &options.need_wakeup)) {
    return Wrong("use-need-wakeup", text.use_need_wakeup, "true or false");
  }
  return options;
}

absl::Status CheckQueues(const PortOptions& options, const Device& device) {
  const uint32_t end = options.start_queue + options.n_rxq;
  if (end > AFXDP_MAX_QUEUES) {
    return ErrorWithErrno(EINVAL, absl::StrCat("queue ", end - 1, " is beyond the ",
                                               AFXDP_MAX_QUEUES, " that a port can use"));
  }
  if (end <= device.rx_queues) return absl::OkStatus();
  return ErrorWithErrno(
      EINVAL, absl::StrCat("Too big 'n_rxq': ", options.n_rxq, " from start-queue ",
                           options.start_queue, " on needs ", end, " RX queues and the device has ",
                           device.rx_queues, " (ethtool -L ", device.name, " may change that)"));
}

}  // namespace afxdp

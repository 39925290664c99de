// SPDX-License-Identifier: Apache-2.0
//
// The UDP frame that the generator sends.
#ifndef BENCH_TRAFFIC_PACKET_H_
#define BENCH_TRAFFIC_PACKET_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace afxdp {

using MacAddress = std::array<uint8_t, 6>;

// "02:00:00:00:00:01".
absl::StatusOr<MacAddress> ParseMac(absl::string_view text);

// Dotted quad, to host byte order.
absl::StatusOr<uint32_t> ParseIpv4(absl::string_view text);

struct PacketSpec {
  MacAddress dst_mac = {};
  MacAddress src_mac = {};
  uint32_t src_ip = 0;  // Host byte order.
  uint32_t dst_ip = 0;  // Host byte order.
  uint16_t dst_port = 0;
  uint32_t size = 64;  // Bytes of the Ethernet frame, without its check sequence.
};

struct PacketTemplate {
  std::vector<uint8_t> bytes;  // Varying fields and both checksums are zero.
  // Sums of the fields that do not vary: see struct bench_gen_config.
  uint16_t ip_sum = 0;
  uint16_t udp_sum = 0;
};

// Bounds of PacketSpec::size: the headers, and what a test-run frame of one 4 KiB page can hold.
inline constexpr uint32_t kMinPacketSize = 42;
inline constexpr uint32_t kMaxPacketSize = 3400;

PacketTemplate BuildPacket(const PacketSpec& spec);

}  // namespace afxdp

#endif  // BENCH_TRAFFIC_PACKET_H_

// SPDX-License-Identifier: Apache-2.0
#include "packet.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <netinet/ether.h>
#include <netinet/in.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace afxdp {
namespace {

// Ones' complement sum of 16-bit words as they lie in memory (RFC 1071), folded.
uint16_t Sum(absl::Span<const uint8_t> bytes, uint32_t sum) {
  for (size_t i = 0; i < bytes.size(); i += 2) {
    uint16_t word = 0;
    std::memcpy(&word, bytes.data() + i, i + 1 < bytes.size() ? 2 : 1);
    sum += word;
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return static_cast<uint16_t>(sum);
}

// For C functions, which want a terminating zero.
std::string ToString(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace

absl::StatusOr<MacAddress> ParseMac(absl::string_view text) {
  ether_addr address;
  if (ether_aton_r(ToString(text).c_str(), &address) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is no MAC address"));
  }
  MacAddress mac;
  std::memcpy(mac.data(), address.ether_addr_octet, mac.size());
  return mac;
}

absl::StatusOr<uint32_t> ParseIpv4(absl::string_view text) {
  in_addr address;
  if (inet_pton(AF_INET, ToString(text).c_str(), &address) != 1) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is no IPv4 address"));
  }
  return ntohl(address.s_addr);
}

PacketTemplate BuildPacket(const PacketSpec& spec) {
  const auto ip_length = static_cast<uint16_t>(spec.size - sizeof(ethhdr));
  const auto udp_length = static_cast<uint16_t>(ip_length - sizeof(iphdr));

  ethhdr eth = {};
  std::memcpy(eth.h_dest, spec.dst_mac.data(), ETH_ALEN);
  std::memcpy(eth.h_source, spec.src_mac.data(), ETH_ALEN);
  eth.h_proto = htons(ETH_P_IP);

  iphdr ip = {};
  ip.version = 4;
  ip.ihl = 5;
  ip.ttl = 64;
  ip.protocol = IPPROTO_UDP;
  ip.tot_len = htons(ip_length);
  ip.daddr = htonl(spec.dst_ip);

  udphdr udp = {};
  udp.dest = htons(spec.dst_port);
  udp.len = htons(udp_length);

  PacketTemplate packet;
  packet.bytes.resize(spec.size);
  uint8_t* at = packet.bytes.data();
  std::memcpy(at, &eth, sizeof eth);
  std::memcpy(at + sizeof eth, &ip, sizeof ip);
  std::memcpy(at + sizeof eth + sizeof ip, &udp, sizeof udp);
  for (size_t i = sizeof eth + sizeof ip + sizeof udp; i < packet.bytes.size(); i++) {
    packet.bytes[i] = static_cast<uint8_t>(i);
  }

  const auto all = absl::MakeConstSpan(packet.bytes);
  packet.ip_sum = Sum(all.subspan(sizeof eth, sizeof ip), 0);
  const uint32_t pseudo_sum = Sum({reinterpret_cast<const uint8_t*>(&ip.daddr), sizeof ip.daddr},
                                  uint32_t{htons(IPPROTO_UDP)} + udp.len);
  packet.udp_sum = Sum(all.subspan(sizeof eth + sizeof ip), pseudo_sum);
  return packet;
}

}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/packet.h"

#include <cstdlib>
#include <cstring>

namespace afxdp::testing {
namespace {

constexpr char kHeader[] =
    "\x02\x00\x00\x00\x00\x02"
    "\x02\x00\x00\x00\x00\x01"
    "\x88\xb5";
constexpr size_t kHeaderSize = sizeof kHeader - 1;

}  // namespace

std::string MakePacket(uint32_t length, uint32_t number) {
  if (length < kMinTestPacket) std::abort();
  std::string packet(length, '\0');
  std::memcpy(packet.data(), kHeader, kHeaderSize);
  std::memcpy(packet.data() + kHeaderSize, &number, sizeof number);
  for (size_t i = kMinTestPacket; i < length; ++i) {
    packet[i] = static_cast<char>(i * 31 + uint64_t{number} * 7 + length);
  }
  return packet;
}

std::optional<uint32_t> PacketNumber(std::string_view packet) {
  if (packet.size() < kMinTestPacket) return std::nullopt;
  uint32_t number;
  std::memcpy(&number, packet.data() + kHeaderSize, sizeof number);
  if (packet != MakePacket(static_cast<uint32_t>(packet.size()), number)) return std::nullopt;
  return number;
}

}  // namespace afxdp::testing

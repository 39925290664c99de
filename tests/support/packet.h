// SPDX-License-Identifier: Apache-2.0
//
// Packets that tests send: Ethernet with a type of no protocol, so that no stack answers or changes
// them, a number by which to know them again, and a pattern that shows any damage.
#ifndef TESTS_SUPPORT_PACKET_H_
#define TESTS_SUPPORT_PACKET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace afxdp::testing {

// "IEEE 802 Local Experimental Ethertype 1".
inline constexpr uint16_t kTestEthertype = 0x88b5;
// An Ethernet header, and our number.
inline constexpr uint32_t kMinTestPacket = 14 + 4;

// A packet of `length` bytes, at least kMinTestPacket.
std::string MakePacket(uint32_t length, uint32_t number);

// The packet's number, if it is one of ours and whole.
std::optional<uint32_t> PacketNumber(std::string_view packet);

}  // namespace afxdp::testing

#endif  // TESTS_SUPPORT_PACKET_H_

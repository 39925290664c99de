// SPDX-License-Identifier: Apache-2.0
#include "packet.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "absl/types/span.h"

namespace afxdp {
namespace {

constexpr size_t kIpOffset = 14;
constexpr size_t kUdpOffset = 34;

PacketSpec Spec(uint32_t size) {
  return {.dst_mac = {2, 0, 0, 0, 0, 2},
          .src_mac = {2, 0, 0, 0, 0, 1},
          .src_ip = 0x0a000001,
          .dst_ip = 0x0a000002,
          .dst_port = 9,
          .size = size};
}

uint32_t BigEndian(absl::Span<const uint8_t> bytes, size_t offset) {
  return uint32_t{bytes[offset]} << 8 | bytes[offset + 1];
}

// Sum over big-endian words, the other byte order than the code under test.
uint32_t Sum(absl::Span<const uint8_t> bytes, uint32_t sum) {
  for (size_t i = 0; i < bytes.size(); i++) {
    sum += i % 2 == 0 ? uint32_t{bytes[i]} << 8 : bytes[i];
  }
  while (sum > 0xffff) {
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return sum;
}

uint32_t Swap(uint16_t value) { return uint32_t{value} >> 8 | (uint32_t{value} & 0xff) << 8; }

TEST(ParseMac, TakesSixOctets) {
  auto mac = ParseMac("02:00:00:0a:ff:01");
  ASSERT_TRUE(mac.ok());
  EXPECT_EQ(*mac, (MacAddress{0x02, 0, 0, 0x0a, 0xff, 0x01}));
}

TEST(ParseMac, RefusesOthers) {
  EXPECT_FALSE(ParseMac("").ok());
  EXPECT_FALSE(ParseMac("02:00:00:0a:ff").ok());
  EXPECT_FALSE(ParseMac("gg:00:00:0a:ff:01").ok());
}

TEST(ParseIpv4, GivesHostByteOrder) {
  auto address = ParseIpv4("10.1.2.3");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(*address, 0x0a010203u);
}

TEST(ParseIpv4, RefusesOthers) {
  EXPECT_FALSE(ParseIpv4("10.1.2").ok());
  EXPECT_FALSE(ParseIpv4("10.1.2.256").ok());
}

class BuildPacketTest : public testing::TestWithParam<uint32_t> {};

TEST_P(BuildPacketTest, LengthsFitTheSize) {
  const PacketTemplate packet = BuildPacket(Spec(GetParam()));
  ASSERT_EQ(packet.bytes.size(), GetParam());
  EXPECT_EQ(BigEndian(packet.bytes, kIpOffset + 2), GetParam() - kIpOffset);
  EXPECT_EQ(BigEndian(packet.bytes, kUdpOffset + 4), GetParam() - kUdpOffset);
}

TEST_P(BuildPacketTest, SumsCoverAllThatDoesNotVary) {
  const PacketTemplate packet = BuildPacket(Spec(GetParam()));
  const auto bytes = absl::MakeConstSpan(packet.bytes);
  EXPECT_EQ(Swap(packet.ip_sum), Sum(bytes.subspan(kIpOffset, 20), 0));
  const uint32_t pseudo = Sum(bytes.subspan(kIpOffset + 16, 4), 17 + GetParam() - kUdpOffset);
  EXPECT_EQ(Swap(packet.udp_sum), Sum(bytes.subspan(kUdpOffset), pseudo));
}

INSTANTIATE_TEST_SUITE_P(Sizes, BuildPacketTest,
                         testing::Values(kMinPacketSize, 61, 64, 1500, kMaxPacketSize));

}  // namespace
}  // namespace afxdp

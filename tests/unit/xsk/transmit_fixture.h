// SPDX-License-Identifier: Apache-2.0
//
// What the tests of Transmitter share: one on a FakeXsk, and packets to send.
#ifndef TESTS_UNIT_XSK_TRANSMIT_FIXTURE_H_
#define TESTS_UNIT_XSK_TRANSMIT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datapath/xsk/transmitter.h"
#include "tests/support/fake_xsk.h"
#include "tests/support/status_matchers.h"

namespace afxdp::testing {

class TransmitterTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kFrames = 256;
  static constexpr uint32_t kRing = 64;
  static constexpr QueueId kQueue = 9;

  void SetUp() override { Start({.queue = kQueue, .need_wakeup = false}); }

  void Start(const Transmitter::Options& options, FakeXsk::Options rings = {}) {
    transmitter_.reset();
    xsk_.emplace(rings);
    auto umem = Umem::Create({.frames = kFrames, .hugepages = false}, {.size = 32, .align = 8});
    ASSERT_OK(umem);
    umem_ = *std::move(umem);
    counters_ = std::make_unique<TransmitCounters>();
    transmitter_.emplace(umem_.get(), &xsk_->socket(), options, &link_up_, counters_.get());
  }

  // Takes a frame and writes `text` into it, as a packet to be sent in place.
  TransmitPacket Held(const std::string& text, uint32_t offset = kReceiveHeadroom,
                      TransmitKind kind = TransmitKind::kInPlace) {
    FrameIndex frame = 0;
    EXPECT_EQ(umem_->pool().Take(FrameOwner::Held(), &frame, 1), 1u);
    char* data = umem_->region().FrameData(frame) + offset;
    text.copy(data, std::min<size_t>(text.size(), kFrameSize - offset));
    return {data, umem_->region().FrameData(frame), static_cast<uint32_t>(text.size()), kind};
  }
  static TransmitPacket Foreign(const std::string& text) {
    return {text.data(), nullptr, static_cast<uint32_t>(text.size()), TransmitKind::kCopyForeign};
  }

  size_t Transmit(const std::vector<TransmitPacket>& packets) {
    return transmitter_->Transmit(packets.data(), packets.size());
  }

  FrameIndex FrameOf(const TransmitPacket& packet) {
    return static_cast<FrameIndex>(umem_->region().Address(packet.frame) >> kFrameShift);
  }
  FrameOwner OwnerOf(const TransmitPacket& packet) {
    return umem_->ledger().Owner(FrameOf(packet));
  }
  std::string Text(const xdp_desc& descriptor) {
    return {umem_->region().base() + descriptor.addr, descriptor.len};
  }

  // Sends, reclaims, and then every frame must be the pool's again.
  void ExpectAllFramesComeBack() {
    xsk_->Send();
    transmitter_->Poll();
    EXPECT_EQ(umem_->ledger().Count().pool, kFrames);
    EXPECT_EQ(umem_->pool().misgiven(), 0u);
  }

  std::atomic<bool> link_up_{true};
  std::unique_ptr<Umem> umem_;
  std::unique_ptr<TransmitCounters> counters_;
  std::optional<FakeXsk> xsk_;
  std::optional<Transmitter> transmitter_;
};

}  // namespace afxdp::testing

#endif  // TESTS_UNIT_XSK_TRANSMIT_FIXTURE_H_

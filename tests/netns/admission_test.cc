// SPDX-License-Identifier: Apache-2.0
//
// A pool with too few frames for all: who comes late is refused, and nobody else notices.
#include <cerrno>

#include "tests/netns/netns_test.h"
#include "tests/netns/xdp_query.h"

namespace afxdp::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rings of 512 + 128 frames fit once into the 768 that a pool of 1024 promises.
class AdmissionNetnsTest : public NetnsTest {
 protected:
  void SetUp() override {
    with_datapath_ = false;
    NetnsTest::SetUp();
    if (IsSkipped()) return;
    StartDatapath(1024);
    MakeVeth("p0", "c0", container());
    MakeVeth("p1", "c1", container());
  }
};

TEST_F(AdmissionNetnsTest, ARefusalSaysWhatToRaiseAndLeavesNothing) {
  ASSERT_NE(Open("p0"), nullptr);
  EXPECT_THAT(TryOpen("p1"),
              FailsWith(ENOMEM, AllOf(HasSubstr("p1: "), HasSubstr("640 frames"),
                                      HasSubstr("512 too few"), HasSubstr("afxdp-umem-frames"))));
  EXPECT_EQ(QueryXdp("p1").native, 0u);
  EXPECT_EQ(Pool("reserved"), 640u);
  ExpectAllFramesConserved();
}

TEST_F(AdmissionNetnsTest, OtherPortsAreLeftAlone) {
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  PacketSocket socket(container(), "c0");
  for (uint32_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(socket.Send(MakePacket(100, i)));
    EXPECT_FALSE(TryOpen("p1").ok());
    EXPECT_THAT(ReceiveNumbers(*datapath_, *port->queue(0), 1), ElementsAre(i));
  }
  EXPECT_EQ(CounterOf(*port, "rx_refill_short"), 0u);
}

TEST_F(AdmissionNetnsTest, SmallerRingsFit) {
  ASSERT_NE(Open("p0"), nullptr);
  EXPECT_NE(Open("p1", {.n_rxq_desc = 64, .n_txq_desc = 64}), nullptr);
  EXPECT_EQ(Pool("reserved"), 768u);
}

TEST_F(AdmissionNetnsTest, AClosedPortsFramesAreThereForTheNext) {
  for (int round = 0; round < 5; ++round) {
    Port* port = Open(round % 2 == 0 ? "p0" : "p1");
    ASSERT_NE(port, nullptr) << "round " << round;
    // Not waiting for the quarantine: whoever opens next has to.
    Close(port);
  }
  ExpectAllFramesConserved();
  EXPECT_EQ(Pool("reserved"), 0u);
}

TEST_F(AdmissionNetnsTest, APortThatIsRefusedMoreKeepsWhatItHas) {
  Port* port = Open("p0");
  ASSERT_NE(port, nullptr);
  EXPECT_THAT(port->Prepare({.n_rxq_desc = 1024}), FailsWith(ENOMEM, HasSubstr("1152 frames")));
  ASSERT_OK(port->Prepare({.n_rxq_desc = 64}));
  ASSERT_OK(port->Apply());
  EXPECT_NE(Open("p1", {.n_rxq_desc = 256}), nullptr);
}

TEST_F(AdmissionNetnsTest, AFullHouseStillForwards) {
  Port* first = Open("p0", {.n_rxq_desc = 256, .n_txq_desc = 128});
  Port* second = Open("p1", {.n_rxq_desc = 256, .n_txq_desc = 128});
  ASSERT_TRUE(first && second);
  ASSERT_EQ(Pool("reserved"), 768u);
  PacketSocket source(container(), "c0");
  PacketSocket sink(container(), "c1");
  for (uint32_t i = 0; i < 3000; ++i) {
    ASSERT_TRUE(source.Send(MakePacket(100, i)));
    if (i % 50 == 49) {
      ASSERT_EQ(Forward(*first->queue(0), *second->queue(0), 50), 50u);
    }
  }
  EXPECT_EQ(sink.ReceiveNumbers(3000), Sequence(3000));
  EXPECT_EQ(CounterOf(*first, "rx_refill_short"), 0u);
  ExpectAllFramesConserved();
}

}  // namespace
}  // namespace afxdp::testing

// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/support/status_matchers.h"

namespace afxdp {
namespace {

using ::testing::AllOf;
using testing::FailsWith;
using ::testing::HasSubstr;

TEST(AdmissionTest, KeepsAPartForPacketsOnTheirWay) {
  EXPECT_EQ(Admission(65536).limit(), 65536 - Admission::kInFlight);
  // A quarter at the most: a small pool must carry something too.
  EXPECT_EQ(Admission(1024).limit(), 768u);
  EXPECT_EQ(Admission(4 * Admission::kInFlight).limit(), 3 * Admission::kInFlight);
}

TEST(AdmissionTest, PromisesAddUpAndEnd) {
  Admission admission(1024);
  {
    const auto first = admission.Promise(500);
    ASSERT_OK(first);
    EXPECT_EQ(first->frames(), 500u);
    const auto second = admission.Promise(268);
    ASSERT_OK(second);
    EXPECT_EQ(admission.promised(), 768u);
    EXPECT_FALSE(admission.Promise(1).ok());
    EXPECT_EQ(admission.promised(), 768u) << "a refusal promises nothing";
  }
  EXPECT_EQ(admission.promised(), 0u);
  EXPECT_OK(admission.Promise(768));
}

TEST(AdmissionTest, RefusalSaysHowManyAreMissingAndWhatToRaise) {
  Admission admission(1024);
  const auto first = admission.Promise(700);
  ASSERT_OK(first);
  const auto refused = admission.Promise(640);
  EXPECT_THAT(refused,
              FailsWith(ENOMEM, AllOf(HasSubstr("640 frames"), HasSubstr("572 too few"),
                                      HasSubstr("700 of 768"), HasSubstr("afxdp-umem-frames"),
                                      HasSubstr("n_rxq_desc"), HasSubstr("n_txq_desc"))));
}

// The number in the message must be enough, and one less must not be.
TEST(AdmissionTest, TheNumberToRaiseToIsEnough) {
  for (const uint32_t pool : {1024u, 3000u, 4480u, 5000u, 65536u}) {
    for (const uint32_t wanted : {100u, 2000u, 10000u, 200000u}) {
      Admission admission(pool);
      const auto first = admission.Promise(admission.limit());
      ASSERT_OK(first);
      const auto refused = admission.Promise(wanted);
      ASSERT_FALSE(refused.ok());
      const std::string text(refused.status().message());
      unsigned int from = 0;
      unsigned int to = 0;
      const size_t place = text.find("raise afxdp-umem-frames");
      ASSERT_NE(place, std::string::npos) << text;
      ASSERT_EQ(sscanf(text.c_str() + place, "raise afxdp-umem-frames from %u to %u", &from, &to),
                2)
          << text;
      EXPECT_EQ(from, pool);
      EXPECT_GE(Admission(to).limit(), admission.limit() + wanted) << text;
      EXPECT_LE(Admission(to - 2).limit(), admission.limit() + wanted) << text;
    }
  }
}

TEST(AdmissionTest, CheckCountsWhatComesBack) {
  Admission admission(1024);
  const auto first = admission.Promise(700);
  ASSERT_OK(first);
  EXPECT_FALSE(admission.Check(640, 0).ok());
  EXPECT_OK(admission.Check(640, 700));
  EXPECT_OK(admission.Check(768, 700));
  EXPECT_FALSE(admission.Check(769, 700).ok());
  EXPECT_EQ(admission.promised(), 700u) << "checking promises nothing";
}

TEST(AdmissionTest, CheckNeverCountsMoreBackThanWasPromised) {
  Admission admission(1024);
  EXPECT_OK(admission.Check(100, 640));
  EXPECT_OK(admission.Check(768, 640));
  EXPECT_FALSE(admission.Check(769, 640).ok());
}

TEST(AdmissionTest, WaitsForPromisesThatAreAboutToEnd) {
  Admission admission(1024);
  std::optional<FramePromise> closing(*admission.Promise(600));
  closing->SetReturning();
  EXPECT_OK(admission.Check(768, 0)) << "there will be room";
  EXPECT_THAT(admission.Promise(500, absl::Now() + absl::Milliseconds(5)),
              FailsWith(ENOMEM, HasSubstr("closed queues")));
  std::thread kernel([&] {
    absl::SleepFor(absl::Milliseconds(30));
    closing.reset();
  });
  EXPECT_OK(admission.Promise(500, absl::Now() + absl::Seconds(30)));
  kernel.join();
  EXPECT_EQ(admission.promised(), 0u);
  EXPECT_FALSE(admission.Check(769, 0).ok()) << "what has ended is not about to end any more";
}

TEST(AdmissionTest, DoesNotWaitForWhatWouldNotHelp) {
  Admission admission(1024);
  const auto staying = admission.Promise(500);
  auto closing = admission.Promise(200);
  ASSERT_OK(closing);
  closing->SetReturning();
  const absl::Time start = absl::Now();
  EXPECT_THAT(admission.Promise(300, absl::Now() + absl::Seconds(30)),
              FailsWith(ENOMEM, HasSubstr("32 too few")));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST(AdmissionTest, APromiseThatMovesStaysAboutToEnd) {
  Admission admission(1024);
  FramePromise first = *admission.Promise(700);
  first.SetReturning();
  first.SetReturning();
  FramePromise second = std::move(first);
  EXPECT_OK(admission.Check(768, 0));
  second = FramePromise();
  EXPECT_EQ(admission.promised(), 0u);
  EXPECT_FALSE(admission.Check(769, 0).ok());
}

TEST(AdmissionTest, PromisesMove) {
  Admission admission(1024);
  auto first = admission.Promise(100);
  ASSERT_OK(first);
  FramePromise moved = *std::move(first);
  EXPECT_EQ(admission.promised(), 100u);
  FramePromise target = *admission.Promise(50);
  target = std::move(moved);
  EXPECT_EQ(admission.promised(), 100u) << "the overwritten promise has ended";
  EXPECT_EQ(target.frames(), 100u);
  target = FramePromise();
  EXPECT_EQ(admission.promised(), 0u);
}

TEST(AdmissionTest, HugeWishesDoNotOverflow) {
  Admission admission(1024);
  const auto first = admission.Promise(768);
  ASSERT_OK(first);
  EXPECT_FALSE(admission.Promise(UINT32_MAX).ok());
  EXPECT_EQ(admission.promised(), 768u);
}

TEST(AdmissionTest, ThreadsNeverGetMoreThanThereIs) {
  Admission admission(1024);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        const auto promise = admission.Promise(300);
        EXPECT_LE(admission.promised(), 768u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admission.promised(), 0u);
}

}  // namespace
}  // namespace afxdp

// SPDX-License-Identifier: Apache-2.0
//
// What Datapath does without any port.
#include "datapath/port/datapath.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "tests/support/status_matchers.h"

namespace afxdp {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using testing::FailsWith;
using ::testing::HasSubstr;

const DatapathConfig kConfig = {.region = {.frames = 2048, .hugepages = false},
                                .headers = {.size = 64, .align = 64, .align_offset = 0}};

TEST(ParseRegionOptionsTest, DefaultsWhenNothingIsSet) {
  const auto options = ParseRegionOptions(nullptr, nullptr);
  ASSERT_OK(options);
  EXPECT_EQ(options->frames, 65536u);
  EXPECT_TRUE(options->hugepages);
}

TEST(ParseRegionOptionsTest, ReadsBoth) {
  const auto options = ParseRegionOptions("4096", "false");
  ASSERT_OK(options);
  EXPECT_EQ(options->frames, 4096u);
  EXPECT_FALSE(options->hugepages);
  EXPECT_EQ(ParseRegionOptions("1024", nullptr)->frames, kMinFrames);
  EXPECT_EQ(ParseRegionOptions("4194304", nullptr)->frames, kMaxFrames);
}

TEST(ParseRegionOptionsTest, RefusesWithNameValueAndRange) {
  for (const char* frames : {"0", "1023", "4194305", "-5", "many", "", "1e5", "99999999999"}) {
    EXPECT_THAT(ParseRegionOptions(frames, nullptr),
                FailsWith(EINVAL, AllOf(HasSubstr(std::string("afxdp-umem-frames=") + frames),
                                        HasSubstr("1024 to 4194304"))))
        << frames;
  }
  for (const char* hugepages : {"perhaps", "", "3"}) {
    EXPECT_THAT(ParseRegionOptions(nullptr, hugepages),
                FailsWith(EINVAL, AllOf(HasSubstr(std::string("afxdp-hugepages=") + hugepages),
                                        HasSubstr("true or false"))))
        << hugepages;
  }
}

TEST(DatapathTest, AFreshPoolIsAllInThePool) {
  const auto datapath = Datapath::Create(kConfig);
  ASSERT_OK(datapath);
  const std::string text = (*datapath)->DescribePool();
  EXPECT_THAT(text, HasSubstr("frames: 2048\n"));
  EXPECT_THAT(text, HasSubstr("page size: 4 KiB\n"));
  EXPECT_THAT(text, HasSubstr("\npool: 2048\n"));
  EXPECT_THAT(text, HasSubstr("held by OVS: 0\n"));
  EXPECT_THAT(text, HasSubstr("quarantined: 0\n"));
  EXPECT_THAT(text, HasSubstr("reserved: 0 of 1536\n"));
  EXPECT_THAT(text, HasSubstr("sum: 2048\n"));
}

TEST(DatapathTest, HeldFramesAndCachesShowByTheirThread) {
  const auto datapath = Datapath::Create(kConfig);
  ASSERT_OK(datapath);
  FramePool& pool = (*datapath)->umem().pool();
  FrameIndex frames[3];
  ASSERT_EQ(pool.Take(FrameOwner::Held(), frames, 3), 3u);
  std::string text = (*datapath)->DescribePool();
  EXPECT_THAT(text, HasSubstr("held by OVS: 3\n"));
  EXPECT_THAT(text, ContainsRegex("cache [^/\n]+/[0-9]+: 61\n"));
  EXPECT_THAT(text, HasSubstr("sum: 2048\n"));
  pool.Give(FrameOwner::Held(), frames, 3);
  text = (*datapath)->DescribePool();
  EXPECT_THAT(text, HasSubstr("held by OVS: 0\n"));
  EXPECT_THAT(text, HasSubstr("sum: 2048\n"));
}

TEST(DatapathTest, NoPortsNothingToShow) {
  const auto datapath = Datapath::Create(kConfig);
  ASSERT_OK(datapath);
  EXPECT_EQ((*datapath)->DescribePorts(""), "");
  EXPECT_EQ((*datapath)->DescribePorts("veth0"), std::nullopt);
}

TEST(DatapathTest, AMissingDeviceIsNamed) {
  const auto datapath = Datapath::Create(kConfig);
  ASSERT_OK(datapath);
  EXPECT_THAT((*datapath)->OpenPort("afxdp-none", {}, {}),
              FailsWith(ENODEV, AllOf(HasSubstr("afxdp-none: "), HasSubstr("no such device"))));
  EXPECT_EQ((*datapath)->DescribePorts(""), "");
}

TEST(DatapathTest, ImpossibleConfigurationsFail) {
  DatapathConfig config = kConfig;
  config.region.frames = 0;
  EXPECT_FALSE(Datapath::Create(config).ok());
  config = kConfig;
  config.headers.align = 3;
  EXPECT_FALSE(Datapath::Create(config).ok());
}

}  // namespace
}  // namespace afxdp

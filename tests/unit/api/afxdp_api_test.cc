// SPDX-License-Identifier: Apache-2.0
//
// The C interface, without any port.
#include "netdev-afxdp/afxdp_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

namespace afxdp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void IgnoreLog(afxdp_log_level /*level*/, const char* /*message*/) {}
void IgnoreOwner(void* /*owner*/) {}

// A text that the library gave us.
class ApiText {
 public:
  explicit ApiText(char* text) : text_(text) {}
  ApiText(const ApiText&) = delete;
  ApiText& operator=(const ApiText&) = delete;
  ~ApiText() { afxdp_free(text_); }
  std::string str() const { return text_ ? text_ : "(null)"; }

 private:
  char* text_;
};

// One datapath for all tests: there is no way to destroy one.
afxdp_datapath* SharedDatapath() {
  static afxdp_datapath* datapath = [] {
    afxdp_datapath_config config = {};
    config.frames = 1024;
    config.header_size = 568;
    config.header_align = 64;
    config.header_align_offset = 56;
    config.callbacks = {IgnoreLog, IgnoreOwner, IgnoreOwner};
    afxdp_datapath* created = nullptr;
    char* error = nullptr;
    EXPECT_EQ(afxdp_datapath_create(&config, &created, &error), 0) << error;
    return created;
  }();
  return datapath;
}

TEST(ApiParseTest, DefaultsAndValues) {
  afxdp_datapath_config config = {};
  char* error = nullptr;
  EXPECT_EQ(afxdp_datapath_parse(nullptr, nullptr, &config, &error), 0);
  EXPECT_EQ(config.frames, 65536u);
  EXPECT_TRUE(config.hugepages);
  EXPECT_EQ(afxdp_datapath_parse("2048", "false", &config, &error), 0);
  EXPECT_EQ(config.frames, 2048u);
  EXPECT_FALSE(config.hugepages);
  EXPECT_EQ(error, nullptr);
}

TEST(ApiParseTest, OneWrongValueDoesNotDiscardTheOther) {
  afxdp_datapath_config config = {};
  char* error = nullptr;
  EXPECT_EQ(afxdp_datapath_parse("7", "false", &config, &error), EINVAL);
  EXPECT_THAT(ApiText(error).str(), HasSubstr("afxdp-umem-frames=7"));
  EXPECT_EQ(config.frames, 65536u);
  EXPECT_FALSE(config.hugepages);
  error = nullptr;
  EXPECT_EQ(afxdp_datapath_parse("2048", "so-so", &config, &error), EINVAL);
  EXPECT_THAT(ApiText(error).str(), HasSubstr("afxdp-hugepages=so-so"));
  EXPECT_EQ(config.frames, 2048u);
  EXPECT_TRUE(config.hugepages);
  EXPECT_EQ(afxdp_datapath_parse("7", nullptr, &config, nullptr), EINVAL) << "no text is wanted";
}

TEST(ApiFrameTest, AllocGivesAFrameAndItsHeader) {
  afxdp_datapath* datapath = SharedDatapath();
  void* frame = nullptr;
  void* header = afxdp_frame_alloc(datapath, &frame);
  ASSERT_NE(header, nullptr);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ((reinterpret_cast<uintptr_t>(header) + 56) % 64, 0u);
  EXPECT_THAT(ApiText(afxdp_datapath_describe_pool(datapath)).str(), HasSubstr("held by OVS: 1\n"));
  afxdp_frame_free(datapath, header);
  EXPECT_THAT(ApiText(afxdp_datapath_describe_pool(datapath)).str(), HasSubstr("held by OVS: 0\n"));
}

TEST(ApiFrameTest, AnEmptyPoolGivesNull) {
  afxdp_datapath* datapath = SharedDatapath();
  std::vector<void*> headers;
  void* frame = nullptr;
  while (void* header = afxdp_frame_alloc(datapath, &frame)) headers.push_back(header);
  EXPECT_EQ(headers.size(), 1024u);
  for (void* header : headers) afxdp_frame_free(datapath, header);
  EXPECT_THAT(ApiText(afxdp_datapath_describe_pool(datapath)).str(), HasSubstr("sum: 1024\n"));
}

TEST(ApiFrameTest, FreeingWhatIsNoHeaderIsCountedOnly) {
  afxdp_datapath* datapath = SharedDatapath();
  int elsewhere = 0;
  afxdp_frame_free(datapath, &elsewhere);
  EXPECT_THAT(ApiText(afxdp_datapath_describe_pool(datapath)).str(), HasSubstr("sum: 1024\n"));
}

TEST(ApiPortTest, ErrorsComeAsErrnoAndText) {
  afxdp_datapath* datapath = SharedDatapath();
  afxdp_port* port = nullptr;
  char* error = nullptr;
  afxdp_port_options_text options = {};
  EXPECT_EQ(afxdp_port_open(datapath, "afxdp-none", &options, nullptr, &port, &error), ENODEV);
  EXPECT_THAT(ApiText(error).str(), StartsWith("afxdp-none: "));
  error = nullptr;
  options.n_rxq_desc = "100";
  EXPECT_EQ(afxdp_port_open(datapath, "lo", &options, nullptr, &port, &error), EINVAL);
  EXPECT_THAT(ApiText(error).str(), HasSubstr("lo: n_rxq_desc=100"));
  EXPECT_EQ(afxdp_port_open(datapath, "lo", &options, nullptr, &port, nullptr), EINVAL);
  EXPECT_EQ(port, nullptr);
}

TEST(ApiPortTest, DescribesNoPorts) {
  afxdp_datapath* datapath = SharedDatapath();
  EXPECT_EQ(ApiText(afxdp_datapath_describe_ports(datapath, nullptr)).str(), "");
  EXPECT_EQ(afxdp_datapath_describe_ports(datapath, "veth0"), nullptr);
}

TEST(ApiTest, LargestMtuLeavesRoomForHeadersAndHeadroom) {
  EXPECT_EQ(afxdp_max_mtu(), 4096 - 256 - 14 - 4);
}

}  // namespace
}  // namespace afxdp::testing

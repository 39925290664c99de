// SPDX-License-Identifier: Apache-2.0
//
// RedirectProgram: the program as the library handles it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "bpf/afxdp_shared.h"
#include "datapath/base/unique_fd.h"
#include "datapath/xdp/program.h"
#include "tests/support/status_matchers.h"

namespace afxdp::testing {
namespace {

using ::testing::HasSubstr;

class RedirectProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to load XDP programs";
    RedirectLibbpfMessages();
    xsk_.Reset(socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
    ASSERT_TRUE(xsk_.valid());
  }
  UniqueFd xsk_;
};

TEST_F(RedirectProgramTest, ConnectsAndDisconnectsQueues) {
  auto program = RedirectProgram::Load();
  ASSERT_OK(program);
  EXPECT_OK(program->Connect(0, xsk_.get()));
  EXPECT_OK(program->Connect(0, xsk_.get())) << "a slot can be written over";
  EXPECT_OK(program->Connect(AFXDP_MAX_QUEUES - 1, xsk_.get()));
  EXPECT_OK(program->Disconnect(0));
  EXPECT_OK(program->Disconnect(0)) << "an empty slot is what was wanted";
}

TEST_F(RedirectProgramTest, RefusalsNameTheQueue) {
  auto program = RedirectProgram::Load();
  ASSERT_OK(program);
  EXPECT_THAT(program->Connect(AFXDP_MAX_QUEUES, xsk_.get()),
              FailsWith(E2BIG, HasSubstr("the XSK of queue 256")));
  EXPECT_THAT(program->Connect(3, -1), FailsWith(EBADF, HasSubstr("queue 3")));
  EXPECT_THAT(program->Disconnect(AFXDP_MAX_QUEUES), FailsWith(EINVAL, HasSubstr("queue 256")));
}

TEST_F(RedirectProgramTest, IsDescribedByNameAndId) {
  auto program = RedirectProgram::Load();
  ASSERT_OK(program);
  const ProgramInfo info = DescribeProgramOf(program->fd());
  EXPECT_EQ(info.name, "afxdp_redirect");
  ASSERT_NE(info.id, 0u);
  EXPECT_EQ(DescribeProgram(info.id).name, "afxdp_redirect");
  EXPECT_EQ(DescribeProgram(info.id).id, info.id);
}

TEST_F(RedirectProgramTest, WhatIsNotThereIsDescribedAllTheSame) {
  EXPECT_EQ(DescribeProgram(UINT32_MAX).id, UINT32_MAX);
  EXPECT_EQ(DescribeProgram(UINT32_MAX).name, "name unknown");
  EXPECT_EQ(DescribeProgramOf(-1).id, 0u);
}

TEST_F(RedirectProgramTest, EachPortHasOneOfItsOwn) {
  auto first = RedirectProgram::Load();
  auto second = RedirectProgram::Load();
  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_NE(DescribeProgramOf(first->fd()).id, DescribeProgramOf(second->fd()).id);
}

}  // namespace
}  // namespace afxdp::testing

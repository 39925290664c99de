// SPDX-License-Identifier: Apache-2.0
#include "datapath/base/errno_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace afxdp {
namespace {

using ::testing::HasSubstr;

TEST(ErrnoStatusTest, NamesOperationTextNumberAndSymbol) {
  const absl::Status status = ErrnoError(EBUSY, "bind");
  EXPECT_EQ(status.message(), "bind: Device or resource busy (errno 16, EBUSY)");
  EXPECT_EQ(ErrnoOf(status), EBUSY);
}

TEST(ErrnoStatusTest, KeepsEveryErrno) {
  for (int error = 1; error < 134; ++error) {
    if (strerrorname_np(error) == nullptr) continue;
    EXPECT_EQ(ErrnoOf(ErrnoError(error, "x")), error);
    EXPECT_FALSE(ErrnoError(error, "x").ok());
  }
}

TEST(ErrnoStatusTest, DescribesNumbersThatNobodyKnows) {
  EXPECT_EQ(DescribeErrno(9999), "Unknown error (errno 9999)");
}

TEST(ErrnoStatusTest, AMessageOfItsOwn) {
  const absl::Status status = ErrorWithErrno(ENODEV, "there is no eth7");
  EXPECT_EQ(status.message(), "there is no eth7");
  EXPECT_EQ(ErrnoOf(status), ENODEV);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
}

TEST(ErrnoStatusTest, AnnotationKeepsCodeAndErrno) {
  const absl::Status status = Annotate(Annotate(ErrnoError(ENOBUFS, "bind"), "queue 3"), "eth0");
  EXPECT_THAT(std::string(status.message()), HasSubstr("eth0: queue 3: bind: "));
  EXPECT_EQ(ErrnoOf(status), ENOBUFS);
  EXPECT_EQ(status.code(), ErrnoError(ENOBUFS, "").code());
}

TEST(ErrnoStatusTest, AnnotatedOkStaysOk) {
  EXPECT_TRUE(Annotate(absl::OkStatus(), "eth0").ok());
  EXPECT_EQ(ErrnoOf(absl::OkStatus()), 0);
}

TEST(ErrnoStatusTest, AStatusWithoutErrnoGetsTheNearest) {
  EXPECT_EQ(ErrnoOf(absl::InvalidArgumentError("")), EINVAL);
  EXPECT_EQ(ErrnoOf(absl::NotFoundError("")), ENODEV);
  EXPECT_EQ(ErrnoOf(absl::AlreadyExistsError("")), EEXIST);
  EXPECT_EQ(ErrnoOf(absl::PermissionDeniedError("")), EPERM);
  EXPECT_EQ(ErrnoOf(absl::ResourceExhaustedError("")), ENOMEM);
  EXPECT_EQ(ErrnoOf(absl::UnavailableError("")), EBUSY);
  EXPECT_EQ(ErrnoOf(absl::UnimplementedError("")), EOPNOTSUPP);
  EXPECT_EQ(ErrnoOf(absl::DeadlineExceededError("")), ETIMEDOUT);
  EXPECT_EQ(ErrnoOf(absl::InternalError("")), EINVAL);
}

absl::Status Chain(const absl::Status& first) {
  AFXDP_RETURN_IF_ERROR(first);
  return absl::InternalError("reached");
}

TEST(ErrnoStatusTest, ReturnIfErrorReturnsOnlyErrors) {
  EXPECT_EQ(ErrnoOf(Chain(ErrnoError(EIO, "x"))), EIO);
  EXPECT_EQ(Chain(absl::OkStatus()).message(), "reached");
}

}  // namespace
}  // namespace afxdp

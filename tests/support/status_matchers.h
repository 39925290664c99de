// SPDX-License-Identifier: Apache-2.0
//
// Matchers for absl::Status and absl::StatusOr, which this Abseil has none for.
//
//   EXPECT_THAT(port.status(), FailsWith(EEXIST, HasSubstr("id 7")));
//   ASSERT_OK(socket);
#ifndef TESTS_SUPPORT_STATUS_MATCHERS_H_
#define TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datapath/base/errno_status.h"

namespace afxdp::testing {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& status) {
  return status.status();
}

// A failure with errno value `error` whose message matches `message`.
MATCHER_P2(FailsWith, error, message, "") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << status.ToString();
  return !status.ok() && ErrnoOf(status) == error &&
         ::testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}

}  // namespace afxdp::testing

#define AFXDP_STATUS_CHECK(check, expression)        \
  check(::afxdp::testing::StatusOf(expression).ok()) \
      << ::afxdp::testing::StatusOf(expression).ToString()
#define ASSERT_OK(expression) AFXDP_STATUS_CHECK(ASSERT_TRUE, expression)
#define EXPECT_OK(expression) AFXDP_STATUS_CHECK(EXPECT_TRUE, expression)

#endif  // TESTS_SUPPORT_STATUS_MATCHERS_H_

// SPDX-License-Identifier: Apache-2.0
//
// The small services: threads, log, counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <string>
#include <thread>
#include <vector>

#include "datapath/base/counter.h"
#include "datapath/base/log.h"
#include "datapath/base/thread.h"
#include "tests/support/waiting.h"

namespace afxdp {
namespace {

TEST(ThreadTest, IsNamedAndDeafToSignals) {
  std::string name;
  bool blocked = false;
  StartThread("afxdp-test", [&] {
    // The name is set by the maker, after the start.
    testing::WaitFor([&] {
      char buffer[16] = {};
      pthread_getname_np(pthread_self(), buffer, sizeof buffer);
      name = buffer;
      return name == "afxdp-test";
    });
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGHUP) == 1;
  }).join();
  EXPECT_EQ(name, "afxdp-test");
  EXPECT_TRUE(blocked);
}

TEST(ThreadTest, TheMakersSignalsStayAsTheyWere) {
  StartThread("afxdp-test", [] {}).join();
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

std::vector<std::string>* logged = nullptr;

void Record(LogLevel level, const char* message) {
  logged->push_back(std::to_string(static_cast<int>(level)) + message);
}

TEST(LogTest, GoesToTheFunctionThatWasSet) {
  std::vector<std::string> lines;
  logged = &lines;
  Log(LogLevel::kError, "nobody listens yet");
  SetLogFunction(Record);
  Log(LogLevel::kError, "zero");
  Log(LogLevel::kInfo, "two");
  SetLogFunction(nullptr);
  Log(LogLevel::kError, "nobody listens any more");
  EXPECT_THAT(lines, ::testing::ElementsAre("0zero", "2two"));
}

TEST(CounterTest, CountsWhileOthersRead) {
  Counter counter;
  std::thread reader([&] {
    uint64_t last = 0;
    while (last < 20000) {
      const uint64_t now = counter.Get();
      EXPECT_GE(now, last);
      last = now;
    }
  });
  for (int i = 0; i < 10000; ++i) counter.Add(2);
  reader.join();
  EXPECT_EQ(counter.Get(), 20000u);
}

}  // namespace
}  // namespace afxdp

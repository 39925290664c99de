// SPDX-License-Identifier: Apache-2.0
#include "datapath/base/thread.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

namespace afxdp {

namespace {

// Blocks all signals for as long as it lives.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

std::thread StartThread(const std::string& name, std::function<void()> body) {
  // A thread inherits the mask of its maker, so there is no moment in which it could be hit.
  const SignalBlock block;
  std::thread thread(std::move(body));
  pthread_setname_np(thread.native_handle(), name.c_str());
  return thread;
}

std::optional<std::thread> TryStartThread(const std::string& name, std::function<void()> body) {
  try {
    return StartThread(name, std::move(body));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace afxdp

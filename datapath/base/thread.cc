// SPDX-License-Identifier: Apache-2.0
#include "datapath/base/thread.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace afxdp {

std::thread StartThread(const std::string& name, std::function<void()> body) {
  // A thread inherits the mask of its maker, so there is no moment in which it could be hit.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), name.c_str());
  return thread;
}

}  // namespace afxdp

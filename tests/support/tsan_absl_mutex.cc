// SPDX-License-Identifier: Apache-2.0
//
// Tells the thread sanitizer what absl::Mutex does.
//
// The distribution's Abseil is not built for the sanitizer, which therefore does not see that one
// thread's Unlock() comes before another's Lock() and would call every guarded access a race.  The
// linker sends our calls of these functions here (--wrap, see CMakeLists.txt); each says what it is
// about to do, as Abseil does by itself when it is built for the sanitizer, and calls the real one.
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#define REAL(name) asm("__real_" AFXDP_ABSL_MUTEX name)
#define WRAP(name) asm("__wrap_" AFXDP_ABSL_MUTEX name)

using absl::Condition;
using absl::Mutex;

void RealLock(Mutex* mutex) REAL("4LockEv");
void RealUnlock(Mutex* mutex) REAL("6UnlockEv");
bool RealTryLock(Mutex* mutex) REAL("7TryLockEv");
void RealAwait(Mutex* mutex, const Condition& condition) REAL("5AwaitERKNS0_9ConditionE");
bool RealAwaitWithTimeout(Mutex* mutex, const Condition& condition, absl::Duration timeout)
    REAL("16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE");
bool RealAwaitWithDeadline(Mutex* mutex, const Condition& condition, absl::Time deadline)
    REAL("17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE");

namespace {

// Between the first half and the second, the sanitizer ignores what the thread does; so it does not
// mind that one thread evaluates another's condition either.
void BeginUnlock(Mutex* mutex) { __tsan_mutex_pre_unlock(mutex, 0); }
void EndUnlock(Mutex* mutex) { __tsan_mutex_post_unlock(mutex, 0); }
void BeginLock(Mutex* mutex) { __tsan_mutex_pre_lock(mutex, 0); }
void EndLock(Mutex* mutex) { __tsan_mutex_post_lock(mutex, 0, 0); }

// To wait for a condition is to unlock and lock again.
class Waiting {
 public:
  explicit Waiting(Mutex* mutex) : mutex_(mutex) {
    BeginUnlock(mutex_);
    EndUnlock(mutex_);
    BeginLock(mutex_);
  }
  ~Waiting() { EndLock(mutex_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Mutex* const mutex_;
};

}  // namespace

// A status is counted by its users inside Abseil too, so the sanitizer does not see that the last
// one to let go comes after all others.
extern "C" const char* __tsan_default_suppressions() { return "race:Status::Unref\n"; }

void WrapLock(Mutex* mutex) WRAP("4LockEv");
void WrapUnlock(Mutex* mutex) WRAP("6UnlockEv");
bool WrapTryLock(Mutex* mutex) WRAP("7TryLockEv");
void WrapAwait(Mutex* mutex, const Condition& condition) WRAP("5AwaitERKNS0_9ConditionE");
bool WrapAwaitWithTimeout(Mutex* mutex, const Condition& condition, absl::Duration timeout)
    WRAP("16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE");
bool WrapAwaitWithDeadline(Mutex* mutex, const Condition& condition, absl::Time deadline)
    WRAP("17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE");

void WrapLock(Mutex* mutex) {
  BeginLock(mutex);
  RealLock(mutex);
  EndLock(mutex);
}

void WrapUnlock(Mutex* mutex) {
  BeginUnlock(mutex);
  RealUnlock(mutex);
  EndUnlock(mutex);
}

bool WrapTryLock(Mutex* mutex) {
  __tsan_mutex_pre_lock(mutex, __tsan_mutex_try_lock);
  const bool locked = RealTryLock(mutex);
  __tsan_mutex_post_lock(
      mutex, locked ? __tsan_mutex_try_lock : __tsan_mutex_try_lock | __tsan_mutex_try_lock_failed,
      0);
  return locked;
}

void WrapAwait(Mutex* mutex, const Condition& condition) {
  const Waiting waiting(mutex);
  RealAwait(mutex, condition);
}

bool WrapAwaitWithTimeout(Mutex* mutex, const Condition& condition, absl::Duration timeout) {
  const Waiting waiting(mutex);
  return RealAwaitWithTimeout(mutex, condition, timeout);
}

bool WrapAwaitWithDeadline(Mutex* mutex, const Condition& condition, absl::Time deadline) {
  const Waiting waiting(mutex);
  return RealAwaitWithDeadline(mutex, condition, deadline);
}

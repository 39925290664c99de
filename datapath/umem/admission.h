// SPDX-License-Identifier: Apache-2.0
//
// Admission: how many of the pool's frames are promised to the rings of ports.
//
// A queue may only be opened when the pool can back its rings filled to the brim, so no port can
// starve another.  A part of the pool is never promised: what packets on their way through the
// switch and the threads' caches hold.
//
//   absl::StatusOr<FramePromise> promise = admission.Promise(640);
#ifndef DATAPATH_UMEM_ADMISSION_H_
#define DATAPATH_UMEM_ADMISSION_H_

#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace afxdp {

class Admission;

// A promised number of frames; the promise ends with the object.
class FramePromise {
 public:
  FramePromise() = default;
  FramePromise(FramePromise&& other) noexcept
      : admission_(std::exchange(other.admission_, nullptr)),
        frames_(std::exchange(other.frames_, 0)),
        returning_(std::exchange(other.returning_, false)) {}
  FramePromise& operator=(FramePromise&& other) noexcept {
    Release();
    admission_ = std::exchange(other.admission_, nullptr);
    frames_ = std::exchange(other.frames_, 0);
    returning_ = std::exchange(other.returning_, false);
    return *this;
  }
  ~FramePromise() { Release(); }

  uint32_t frames() const { return frames_; }

  // The rings are closed, and this promise ends as soon as the kernel lets go of their frames.
  void SetReturning();

 private:
  friend class Admission;
  FramePromise(Admission* admission, uint32_t frames) : admission_(admission), frames_(frames) {}
  void Release();

  Admission* admission_ = nullptr;
  uint32_t frames_ = 0;
  bool returning_ = false;
};

// Any thread.  Must outlive its promises.
class Admission {
 public:
  // Frames that are never promised: 32 packets in flight and a full cache for each of seven
  // threads, less in a pool so small that this would be more than a quarter of it.
  static constexpr uint32_t kInFlight = 1120;

  explicit Admission(uint32_t pool_frames)
      : pool_frames_(pool_frames),
        limit_(pool_frames - (pool_frames / 4 < kInFlight ? pool_frames / 4 : kInFlight)) {}

  // Fails with RESOURCE_EXHAUSTED, and says how many frames are missing and what would help.  Where
  // it takes those of rings that are closed already, waits for them, at most until `deadline`.
  absl::StatusOr<FramePromise> Promise(uint32_t frames, absl::Time deadline = absl::InfinitePast());

  // The error of Promise(`frames`) after `returned` more promised frames had come back, without
  // waiting or making one.
  absl::Status Check(uint32_t frames, uint32_t returned) const;

  uint32_t promised() const;
  // Of those, the frames of rings that are closed.
  uint32_t returning() const;
  uint32_t limit() const { return limit_; }

 private:
  friend class FramePromise;

  absl::Status CheckLocked(uint32_t frames, uint32_t returned) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint32_t pool_frames_;
  const uint32_t limit_;
  mutable absl::Mutex mutex_;
  uint32_t promised_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t returning_ ABSL_GUARDED_BY(mutex_) = 0;  // Of those, promises that are about to end.
};

}  // namespace afxdp

#endif  // DATAPATH_UMEM_ADMISSION_H_

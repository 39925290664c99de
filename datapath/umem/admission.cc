// SPDX-License-Identifier: Apache-2.0
#include "datapath/umem/admission.h"

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "datapath/base/errno_status.h"

namespace afxdp {
namespace {

// The smallest pool that may promise `frames`: with the fixed part kept back, or a quarter of it.
uint64_t SmallestPool(uint64_t frames) {
  return std::min(frames + Admission::kInFlight, (4 * frames + 2) / 3);
}

}  // namespace

void FramePromise::Release() {
  if (admission_ == nullptr) return;
  absl::MutexLock lock(&admission_->mutex_);
  admission_->promised_ -= frames_;
  if (returning_) admission_->returning_ -= frames_;
  admission_ = nullptr;
  frames_ = 0;
  returning_ = false;
}

void FramePromise::SetReturning() {
  if (admission_ == nullptr || returning_) return;
  absl::MutexLock lock(&admission_->mutex_);
  admission_->returning_ += frames_;
  returning_ = true;
}

absl::StatusOr<FramePromise> Admission::Promise(uint32_t frames, absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  if (absl::Status status = CheckLocked(frames, 0); !status.ok()) return status;
  const auto fits = [this, frames]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return uint64_t{promised_} + frames <= limit_;
  };
  if (!mutex_.AwaitWithDeadline(absl::Condition(&fits), deadline)) {
    return ErrorWithErrno(
        ENOMEM, absl::StrCat("its rings can hold ", frames,
                             " frames, and the kernel still has those of closed queues that would "
                             "make room (afxdp/pool shows them as quarantined): try again"));
  }
  promised_ += frames;
  return FramePromise(this, frames);
}

absl::Status Admission::Check(uint32_t frames, uint32_t returned) const {
  absl::MutexLock lock(&mutex_);
  return CheckLocked(frames, returned);
}

absl::Status Admission::CheckLocked(uint32_t frames, uint32_t returned) const {
  const uint64_t others =
      promised_ - std::min<uint64_t>(uint64_t{returned} + returning_, promised_);
  const uint64_t wanted = others + frames;
  if (wanted <= limit_) return absl::OkStatus();
  const uint64_t missing = wanted - limit_;
  return ErrorWithErrno(
      ENOMEM, absl::StrCat("its rings can hold ", frames, " frames and the pool has ", missing,
                           " too few left (", others, " of ", limit_,
                           " are promised to other rings): raise afxdp-umem-frames from ",
                           pool_frames_, " to ", SmallestPool(wanted),
                           " or more, or make rings smaller (n_rxq_desc, n_txq_desc)"));
}

uint32_t Admission::promised() const {
  absl::MutexLock lock(&mutex_);
  return promised_;
}

uint32_t Admission::returning() const {
  absl::MutexLock lock(&mutex_);
  return returning_;
}

}  // namespace afxdp

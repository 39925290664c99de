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
  admission_ = nullptr;
  frames_ = 0;
}

absl::StatusOr<FramePromise> Admission::Promise(uint32_t frames) {
  absl::MutexLock lock(&mutex_);
  if (absl::Status status = CheckLocked(frames, 0); !status.ok()) return status;
  promised_ += frames;
  return FramePromise(this, frames);
}

absl::Status Admission::Check(uint32_t frames, uint32_t returned) const {
  absl::MutexLock lock(&mutex_);
  return CheckLocked(frames, returned);
}

absl::Status Admission::CheckLocked(uint32_t frames, uint32_t returned) const {
  const uint64_t wanted = uint64_t{promised_} - returned + frames;
  if (wanted <= limit_) return absl::OkStatus();
  const uint64_t missing = wanted - limit_;
  return ErrorWithErrno(
      ENOMEM, absl::StrCat("its rings can hold ", frames, " frames and the pool has ", missing,
                           " too few left (", promised_ - returned, " of ", limit_,
                           " are promised to other rings): raise afxdp-umem-frames from ",
                           pool_frames_, " to ", SmallestPool(wanted),
                           " or more, or make rings smaller (n_rxq_desc, n_txq_desc)"));
}

uint32_t Admission::promised() const {
  absl::MutexLock lock(&mutex_);
  return promised_;
}

}  // namespace afxdp

#include "engine/frame/copy/compaction.h"

#include <chrono>
#include <cstdint>
#include <utility>

#include "engine/base/status.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/legacy_loader.h"
#include "engine/frame/writer/frame_writer.h"

namespace cairn::frame {

namespace {

// Each pass copies the chunks that commits added during the one before.
constexpr int kMostPasses = 4;
// This many new chunks can be copied under the lock.
constexpr int64_t kFewChunks = 64;

// Shows the errors that a writer would get, before anything is copied.
absl::Status CheckMayWrite(FrameCore& core, std::chrono::milliseconds wait) {
  const absl::StatusOr<std::shared_ptr<File>> file = core.OpenForWriting({});
  if (file.ok()) return (*file)->UnlockByte(kWriterLockByte);
  const bool may_come = wait > wait.zero() && absl::IsUnavailable(file.status());
  return may_come ? absl::OkStatus() : file.status();
}

// Copies a frame while a writer may use it. Returns null if nothing can be copied in this way.
absl::StatusOr<std::unique_ptr<LiveCopy>> CopyBesideWriter(FrameCore& core,
                                                           std::chrono::milliseconds wait,
                                                           ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(StatePtr state, core.Refresh());
  if (state->header().layout == Layout::kSparse || !CheckWritable(*state).ok()) return nullptr;
  CAIRN_RETURN_IF_ERROR(CheckMayWrite(core, wait));
  CAIRN_RETURN_IF_ERROR(CheckMayContinue(core.source(), *state, Repair::kNone));
  const FrameFile source = core.source();
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity file, source.file()->Identity());
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<LiveCopy> copy,
                         LiveCopy::Begin(core.location(), file, state->header().header_len));
  for (int pass = 1;; ++pass) {
    CAIRN_ASSIGN_OR_RETURN(const int64_t copied, copy->CopyNew(*state, progress));
    if (pass == kMostPasses || copied <= kFewChunks) return copy;
    CAIRN_ASSIGN_OR_RETURN(state, core.Refresh());
  }
}

}  // namespace

absl::StatusOr<CompactReport> CompactFrame(const std::shared_ptr<FrameCore>& core,
                                           const CompactOptions& options) {
  int64_t most = 0;
  const auto progress = [&](int64_t done) {
    if (done <= most || options.progress == nullptr) return true;
    most = done;
    return options.progress(done);
  };
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("wait", options.wait.count()));
  absl::StatusOr<std::unique_ptr<LiveCopy>> begun = CopyBesideWriter(*core, options.wait, progress);
  // A writer can use space that it keeps in reserve.
  if (absl::IsResourceExhausted(begun.status())) begun = nullptr;
  CAIRN_RETURN_IF_ERROR(begun.status());
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<FrameWriter> writer,
                         OpenWriter(core, {.wait = options.wait, .executor = options.executor}));
  CAIRN_ASSIGN_OR_RETURN(const CompactReport report, writer->Compact(*std::move(begun), progress));
  CAIRN_RETURN_IF_ERROR(writer->Close());
  return report;
}

}  // namespace cairn::frame

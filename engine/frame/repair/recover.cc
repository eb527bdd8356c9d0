#include "cairn/recover.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "engine/base/status.h"
#include "engine/frame/commit/frame_writer.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/open/history.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/repair/trailer_scanner.h"

namespace cairn {

namespace {

using frame::FrameCore;
using frame::FrameFile;
using frame::State;

// Where the trailer ends that the header in the file points to; 0 without one.
int64_t EndOfOwnTrailer(const FrameFile& source) {
  const int64_t end = frame::LoadFrameSize(source).value_or(0);
  return end >= format::kFixedHeaderSize && frame::HeaderOfTrailerAt(source, end).ok() ? end : 0;
}

// A header that points to its own trailer is never replaced by that of another.
absl::StatusOr<std::vector<std::byte>> FindHeader(const FrameFile& source,
                                                  const absl::Status& damage) {
  const int64_t own = EndOfOwnTrailer(source);
  absl::StatusOr<frame::FoundTrailer> found = frame::FindNewestTrailer(source);
  if (absl::IsDataLoss(found.status())) return damage;
  CAIRN_RETURN_IF_ERROR(found.status());
  if (own != 0 && own != found->end) return damage;
  std::vector<std::byte>& header = found->seal.header_copy;
  std::vector<std::byte> there(header.size());
  CAIRN_RETURN_IF_ERROR(source.ReadAt(0, there));
  // Then the header is not what is damaged, and writing it again would change nothing.
  if (there == header) return damage;
  return std::move(header);
}

// Reports what the file holds, perhaps with another header than its own.
absl::StatusOr<RecoveryReport> Describe(const FrameFile& source, const State& state,
                                        bool drop_stranded) {
  CAIRN_RETURN_IF_ERROR(frame::CheckMayContinue(source, state, drop_stranded));
  RecoveryReport report;
  report.stranded_commits = state.info().stranded_commits;
  CAIRN_ASSIGN_OR_RETURN(report.size_before, source.Size());
  report.size_after = report.size_before;
  report.generation = state.generation();
  report.checkpoint_generation = state.generation();
  if (!state.journal.has_value()) return report;
  report.checkpoint_generation =
      state.checkpoint->seal.has_value() ? state.checkpoint->seal->generation : 0;
  report.commits = static_cast<int64_t>(report.generation - report.checkpoint_generation);
  report.cut = report.size_before - state.journal->end;
  return report;
}

// Writes the header that `damage` keeps from being read, unless it is a dry run. Reports what the
// file holds with it.
absl::StatusOr<RecoveryReport> RestoreHeader(FileSystem* files, const std::string& path,
                                             const absl::Status& damage,
                                             const RecoverOptions& options) {
  std::shared_ptr<File> file;
  if (options.dry_run) {
    CAIRN_ASSIGN_OR_RETURN(file, files->Open(path, FileMode::kRead));
  } else {
    CAIRN_ASSIGN_OR_RETURN(file, frame::LockForWriting(*files, path, std::chrono::milliseconds(0)));
  }
  const FrameFile source = FrameFile::OfFile(file, 0, false);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> header, FindHeader(source, damage));
  // Write only a header with which the frame opens.
  CAIRN_ASSIGN_OR_RETURN(
      const frame::StatePtr state,
      frame::LoadFrom(source, header, std::make_shared<frame::FrameContext>(OpenOptions())));
  CAIRN_ASSIGN_OR_RETURN(RecoveryReport report, Describe(source, *state, options.drop_stranded));
  report.header_restored = true;
  if (options.dry_run) return report;
  CAIRN_RETURN_IF_ERROR(file->WriteAt(0, header));
  CAIRN_RETURN_IF_ERROR(file->Sync(SyncMode::kAll));
  return report;
}

// Writes a checkpoint of the journal and cuts what follows it, unless it is a dry run.
absl::StatusOr<RecoveryReport> Settle(const std::shared_ptr<FrameCore>& core,
                                      const RecoverOptions& options) {
  const bool drop = options.drop_stranded;
  CAIRN_ASSIGN_OR_RETURN(const RecoveryReport before,
                         Describe(core->source(), *core->newest(), drop));
  if (options.dry_run || (before.commits == 0 && before.cut == 0)) return before;
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<frame::FrameWriter> writer,
                         frame::OpenWriter(core, {}, drop));
  // Only the writer's lock rules out further commits, but opening it has cut what followed them.
  CAIRN_ASSIGN_OR_RETURN(RecoveryReport report, Describe(core->source(), *core->newest(), drop));
  report.cut = std::max<int64_t>(before.size_before - report.size_before, 0);
  report.size_before = before.size_before;
  report.stranded_commits = before.stranded_commits;
  CAIRN_RETURN_IF_ERROR(writer->Checkpoint());
  CAIRN_RETURN_IF_ERROR(writer->Close());
  CAIRN_ASSIGN_OR_RETURN(report.size_after, core->source().Size());
  return report;
}

}  // namespace

absl::StatusOr<RecoveryReport> Recover(const std::string& path, const RecoverOptions& options) {
  FileSystem* files = options.file_system != nullptr ? options.file_system : PosixFileSystem();
  CAIRN_ASSIGN_OR_RETURN(const std::string absolute, files->Absolute(path));
  const OpenOptions open{.file_system = files};
  absl::StatusOr<std::shared_ptr<FrameCore>> core = FrameCore::Open(absolute, open);
  // kInvalidArgument: not even the magic is left.
  const bool damaged = absl::IsDataLoss(core.status()) || absl::IsUnimplemented(core.status()) ||
                       absl::IsInvalidArgument(core.status());
  const bool restore = damaged && !files->OpenDirectory(absolute).ok();
  if (!core.ok() && !restore) return core.status();
  if (restore) {
    CAIRN_ASSIGN_OR_RETURN(RecoveryReport report,
                           RestoreHeader(files, absolute, core.status(), options));
    if (options.dry_run) return report;
    core = FrameCore::Open(absolute, open);
    CAIRN_RETURN_IF_ERROR(core.status());
  }
  CAIRN_ASSIGN_OR_RETURN(RecoveryReport report, Settle(*core, options));
  report.header_restored = restore;
  return report;
}

}  // namespace cairn

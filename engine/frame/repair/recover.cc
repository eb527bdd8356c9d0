#include "cairn/recover.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/frame/commit/open_writer.h"
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
  const absl::StatusOr<int64_t> frame_size = frame::LoadFrameSize(source);
  if (!frame_size.ok()) return 0;
  const absl::StatusOr<int64_t> size = source.Size();
  if (!size.ok() || *frame_size < format::kFixedHeaderSize || *frame_size > *size) return 0;
  return frame::HeaderOfTrailerAt(source, *frame_size).ok() ? *frame_size : 0;
}

// A header that points to its own trailer is never replaced by that of another.
absl::StatusOr<std::vector<std::byte>> FindHeader(const std::shared_ptr<File>& file,
                                                  const absl::Status& damage) {
  const int64_t own = EndOfOwnTrailer(FrameFile::OfFile(file, 0, false));
  absl::StatusOr<frame::FoundTrailer> found = frame::FindNewestTrailer(*file);
  if (absl::IsDataLoss(found.status())) return damage;
  CAIRN_RETURN_IF_ERROR(found.status());
  if (own != 0 && own != found->end) return damage;
  std::vector<std::byte> there(found->header.size());
  CAIRN_RETURN_IF_ERROR(file->ReadAt(0, there));
  // Then the header is not what is damaged, and writing it again would change nothing.
  if (there == found->header) return damage;
  return std::move(found->header);
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

absl::StatusOr<RecoveryReport> DescribeWithHeader(const std::shared_ptr<File>& file,
                                                  std::vector<std::byte> header,
                                                  bool drop_stranded) {
  const FrameFile source = FrameFile::OfFile(file, 0, false);
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> state,
                         frame::LoadFrom(source, std::move(header),
                                         std::make_shared<frame::FrameContext>(OpenOptions())));
  CAIRN_ASSIGN_OR_RETURN(RecoveryReport report, Describe(source, *state, drop_stranded));
  report.header_restored = true;
  return report;
}

absl::Status RestoreHeader(FileSystem* files, const std::string& path, const absl::Status& damage,
                           bool drop_stranded) {
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<File> file, frame::LockForWriting(*files, path));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> header, FindHeader(file, damage));
  // Write only a header with which the frame opens.
  CAIRN_RETURN_IF_ERROR(DescribeWithHeader(file, header, drop_stranded).status());
  CAIRN_RETURN_IF_ERROR(file->WriteAt(0, header));
  return file->Sync(SyncMode::kAll);
}

// Writes a checkpoint of the journal and cuts what follows it.
absl::StatusOr<RecoveryReport> Settle(const std::shared_ptr<FrameCore>& core, bool drop_stranded) {
  CAIRN_ASSIGN_OR_RETURN(RecoveryReport report,
                         Describe(core->source(), *core->newest(), drop_stranded));
  if (report.commits == 0 && report.cut == 0) return report;
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<frame::FrameWriter> writer,
                         frame::OpenWriter(core, {}, drop_stranded));
  // Only the writer's lock rules out further commits, but opening it has cut what followed them.
  const int64_t size_before = report.size_before;
  const int64_t stranded_commits = report.stranded_commits;
  CAIRN_ASSIGN_OR_RETURN(report, Describe(core->source(), *core->newest(), drop_stranded));
  report.cut = std::max<int64_t>(size_before - report.size_before, 0);
  report.size_before = size_before;
  report.stranded_commits = stranded_commits;
  CAIRN_RETURN_IF_ERROR(writer->Close());
  CAIRN_ASSIGN_OR_RETURN(report.size_after, core->source().Size());
  return report;
}

}  // namespace

absl::StatusOr<RecoveryReport> Recover(const std::string& path, const RecoverOptions& options) {
  FileSystem* files = options.file_system != nullptr ? options.file_system : PosixFileSystem();
  CAIRN_ASSIGN_OR_RETURN(const std::string absolute, files->Absolute(path));
  OpenOptions open;
  open.file_system = files;
  absl::StatusOr<std::shared_ptr<FrameCore>> core = FrameCore::Open(absolute, open);
  // kInvalidArgument: not even the magic is left.
  const bool damaged = absl::IsDataLoss(core.status()) || absl::IsUnimplemented(core.status()) ||
                       absl::IsInvalidArgument(core.status());
  const bool restore = damaged && !files->OpenDirectory(absolute).ok();
  if (!core.ok() && !restore) return core.status();
  if (options.dry_run) {
    if (!restore) return Describe((*core)->source(), *(*core)->newest(), options.drop_stranded);
    CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<File> file,
                           files->Open(absolute, FileMode::kRead));
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> header, FindHeader(file, core.status()));
    return DescribeWithHeader(file, std::move(header), options.drop_stranded);
  }
  if (restore) {
    CAIRN_RETURN_IF_ERROR(RestoreHeader(files, absolute, core.status(), options.drop_stranded));
    core = FrameCore::Open(absolute, open);
    CAIRN_RETURN_IF_ERROR(core.status());
  }
  CAIRN_ASSIGN_OR_RETURN(RecoveryReport report, Settle(*core, options.drop_stranded));
  report.header_restored = restore;
  return report;
}

}  // namespace cairn

#include "cairn/recover.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/checkpoint_parts.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/open/trailer_scanner.h"
#include "engine/frame/writer/frame_writer.h"

namespace cairn {

namespace {

using frame::FrameCore;
using frame::FrameFile;
using frame::State;

// Returns where the trailer ends that the header in the file points to, or 0 without one.
int64_t EndOfOwnTrailer(const FrameFile& source) {
  const int64_t end = frame::LoadFrameSize(source).value_or(0);
  return end >= format::kFixedHeaderSize && frame::HeaderOfTrailerAt(source, end).ok() ? end : 0;
}

// The checkpoint that the file's header leads to instead of that of another header.
struct MissingCheckpoint {
  int64_t end = 0;  // 0 if the header cannot be read, or leads to the same checkpoint
  // The header differs in more than a flipped bit of its end, so it is that of another checkpoint.
  bool is_other = false;
};

MissingCheckpoint FindMissing(const FrameFile& source, Bytes restored) {
  const auto bytes =
      frame::ReadHeaderBytes(source, format::kFixedHeaderSize, format::kFixedHeaderSize);
  if (!bytes.ok()) return {};
  const auto there = format::ParseFrameHeader(*bytes);
  const auto found = format::ParseFrameHeader(restored);
  if (!there.ok() || !found.ok() || there->frame_size == found->frame_size) return {};
  MissingCheckpoint missing{.end = there->frame_size};
  const auto flipped = static_cast<uint64_t>(there->frame_size ^ found->frame_size);
  const bool is_possible = there->frame_size >= there->header_len + format::kMinTrailerSize;
  missing.is_other =
      is_possible && (!std::has_single_bit(flipped) || there->nbytes != found->nbytes ||
                      there->cbytes != found->cbytes);
  return missing;
}

// Finds the header to write. A header that points to its own trailer is never replaced by that of
// another.
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
  // If both are equal, the header is not damaged, and writing it again would change nothing.
  if (there == header) return damage;
  return std::move(header);
}

frame::Repair RepairOf(const RecoverOptions& options) {
  return options.drop_stranded ? frame::Repair::kDropStranded : frame::Repair::kHeader;
}

// Reports the content of the file, perhaps with another header than its own.
absl::StatusOr<RecoveryReport> Describe(const FrameFile& source, const State& state,
                                        frame::Repair repair) {
  CAIRN_RETURN_IF_ERROR(frame::CheckMayContinue(source, state, repair));
  RecoveryReport report;
  report.header_restored = state.damage.has_value() && state.damage->newer.has_value();
  if (!report.header_restored) report.stranded_commits = state.info().stranded_commits;
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

// Returns the least number of commits that follow a checkpoint which is newer than the state's.
int64_t CountBeyond(const State& state, const std::vector<uint64_t>& other_bases) {
  if (state.damage.has_value() && state.damage->newer.has_value()) return state.damage->stranded;
  return other_bases.empty() ? 0 : 1;
}

// Writes the header that `damage` keeps from being read, unless it is a dry run. Reports the
// content of the file with that header.
absl::StatusOr<RecoveryReport> RestoreHeader(const std::shared_ptr<FileSystem>& files,
                                             const std::string& path, const absl::Status& damage,
                                             const RecoverOptions& options) {
  std::shared_ptr<File> file;
  if (options.dry_run) {
    CAIRN_ASSIGN_OR_RETURN(file, files->Open(path, FileMode::kRead));
  } else {
    CAIRN_ASSIGN_OR_RETURN(file, frame::LockForWriting(*files, path, std::chrono::milliseconds(0)));
  }
  const FrameFile source = FrameFile::OfFile(file, 0, false);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> header, FindHeader(source, damage));
  // The header is written only if the frame opens with it.
  std::vector<uint64_t> other_bases;
  CAIRN_ASSIGN_OR_RETURN(
      const frame::StatePtr state,
      frame::LoadFrom(source, header, std::make_shared<frame::FrameContext>(OpenOptions()), nullptr,
                      other_bases));
  // If there are any, a trailer is damaged that a newer header led to.
  const int64_t lost = CountBeyond(*state, other_bases);
  if (lost > 0 && !options.drop_stranded) {
    return DataLoss(
        "%s; another trailer leads to generation %d, and at least %d commits follow it that cannot "
        "be read: only a recovery that drops stranded commits goes back to it",
        damage.message(), state->generation(), lost);
  }
  // The bytes after the older checkpoint would be cut off, and with them the chunks of the newer.
  const MissingCheckpoint missing = FindMissing(source, header);
  if (missing.is_other && !options.drop_stranded) {
    return DataLoss(
        "%s; another trailer leads to generation %d, but the header to a checkpoint that ends at "
        "byte %d and may be newer: salvage it into another file first; only a recovery that drops "
        "stranded commits goes back to generation %d",
        damage.message(), state->generation(), missing.end, state->generation());
  }
  CAIRN_ASSIGN_OR_RETURN(RecoveryReport report, Describe(source, *state, RepairOf(options)));
  report.header_restored = true;
  report.missing_checkpoint_end = missing.end;
  report.stranded_commits = std::max(report.stranded_commits, lost);
  if (options.dry_run) return report;
  CAIRN_RETURN_IF_ERROR(file->WriteAt(0, header));
  CAIRN_RETURN_IF_ERROR(file->Sync(SyncMode::kAll));
  return report;
}

// Writes a checkpoint of the journal and cuts the bytes after it, unless it is a dry run.
absl::StatusOr<RecoveryReport> Settle(const std::shared_ptr<FrameCore>& core,
                                      const RecoverOptions& options) {
  const frame::Repair repair = RepairOf(options);
  CAIRN_ASSIGN_OR_RETURN(const RecoveryReport before,
                         Describe(core->source(), *core->newest(), repair));
  const bool is_well = before.commits == 0 && before.cut == 0 && !before.header_restored;
  if (options.dry_run || is_well) return before;
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<frame::FrameWriter> writer,
                         frame::OpenWriter(core, {}, repair));
  // Only the writer's lock rules out further commits, but opening it has cut the bytes after them.
  CAIRN_ASSIGN_OR_RETURN(RecoveryReport report, Describe(core->source(), *core->newest(), repair));
  report.cut = std::max<int64_t>(before.size_before - report.size_before, 0);
  report.size_before = before.size_before;
  report.stranded_commits = before.stranded_commits;
  report.header_restored = before.header_restored;
  CAIRN_RETURN_IF_ERROR(writer->Checkpoint());
  CAIRN_RETURN_IF_ERROR(writer->Close());
  CAIRN_ASSIGN_OR_RETURN(report.size_after, core->source().Size());
  return report;
}

}  // namespace

absl::StatusOr<RecoveryReport> Recover(const std::string& path, const RecoverOptions& options) {
  const std::shared_ptr<FileSystem>& files = frame::FilesOrPosix(options.file_system);
  CAIRN_ASSIGN_OR_RETURN(const std::string absolute, files->Absolute(path));
  const OpenOptions open{.file_system = files};
  absl::StatusOr<std::shared_ptr<FrameCore>> core = FrameCore::Open(absolute, open);
  // kInvalidArgument means that not even the magic is left.
  const bool damaged = absl::IsDataLoss(core.status()) || absl::IsUnimplemented(core.status()) ||
                       absl::IsInvalidArgument(core.status());
  const bool restore = damaged && !files->OpenDirectory(absolute).ok();
  if (!core.ok() && !restore) return core.status();
  RecoveryReport restored;
  if (restore) {
    CAIRN_ASSIGN_OR_RETURN(restored, RestoreHeader(files, absolute, core.status(), options));
    if (options.dry_run) return restored;
    core = FrameCore::Open(absolute, open);
    CAIRN_RETURN_IF_ERROR(core.status());
  }
  CAIRN_ASSIGN_OR_RETURN(RecoveryReport report, Settle(*core, options));
  report.header_restored |= restore;
  report.stranded_commits = std::max(report.stranded_commits, restored.stranded_commits);
  report.missing_checkpoint_end = restored.missing_checkpoint_end;
  return report;
}

}  // namespace cairn

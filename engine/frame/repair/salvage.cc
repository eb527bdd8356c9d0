#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/frame/files/copy_files.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/open/trailer_scanner.h"
#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/repair/index_mender.h"
#include "engine/frame/repair/indexed_salvage.h"
#include "engine/frame/repair/scanned_salvage.h"
#include "engine/frame/repair/scanned_state.h"
#include "engine/frame/repair/stranded_chunks.h"

namespace cairn {

namespace frame {

namespace {

absl::StatusOr<std::unique_ptr<File>> OpenDamaged(FileSystem& files, const std::string& path) {
  if (files.OpenDirectory(path).ok()) {
    return InvalidArgument("%s is a directory: its files are salvaged one by one", path);
  }
  return files.Open(path, FileMode::kRead);
}

struct HeaderAtStart {
  std::vector<std::byte> bytes;
  format::FrameHeader parsed;
};

// Returns the header at the start of the frame, if its values can be read. The bytes between them
// are equal in all frames.
absl::StatusOr<std::optional<HeaderAtStart>> ReadHeader(const FrameView& file, int64_t offset) {
  constexpr int kMostDamaged = 4;
  ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(const Bytes marked,
                         ReadUpTo(file, offset, format::kMarkedHeaderSize, scratch));
  if (std::ssize(marked) < format::kMarkedHeaderSize) return std::nullopt;
  HeaderAtStart header{.bytes = ToVector(marked), .parsed = {}};
  if (format::RestoreMarkers(header.bytes) > kMostDamaged) return std::nullopt;
  const absl::StatusOr<int64_t> size = format::ParseHeaderLength(header.bytes);
  if (!size.ok() || *size > file.size() - offset) return std::nullopt;
  CAIRN_ASSIGN_OR_RETURN(const Bytes all, file.Read(offset, *size, scratch));
  const Bytes rest = all.subspan(std::min(header.bytes.size(), all.size()));
  header.bytes.insert(header.bytes.end(), rest.begin(), rest.end());
  absl::StatusOr<format::FrameHeader> parsed = format::ParseFrameHeader(header.bytes);
  if (!parsed.ok()) return std::nullopt;
  header.parsed = *std::move(parsed);
  return header;
}

// Returns the extents of header and trailers, by their begin.
absl::StatusOr<std::vector<Extent>> KnownParts(const FrameView& file, int64_t offset,
                                               const std::optional<HeaderAtStart>& header) {
  std::vector<Extent> known;
  ScanBudget budget(file.size(), kMaxTrailerOverlaps);
  CAIRN_RETURN_IF_ERROR(ForEachTrailer(
      file, budget, [&](const TrailerBytes& trailer) { known.push_back(trailer.place); }));
  if (header.has_value()) {
    known.push_back({.begin = offset, .end = offset + header->parsed.header_len});
  }
  std::ranges::sort(known, {}, &Extent::begin);
  return known;
}

// Reports the bytes that a file lacks at its end.
void LoseMissing(const std::optional<HeaderAtStart>& header, int64_t offset, int64_t size,
                 ScanResult& found) {
  const int64_t end =
      header.has_value() ? std::min(header->parsed.frame_size, INT64_MAX - offset) + offset : 0;
  const bool is_told = !found.lost.empty() && found.lost.back().end == size;
  if (end <= size || is_told) return;
  found.lost.push_back(
      {.begin = size, .end = end, .reason = absl::StrFormat("the file ends at byte %d", size)});
}

// Returns true if a header that is damaged only in its frame_size led to this trailer.
bool LeadTo(const FoundTrailer& trailer, const FrameFile& source) {
  std::vector<std::byte> header(trailer.seal.header_copy.size());
  constexpr auto kEnd = static_cast<size_t>(format::kFrameSizeOffset) + sizeof(int64_t);
  if (header.size() < kEnd || !source.ReadAt(0, header).ok()) return false;
  std::copy_n(trailer.seal.header_copy.begin() + format::kFrameSizeOffset, sizeof(int64_t),
              header.begin() + format::kFrameSizeOffset);
  return header == trailer.seal.header_copy;
}

// Returns the copy of a header with the metalayers of the one that it stands for, if these can be
// read. Another Blosc2 may have changed them since.
std::vector<std::byte> WithMetalayersOf(const FrameFile& source, std::vector<std::byte> copy) {
  const absl::StatusOr<format::FrameHeader> header = format::ParseFrameHeader(copy);
  if (!header.ok()) return copy;
  for (const format::LayerPlace& place : header->places) {
    const auto size = static_cast<size_t>(format::kValueOverhead + place.size);
    const MutableBytes ours =
        MutableBytes(copy).subspan(static_cast<size_t>(place.begin - format::kValueOverhead), size);
    std::vector<std::byte> theirs(size);
    if (!source.ReadAt(place.begin - format::kValueOverhead, theirs).ok()) continue;
    const bool is_there = std::ranges::equal(Bytes(theirs).first(format::kValueOverhead),
                                             ours.first(format::kValueOverhead));
    if (is_there) CopyBytes(theirs, ours);
  }
  return copy;
}

// Returns the state that a header leads to which is not that of the file, or null unless it shows
// all commits.
StatePtr LoadBy(const FrameFile& source, std::vector<std::byte> header,
                const OpenOptions& options) {
  std::vector<uint64_t> other_bases;
  const absl::StatusOr<StatePtr> state =
      LoadFrom(source, std::move(header), std::make_shared<const FrameContext>(options), nullptr,
               other_bases);
  if (!state.ok() || !other_bases.empty() || (*state)->damage) return nullptr;
  return HasIndex(**state) ? *state : nullptr;
}

// Loads the frame as if it ended with the file. Only the size in its header is damaged.
StatePtr LoadToEnd(const FrameFile& source, const HeaderAtStart& header,
                   const OpenOptions& options) {
  const absl::StatusOr<int64_t> size = source.Size();
  if (!size.ok()) return nullptr;
  std::vector<std::byte> bytes = header.bytes;
  StoreBe(bytes.data() + format::kFrameSizeOffset, static_cast<uint64_t>(*size));
  StatePtr state = LoadBy(source, std::move(bytes), options);
  if (state == nullptr) return nullptr;
  const Checkpoint& checkpoint = *state->checkpoint;
  const bool fits =
      checkpoint.index.size() == 0 || checkpoint.index.end == checkpoint.trailer.begin;
  return fits ? state : nullptr;
}

// Loads the chunks that the index of the header names. The trailer is damaged, or cut off.
StatePtr LoadByIndex(const FrameFile& source, const HeaderAtStart& header,
                     const OpenOptions& options) {
  return StateOfIndex(source, header.bytes, std::make_shared<const FrameContext>(options))
      .value_or(nullptr);
}

// Returns the newest state of a frame that can be opened, with its own header or the copy of it in
// its trailer, or by the index alone. Returns null if there is none.
StatePtr FindState(const std::shared_ptr<File>& file, const std::string& path,
                   const std::optional<HeaderAtStart>& header, const OpenOptions& options) {
  const absl::StatusOr<std::shared_ptr<FrameCore>> core = FrameCore::Open(path, options);
  const StatePtr newest = core.ok() ? (*core)->newest() : nullptr;
  // The header may be older than the bytes after it.
  const bool is_old = newest != nullptr && newest->damage && newest->damage->newer;
  if (newest != nullptr && !is_old) return HasIndex(*newest) ? newest : nullptr;
  const FrameFile source = FrameFile::OfFile(file, options.offset, options.use_mmap);
  absl::StatusOr<FoundTrailer> trailer = FindNewestTrailer(source);
  if (!trailer.ok()) {
    if (!header.has_value()) return nullptr;
    const StatePtr ended = LoadToEnd(source, *header, options);
    return ended != nullptr ? ended : LoadByIndex(source, *header, options);
  }
  // A newer checkpoint may have lost its trailer.
  const bool is_newest = is_old
                             ? newest->damage->newer->frame_size == trailer->end
                             : !header.has_value() || header->parsed.frame_size == trailer->end ||
                                   LeadTo(*trailer, source);
  if (!is_newest) {
    // The header may have lost its trailer, if it is not older than that other trailer.
    const bool is_newer = !is_old && header->parsed.frame_size > trailer->end;
    return is_newer ? LoadByIndex(source, *header, options) : nullptr;
  }
  std::vector<std::byte> copy = std::move(trailer->seal.header_copy);
  return LoadBy(source, is_old ? std::move(copy) : WithMetalayersOf(source, std::move(copy)),
                options);
}

// Returns the facts that `opened`, the header or a trailer has about the frame, apart from its
// chunks, or null if nothing has any.
StatePtr MetadataOf(const FrameFile& source, const StatePtr& opened,
                    const std::optional<HeaderAtStart>& header,
                    const std::shared_ptr<const FrameContext>& env) {
  if (opened != nullptr || !header.has_value()) return opened;
  return StateOfHeader(source, header->bytes, env).value_or(nullptr);
}

// The result of saving a state. Empty if the state is of no use: it leads to no chunk, or to some
// that nothing is known about.
using Attempt = std::optional<absl::StatusOr<SalvageReport>>;

Attempt Save(KnownState known, const CopyTarget& target,
             absl::FunctionRef<bool(int64_t)> progress) {
  // A sealed index is right, even if each chunk is damaged. Other bytes of the file are dead.
  const bool is_complete = known.state->checkpoint->sealed && !known.is_scan;
  absl::StatusOr<SalvageReport> report = SalvageByIndex(std::move(known), target, progress);
  const bool useless = (absl::IsNotFound(report.status()) && !is_complete) ||
                       absl::IsDataLoss(report.status()) ||
                       absl::IsResourceExhausted(report.status());
  if (useless) return std::nullopt;
  return report;
}

Attempt SaveIndexed(const StatePtr& state, const StatePtr& older, const CopyTarget& target,
                    ChunkDetector& detector, absl::FunctionRef<bool(int64_t)> progress) {
  if (!state->damage.has_value()) {
    return Save({.state = state, .older = older, .lost = {}}, target, progress);
  }
  absl::StatusOr<KnownState> known = AddStranded(state, detector, progress);
  if (!known.ok()) return known.status();
  known->older = older;
  return Save(*std::move(known), target, progress);
}

// Returns the state of the newest checkpoint whose trailer is whole, with its journal, if the
// header names a newer one. Otherwise returns null.
StatePtr LoadOlder(const FrameFile& source, const format::FrameHeader& header,
                   const OpenOptions& options) {
  absl::StatusOr<FoundTrailer> trailer = FindNewestTrailer(source);
  if (!trailer.ok() || header.frame_size <= trailer->end) return nullptr;
  std::vector<uint64_t> other_bases;
  const absl::StatusOr<StatePtr> state =
      LoadFrom(source, std::move(trailer->seal.header_copy),
               std::make_shared<const FrameContext>(options), nullptr, other_bases);
  return state.ok() ? *state : nullptr;
}

// Returns the state from which vlmetalayers are taken that `state` lacks, or null.
StatePtr FindOlder(const FrameFile& source, const std::optional<HeaderAtStart>& header,
                   const StatePtr& state, const OpenOptions& options) {
  if (!header.has_value()) return nullptr;
  const bool is_intact = state != nullptr && state->checkpoint->trailer_damage.ok();
  return is_intact ? nullptr : LoadOlder(source, header->parsed, options);
}

// Saves an older state if the index of the newest one is lost, and the chunks that follow it.
Attempt SaveOlder(const FrameFile& source, const HeaderAtStart& header, const CopyTarget& target,
                  ChunkDetector& detector, const OpenOptions& options,
                  absl::FunctionRef<bool(int64_t)> progress) {
  const StatePtr state = LoadOlder(source, header.parsed, options);
  if (state == nullptr || !HasIndex(*state) || !IsIndexWhole(*state)) return std::nullopt;
  absl::StatusOr<KnownState> known = AddStranded(state, header.parsed, detector, progress);
  if (!known.ok()) return known.status();
  // Without a cut, the scan saves chunks that have no place.
  const auto size = source.Size();
  const bool is_cut = size.ok() && *size < header.parsed.frame_size;
  if (CountChunks(*known->state) == 0 || !(is_cut || known->places_all)) return std::nullopt;
  Attempt attempt = Save(*std::move(known), target, progress);
  if (attempt.has_value() && absl::IsNotFound(attempt->status())) return std::nullopt;
  return attempt;
}

Attempt SaveScanned(const StatePtr& known, const StatePtr& older, const ScanResult& found,
                    const CopyTarget& target, absl::FunctionRef<bool(int64_t)> progress) {
  if (known == nullptr) return std::nullopt;
  absl::StatusOr<KnownState> scanned = StateOfScan(*known, found);
  if (!scanned.ok()) return std::nullopt;
  scanned->older = older;
  return Save(*std::move(scanned), target, progress);
}

}  // namespace

}  // namespace frame

absl::StatusOr<SalvageReport> Salvage(const std::string& from, const std::string& to,
                                      const SalvageOptions& given) {
  const OpenOptions& options = given.open;
  const auto progress = [&](int64_t position) {
    return given.progress == nullptr || given.progress(position);
  };
  const std::shared_ptr<FileSystem>& files = frame::FilesOrPosix(options.file_system);
  CAIRN_ASSIGN_OR_RETURN(const std::string target, files->Absolute(to));
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<File> file, frame::OpenDamaged(*files, from));
  if (files->Identity(target).ok()) {
    return absl::AlreadyExistsError(absl::StrFormat("%s exists", target));
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  if (options.offset < 0 || options.offset > size) {
    return AtPath(from, OutOfRange("offset %d is not in a file of %d bytes", options.offset, size));
  }
  CAIRN_ASSIGN_OR_RETURN(std::string source, files->Absolute(from));
  const std::shared_ptr<FileSystem> copies =
      frame::FilesForCopyOf({.files = files, .path = std::move(source)}, files);
  CAIRN_ASSIGN_OR_RETURN(const frame::FrameView view,
                         frame::FrameFile::OfFile(file, 0, options.use_mmap).View(size));
  CAIRN_ASSIGN_OR_RETURN(const std::optional<frame::HeaderAtStart> header,
                         frame::ReadHeader(view, options.offset));
  const frame::CopyTarget copy{.location = {.files = copies, .path = target}};
  const frame::StatePtr state = frame::FindState(file, from, header, options);
  const bool is_whole = state != nullptr && frame::IsIndexWhole(*state);
  const auto env = std::make_shared<const frame::FrameContext>(options);
  frame::ChunkDetector detector(*env, header.has_value() ? &header->parsed : nullptr);
  const frame::FrameFile damaged = frame::FrameFile::OfFile(file, options.offset, options.use_mmap);
  const frame::StatePtr older = frame::FindOlder(damaged, header, state, options);
  if (is_whole) {
    if (auto report = frame::SaveIndexed(state, older, copy, detector, progress)) return *report;
  }
  if (state == nullptr && header.has_value()) {
    if (auto report = frame::SaveOlder(damaged, *header, copy, detector, options, progress)) {
      return *report;
    }
  }
  CAIRN_ASSIGN_OR_RETURN(std::vector<Extent> parts,
                         frame::KnownParts(view, options.offset, header));
  frame::ChunkScanner scanner(view, detector, std::move(parts));
  CAIRN_ASSIGN_OR_RETURN(frame::ScanResult found, scanner.Run(options.offset, progress));
  if (state != nullptr && !is_whole) {
    const absl::StatusOr<frame::StatePtr> mended = frame::MendIndex(*state, found.chunks);
    if (mended.ok()) {
      if (auto report = frame::SaveIndexed(*mended, older, copy, detector, progress))
        return *report;
    }
  }
  const frame::StatePtr known = frame::MetadataOf(damaged, state, header, env);
  std::optional<int64_t> chunks_begin;
  if (known != nullptr) chunks_begin = options.offset + known->header().header_len;
  CAIRN_RETURN_IF_ERROR(frame::DropIndexes(view, detector, chunks_begin, found));
  frame::LoseMissing(header, options.offset, size, found);
  if (auto report = frame::SaveScanned(known, older, found, copy, progress)) return *report;
  absl::StatusOr<SalvageReport> report =
      frame::SalvageByScan(std::move(found), known, view, detector, *env, target, copies, progress);
  if (absl::IsNotFound(report.status())) return AtPath(from, report.status());
  return report;
}

}  // namespace cairn

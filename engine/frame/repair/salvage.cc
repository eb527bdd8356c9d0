#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/encoder.h"
#include "engine/codec/codec_set.h"
#include "engine/format/frame_header.h"
#include "engine/format/index_entry.h"
#include "engine/frame/files/copy_files.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/open/trailer_scanner.h"
#include "engine/frame/repair/chunk_list.h"
#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/repair/index_mender.h"
#include "engine/frame/repair/indexed_salvage.h"
#include "engine/frame/repair/stranded_chunks.h"
#include "engine/frame/state/initial_state.h"

namespace cairn {

namespace frame {

namespace {

absl::StatusOr<std::unique_ptr<File>> OpenDamaged(FileSystem* files, const std::string& path) {
  if (files->OpenDirectory(path).ok()) {
    return InvalidArgument("%s is a directory: its files are salvaged one by one", path);
  }
  return files->Open(path, FileMode::kRead);
}

// The header at the start of the frame, if it can be read.
absl::StatusOr<std::optional<format::FrameHeader>> ReadHeader(const FrameView& file,
                                                              int64_t offset) {
  ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(const Bytes fixed,
                         ReadUpTo(file, offset, format::kFixedHeaderSize, scratch));
  const absl::StatusOr<int64_t> size = format::ParseHeaderLength(fixed);
  if (!size.ok() || *size > file.size() - offset) return std::nullopt;
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file.Read(offset, *size, scratch));
  absl::StatusOr<format::FrameHeader> header = format::ParseFrameHeader(bytes);
  if (!header.ok()) return std::nullopt;
  return *std::move(header);
}

// Header and trailers, by their begin.
absl::StatusOr<std::vector<Extent>> KnownParts(const FrameView& file, int64_t offset,
                                               const std::optional<format::FrameHeader>& header) {
  std::vector<Extent> known;
  ScanBudget budget(file.size(), kMaxTrailerOverlaps);
  CAIRN_RETURN_IF_ERROR(ForEachTrailer(
      file, budget, [&](const TrailerBytes& trailer) { known.push_back(trailer.place); }));
  if (header.has_value()) known.push_back({.begin = offset, .end = offset + header->header_len});
  std::ranges::sort(known, {}, &Extent::begin);
  return known;
}

// Sorted, and joined where they touch and have one reason.
std::vector<LostBytes> Merged(std::vector<LostBytes> lost) {
  std::ranges::sort(lost, {}, &LostBytes::begin);
  std::vector<LostBytes> merged;
  for (LostBytes& range : lost) {
    if (!merged.empty() && merged.back().end == range.begin &&
        merged.back().reason == range.reason) {
      merged.back().end = range.end;
    } else {
      merged.push_back(std::move(range));
    }
  }
  return merged;
}

// What all chunks of a frame have in common.
struct Kind {
  int32_t typesize = 0;  // as in their headers
  bool vlblocks = false;
  auto operator<=>(const Kind&) const = default;
};

Kind KindOf(const chunk::Header& header) { return {header.typesize, header.vlblocks}; }

// That of the frame's header if any chunk is of it; else that of most chunks, the first on a tie.
Kind ChooseKind(const std::vector<FoundChunk>& chunks, int32_t frame_typesize) {
  std::map<Kind, int64_t> counts;
  for (const FoundChunk& chunk : chunks) ++counts[KindOf(chunk.header)];
  const auto rank = [&](const FoundChunk& found) {
    const Kind kind = KindOf(found.header);
    return std::pair(kind.typesize == chunk::HeaderTypesize(frame_typesize), counts[kind]);
  };
  const auto best = std::ranges::max_element(chunks, {}, rank);
  return best == chunks.end() ? Kind{} : KindOf(best->header);
}

// The new frame has one dimension, where the filters of arrays do not work.
bool IsOfArrays(const FilterStage& stage) {
  return stage.filter == Filter::kNdCell || stage.filter == Filter::kNdMean;
}

CompressionOptions CompressionOf(const chunk::Header& chunk) {
  format::FrameHeader header;
  header.codec = chunk::CodecOf(chunk).value_or(header.codec);
  header.codec_meta = chunk.codec_meta;
  header.filters = chunk.filters;
  header.use_dict = chunk.has_dict;
  return frame::CompressionOf(header);
}

// What becomes of what a scan found.
struct NewFrame {
  ScanResult content;  // what does not fit into one frame is lost
  CompressionOptions compression;
  bool complete_items = true;  // no chunk ends within an item
};

// That of the frame's header, or else of the first chunk that was compressed at all.
CompressionOptions ChooseCompression(const std::vector<FoundChunk>& chunks, int32_t typesize,
                                     const std::optional<format::FrameHeader>& header,
                                     const FrameContext& env) {
  std::vector<CompressionOptions> choices(1);
  const auto coded =
      std::ranges::find_if(chunks, [](const auto& chunk) { return chunk.header.has_blocks(); });
  if (coded != chunks.end()) choices.push_back(CompressionOf(coded->header));
  if (header.has_value()) choices.push_back(frame::CompressionOf(*header));
  for (;; choices.pop_back()) {
    CompressionOptions& choice = choices.back();
    std::erase_if(choice.filters, IsOfArrays);
    choice.typesize = typesize;
    choice.registry = env.registry;
    choice.executor = env.executor;
    if (choices.size() == 1 || chunk::Encoder::Make(choice, &env.pool).ok()) return choice;
  }
}

bool NeedsDecoding(const chunk::Header& header, const NewFrame& made) {
  if (header.special == SpecialValue::kRepeat) {
    return header.cbytes - header.size() != made.compression.typesize;
  }
  if (header.special != SpecialValue::kNone) return !made.complete_items;
  if (!header.extended || header.version < chunk::kVersion) return true;
  return header.has_blocks() &&
         (codec::IsOfArrays(chunk::CodecOf(header).value_or(Codec::kBloscLz)) ||
          std::ranges::any_of(header.filters, IsOfArrays));
}

// Why a chunk cannot stand in a frame of this kind; empty if it can.
std::string Misfit(const chunk::Header& header, const Kind& kind, const NewFrame& made) {
  const auto describe = [](const Kind& one) {
    return absl::StrFormat("typesize %d%s", one.typesize,
                           one.vlblocks ? " and variable blocks" : "");
  };
  if (KindOf(header) != kind) {
    return absl::StrFormat("of %s, among chunks of %s", describe(KindOf(header)), describe(kind));
  }
  if (!NeedsDecoding(header, made)) return "";
  return std::string(CheckMemory(header.nbytes, header.cbytes).message());
}

// Takes what fits into one frame: chunks of one typesize, all with variable blocks or none, that
// need no more memory than their size justifies.
NewFrame Choose(ScanResult found, const std::optional<format::FrameHeader>& header,
                const FrameContext& env) {
  NewFrame made;
  std::vector<LostBytes>& lost = found.lost;
  // A header may claim a typesize that no frame has.
  const bool believed = header.has_value() && header->typesize <= chunk::kMaxBlockSize;
  const int32_t frame_typesize = believed ? header->typesize : 0;
  const Kind kind = ChooseKind(found.chunks, frame_typesize);
  if (kind.vlblocks && !found.pending.empty()) {
    lost.push_back(
        {.begin = found.pending_record.begin,
         .end = found.pending_record.end,
         .reason = absl::StrFormat("journal: %d bytes of items, among chunks of variable blocks",
                                   found.pending.size())});
    found.pending.clear();
  }
  const bool agree = found.chunks.empty() || kind.typesize == chunk::HeaderTypesize(frame_typesize);
  const int32_t typesize = agree ? std::max(frame_typesize, 1) : kind.typesize;
  made.compression.typesize = typesize;
  made.complete_items = std::ranges::all_of(found.chunks, [&](const FoundChunk& chunk) {
    return KindOf(chunk.header) != kind || chunk.header.nbytes % typesize == 0;
  });
  std::erase_if(found.chunks, [&](const FoundChunk& chunk) {
    const std::string misfit = Misfit(chunk.header, kind, made);
    if (misfit.empty()) return false;
    lost.push_back(
        {.begin = chunk.begin,
         .end = chunk.end(),
         .reason = absl::StrFormat("chunk of %d bytes: %s", chunk.header.cbytes, misfit)});
    return true;
  });
  made.compression = ChooseCompression(found.chunks, typesize, header, env);
  made.content = std::move(found);
  return made;
}

// Chunks are of one size if all but the last are; else they vary.
int32_t ChunksizeOf(const NewFrame& made) {
  const std::vector<FoundChunk>& chunks = made.content.chunks;
  if (chunks.empty()) return CreateOptions::kVariableChunks;
  const int32_t first = chunks.front().header.nbytes;
  const bool same = std::all_of(chunks.begin(), chunks.end() - 1, [&](const FoundChunk& chunk) {
    return chunk.header.nbytes == first;
  });
  const bool fixed =
      same && chunks.back().header.nbytes <= first && first % made.compression.typesize == 0;
  return fixed ? first : CreateOptions::kVariableChunks;
}

absl::Status Append(const FoundChunk& chunk, Bytes bytes, const NewFrame& made,
                    const ChunkDetector& detector, Writer& writer) {
  const chunk::Header& header = chunk.header;
  if (NeedsDecoding(header, made)) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> items, detector.Decode(bytes));
    return writer.Append(items);
  }
  if (format::IsIndexSpecial(header.special)) {
    return writer.AppendSpecial(header.special, header.nbytes / made.compression.typesize);
  }
  return writer.AppendCompressed(bytes);
}

// kCancelled when `progress`, which gets where the next chunk begins, says stop.
absl::StatusOr<SalvageReport> Write(NewFrame made, const FrameView& file,
                                    const ChunkDetector& detector, const std::string& path,
                                    FileSystem* files, absl::FunctionRef<bool(int64_t)> progress) {
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::Build(path, {.compression = made.compression,
                                                            .chunksize = ChunksizeOf(made),
                                                            .file_system = files}));
  ScratchBuffer scratch;
  for (const FoundChunk& chunk : made.content.chunks) {
    if (!progress(chunk.begin)) return absl::CancelledError("salvage: stopped");
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file.Read(chunk.begin, chunk.header.cbytes, scratch));
    CAIRN_RETURN_IF_ERROR(Append(chunk, bytes, made, detector, writer));
  }
  if (!made.content.pending.empty()) CAIRN_RETURN_IF_ERROR(writer.Append(made.content.pending));
  CAIRN_ASSIGN_OR_RETURN(const Snapshot staged, writer.StagedSnapshot());
  SalvageReport report = {.chunks = staged.info().nchunks,
                          .nbytes = staged.info().nbytes,
                          .lost = Merged(std::move(made.content.lost)),
                          .holes = {},
                          .unproven = {},
                          .unproven_metalayers = {},
                          .metadata_lost = true};
  // Nothing says that these bytes are what was written.
  report.unproven.resize(static_cast<size_t>(report.chunks));
  std::iota(report.unproven.begin(), report.unproven.end(), int64_t{0});
  CAIRN_RETURN_IF_ERROR(
      writer.SetVlmetalayer(kUnprovenLayer, EncodeText(ChunkList(report.unproven))));
  CAIRN_RETURN_IF_ERROR(writer.Close());
  return report;
}

// Whether a header that is damaged in its frame_size alone led to this trailer.
bool LeadTo(const FoundTrailer& trailer, const FrameFile& source) {
  std::vector<std::byte> header(trailer.seal.header_copy.size());
  constexpr auto kEnd = static_cast<size_t>(format::kFrameSizeOffset) + sizeof(int64_t);
  if (header.size() < kEnd || !source.ReadAt(0, header).ok()) return false;
  std::copy_n(trailer.seal.header_copy.begin() + format::kFrameSizeOffset, sizeof(int64_t),
              header.begin() + format::kFrameSizeOffset);
  return header == trailer.seal.header_copy;
}

// The state that a header leads to which is not that of the file; null unless it shows all commits.
StatePtr LoadBy(const FrameFile& source, std::vector<std::byte> header,
                const OpenOptions& options) {
  std::vector<uint64_t> other_bases;
  const absl::StatusOr<StatePtr> state =
      LoadFrom(source, std::move(header), std::make_shared<const FrameContext>(options), nullptr,
               other_bases);
  if (!state.ok() || !other_bases.empty() || (*state)->damage) return nullptr;
  return HasIndex(**state) ? *state : nullptr;
}

// As if the frame ended with the file: only the size that its header says is damaged.
StatePtr LoadToEnd(const FrameFile& source, const format::FrameHeader& header,
                   const OpenOptions& options) {
  const absl::StatusOr<int64_t> size = source.Size();
  std::vector<std::byte> bytes(static_cast<size_t>(header.header_len));
  if (!size.ok() || !source.ReadAt(0, bytes).ok()) return nullptr;
  StoreBe(bytes.data() + format::kFrameSizeOffset, static_cast<uint64_t>(*size));
  StatePtr state = LoadBy(source, std::move(bytes), options);
  if (state == nullptr) return nullptr;
  const Checkpoint& checkpoint = *state->checkpoint;
  const bool fits =
      checkpoint.index.size() == 0 || checkpoint.index.end == checkpoint.trailer.begin;
  return fits ? state : nullptr;
}

// The newest state of a frame that can be opened, with its own header or the copy of it in its
// trailer; null where there is none.
StatePtr FindState(const std::shared_ptr<File>& file, const std::string& path,
                   const std::optional<format::FrameHeader>& header, const OpenOptions& options) {
  const absl::StatusOr<std::shared_ptr<FrameCore>> core = FrameCore::Open(path, options);
  const StatePtr newest = core.ok() ? (*core)->newest() : nullptr;
  // The header may be older than what follows it.
  const bool is_old = newest != nullptr && newest->damage && newest->damage->newer;
  if (newest != nullptr && !is_old) return HasIndex(*newest) ? newest : nullptr;
  const FrameFile source = FrameFile::OfFile(file, options.offset, options.use_mmap);
  absl::StatusOr<FoundTrailer> trailer = FindNewestTrailer(source);
  if (!trailer.ok()) return header.has_value() ? LoadToEnd(source, *header, options) : nullptr;
  // A newer checkpoint may have lost its trailer.
  const bool is_newest = is_old ? newest->damage->newer->frame_size == trailer->end
                                : !header.has_value() || header->frame_size == trailer->end ||
                                      LeadTo(*trailer, source);
  return is_newest ? LoadBy(source, std::move(trailer->seal.header_copy), options) : nullptr;
}

// Empty where the state is of no use: it leads to no chunk, or to some of which nothing is known.
std::optional<absl::StatusOr<SalvageReport>> SaveState(const StatePtr& state,
                                                       const CopyTarget& target,
                                                       ChunkDetector& detector,
                                                       absl::FunctionRef<bool(int64_t)> progress) {
  absl::StatusOr<KnownState> known = KnownState{.state = state, .lost = {}};
  if (state->damage.has_value()) known = AddStranded(state, detector, progress);
  if (!known.ok()) return known.status();
  absl::StatusOr<SalvageReport> report = SalvageByIndex(*std::move(known), target, progress);
  // A sealed index is right, even where each chunk is damaged: what else is in the file is dead.
  const bool sealed = state->checkpoint->sealed;
  const bool useless = (absl::IsNotFound(report.status()) && !sealed) ||
                       absl::IsDataLoss(report.status()) ||
                       absl::IsResourceExhausted(report.status());
  if (useless) return std::nullopt;
  return report;
}

}  // namespace

}  // namespace frame

absl::StatusOr<SalvageReport> Salvage(const std::string& from, const std::string& to,
                                      const OpenOptions& options,
                                      absl::FunctionRef<bool(int64_t)> progress) {
  FileSystem* files = options.file_system != nullptr ? options.file_system : PosixFileSystem();
  CAIRN_ASSIGN_OR_RETURN(const std::string target, files->Absolute(to));
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<File> file, frame::OpenDamaged(files, from));
  if (files->Identity(target).ok()) {
    return absl::AlreadyExistsError(absl::StrFormat("%s exists", target));
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  if (options.offset < 0 || options.offset > size) {
    return AtPath(from, OutOfRange("offset %d is not in a file of %d bytes", options.offset, size));
  }
  CAIRN_ASSIGN_OR_RETURN(std::string source, files->Absolute(from));
  const std::shared_ptr<FileSystem> copies = frame::FilesForCopyOf(
      {.files = frame::FilesOrPosix(files), .path = std::move(source)}, frame::FilesOrPosix(files));
  CAIRN_ASSIGN_OR_RETURN(const frame::FrameView view,
                         frame::FrameFile::OfFile(file, 0, options.use_mmap).View(size));
  CAIRN_ASSIGN_OR_RETURN(const std::optional<format::FrameHeader> header,
                         frame::ReadHeader(view, options.offset));
  const frame::CopyTarget copy{.location = {.files = copies, .path = target}};
  const frame::StatePtr state = frame::FindState(file, from, header, options);
  const bool is_whole = state != nullptr && frame::IsIndexWhole(*state);
  const auto env = std::make_shared<const frame::FrameContext>(options);
  frame::ChunkDetector detector(*env, header);
  if (is_whole) {
    if (auto report = frame::SaveState(state, copy, detector, progress)) return *std::move(report);
  }
  CAIRN_ASSIGN_OR_RETURN(std::vector<Extent> known,
                         frame::KnownParts(view, options.offset, header));
  frame::ChunkScanner scanner(view, detector, std::move(known));
  CAIRN_ASSIGN_OR_RETURN(frame::ScanResult found, scanner.Run(options.offset, progress));
  if (state != nullptr && !is_whole) {
    const absl::StatusOr<frame::StatePtr> mended = frame::MendIndex(*state, found.chunks);
    if (mended.ok()) {
      if (auto report = frame::SaveState(*mended, copy, detector, progress)) {
        return *std::move(report);
      }
    }
  }
  std::optional<int64_t> chunks_begin;
  if (header.has_value()) chunks_begin = options.offset + header->header_len;
  CAIRN_RETURN_IF_ERROR(frame::DropIndexes(view, detector, chunks_begin, found.chunks));
  frame::NewFrame made = frame::Choose(std::move(found), header, *env);
  if (made.content.chunks.empty() && made.content.pending.empty()) {
    return AtPath(from, NotFound("no complete chunk in %d bytes", size));
  }
  return frame::Write(std::move(made), view, detector, target, copies.get(), progress);
}

}  // namespace cairn

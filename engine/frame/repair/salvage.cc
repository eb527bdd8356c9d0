#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/encoder.h"
#include "engine/format/frame_header.h"
#include "engine/format/index_entry.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/repair/trailer_scanner.h"
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

// Writes a new frame of the chunks that a scan found.
class SalvageWriter {
 public:
  SalvageWriter(const FrameView& file, const ChunkDetector& detector, const FrameContext& env)
      : file_(file), detector_(detector), env_(env) {}

  // Takes what fits into one frame: chunks of one typesize, all with variable blocks or none, that
  // need no more memory than their size justifies. Reports the rest as lost.
  void Choose(ScanResult found, const std::optional<format::FrameHeader>& header);

  bool empty() const { return chunks_.empty() && pending_.empty(); }

  // Chunks are of one size if all but the last are; else they vary. kCancelled when `progress`,
  // which gets where the next chunk begins, says stop.
  absl::StatusOr<SalvageReport> Write(const std::string& path, FileSystem* files,
                                      absl::FunctionRef<bool(int64_t)> progress);

 private:
  std::string Misfit(const chunk::Header& header, const Kind& kind) const;
  bool NeedsDecoding(const chunk::Header& header) const;
  void SetCompression(const std::optional<format::FrameHeader>& header);
  int32_t Chunksize() const;
  absl::Status Append(const FoundChunk& chunk, Writer& writer);

  const FrameView& file_;
  const ChunkDetector& detector_;
  const FrameContext& env_;
  std::vector<FoundChunk> chunks_;
  std::vector<std::byte> pending_;
  std::vector<LostBytes> lost_;
  CompressionOptions compression_;
  bool complete_items_ = true;  // no chunk ends within an item
  ScratchBuffer scratch_;
};

// That of the frame's header, or else of the first chunk that was compressed at all.
void SalvageWriter::SetCompression(const std::optional<format::FrameHeader>& header) {
  std::vector<CompressionOptions> choices;
  if (header.has_value()) choices.push_back(frame::CompressionOf(*header));
  const auto coded =
      std::ranges::find_if(chunks_, [](const auto& chunk) { return chunk.header.has_blocks(); });
  if (coded != chunks_.end()) choices.push_back(CompressionOf(coded->header));
  choices.emplace_back();
  for (CompressionOptions& choice : choices) {
    std::erase_if(choice.filters, IsOfArrays);
    choice.typesize = compression_.typesize;
    choice.registry = env_.registry;
    choice.executor = env_.executor;
    compression_ = std::move(choice);
    if (chunk::Encoder::Make(compression_, &env_.pool).ok()) return;
  }
}

bool SalvageWriter::NeedsDecoding(const chunk::Header& header) const {
  if (header.special == SpecialValue::kRepeat) {
    return header.cbytes - header.size() != compression_.typesize;
  }
  if (header.special != SpecialValue::kNone) return !complete_items_;
  if (!header.extended || header.version < chunk::kVersion) return true;
  return header.has_blocks() && std::ranges::any_of(header.filters, IsOfArrays);
}

// Why a chunk cannot stand in a frame of this kind; empty if it can.
std::string SalvageWriter::Misfit(const chunk::Header& header, const Kind& kind) const {
  const auto describe = [](const Kind& one) {
    return absl::StrFormat("typesize %d%s", one.typesize,
                           one.vlblocks ? " and variable blocks" : "");
  };
  if (KindOf(header) != kind) {
    return absl::StrFormat("of %s, among chunks of %s", describe(KindOf(header)), describe(kind));
  }
  if (!NeedsDecoding(header)) return "";
  return std::string(CheckMemory(header.nbytes, header.cbytes).message());
}

void SalvageWriter::Choose(ScanResult found, const std::optional<format::FrameHeader>& header) {
  lost_ = std::move(found.lost);
  pending_ = std::move(found.pending);
  // A header may claim a typesize that no frame has.
  const bool believed = header.has_value() && header->typesize <= chunk::kMaxBlockSize;
  const int32_t frame_typesize = believed ? header->typesize : 0;
  const Kind kind = ChooseKind(found.chunks, frame_typesize);
  if (kind.vlblocks && !pending_.empty()) {
    lost_.push_back(
        {.begin = found.pending_record.begin,
         .end = found.pending_record.end,
         .reason = absl::StrFormat("journal: %d bytes of items, among chunks of variable blocks",
                                   pending_.size())});
    pending_.clear();
  }
  const bool agree = found.chunks.empty() || kind.typesize == chunk::HeaderTypesize(frame_typesize);
  compression_.typesize = agree ? std::max(frame_typesize, 1) : kind.typesize;
  complete_items_ = std::ranges::all_of(found.chunks, [&](const FoundChunk& chunk) {
    return KindOf(chunk.header) != kind || chunk.header.nbytes % compression_.typesize == 0;
  });
  for (const FoundChunk& chunk : found.chunks) {
    if (const std::string misfit = Misfit(chunk.header, kind); !misfit.empty()) {
      lost_.push_back(
          {.begin = chunk.begin,
           .end = chunk.end(),
           .reason = absl::StrFormat("chunk of %d bytes: %s", chunk.header.cbytes, misfit)});
    } else {
      chunks_.push_back(chunk);
    }
  }
  SetCompression(header);
}

int32_t SalvageWriter::Chunksize() const {
  if (chunks_.empty()) return CreateOptions::kVariableChunks;
  const int32_t first = chunks_.front().header.nbytes;
  const bool same = std::all_of(chunks_.begin(), chunks_.end() - 1, [&](const FoundChunk& chunk) {
    return chunk.header.nbytes == first;
  });
  const bool fixed =
      same && chunks_.back().header.nbytes <= first && first % compression_.typesize == 0;
  return fixed ? first : CreateOptions::kVariableChunks;
}

absl::Status SalvageWriter::Append(const FoundChunk& chunk, Writer& writer) {
  const chunk::Header& header = chunk.header;
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file_.Read(chunk.begin, header.cbytes, scratch_));
  if (NeedsDecoding(header)) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> items, detector_.Decode(bytes));
    return writer.Append(items);
  }
  if (format::IsIndexSpecial(header.special)) {
    return writer.AppendSpecial(header.special, header.nbytes / compression_.typesize);
  }
  return writer.AppendCompressed(bytes);
}

absl::StatusOr<SalvageReport> SalvageWriter::Write(const std::string& path, FileSystem* files,
                                                   absl::FunctionRef<bool(int64_t)> progress) {
  CreateOptions options;
  options.compression = compression_;
  options.chunksize = Chunksize();
  options.file_system = files;
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::Build(path, options));
  for (const FoundChunk& chunk : chunks_) {
    if (!progress(chunk.begin)) return absl::CancelledError("salvage: stopped");
    CAIRN_RETURN_IF_ERROR(Append(chunk, writer));
  }
  if (!pending_.empty()) CAIRN_RETURN_IF_ERROR(writer.Append(pending_));
  CAIRN_ASSIGN_OR_RETURN(const Snapshot staged, writer.StagedSnapshot());
  CAIRN_RETURN_IF_ERROR(writer.Close());
  return SalvageReport{.chunks = staged.info().nchunks,
                       .nbytes = staged.info().nbytes,
                       .lost = Merged(std::move(lost_))};
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
    return OutOfRange("%s: offset %d is not in a file of %d bytes", from, options.offset, size);
  }
  CAIRN_ASSIGN_OR_RETURN(const frame::FrameView view,
                         frame::FrameFile::OfFile(file, 0, options.use_mmap).View(size));
  const std::shared_ptr<const frame::FrameContext> env = frame::MakeFrameContext(options);
  CAIRN_ASSIGN_OR_RETURN(const std::optional<format::FrameHeader> header,
                         frame::ReadHeader(view, options.offset));
  CAIRN_ASSIGN_OR_RETURN(std::vector<Extent> known,
                         frame::KnownParts(view, options.offset, header));
  frame::ChunkDetector detector(*env, header);
  frame::ChunkScanner scanner(view, detector, std::move(known));
  CAIRN_ASSIGN_OR_RETURN(frame::ScanResult found, scanner.Run(options.offset, progress));
  std::optional<int64_t> chunks_begin;
  if (header.has_value()) chunks_begin = options.offset + header->header_len;
  CAIRN_RETURN_IF_ERROR(frame::DropIndexes(view, detector, chunks_begin, found.chunks));
  frame::SalvageWriter writer(view, detector, *env);
  writer.Choose(std::move(found), header);
  if (writer.empty()) {
    return absl::NotFoundError(absl::StrFormat("%s: no complete chunk in %d bytes", from, size));
  }
  return writer.Write(target, files, progress);
}

}  // namespace cairn

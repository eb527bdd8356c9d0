#include "engine/frame/repair/salvage_writer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/encoder.h"
#include "engine/format/index_entry.h"
#include "engine/frame/state/initial_state.h"

namespace cairn::frame {

namespace {

using Kind = SalvageWriter::Kind;

Kind KindOf(const chunk::Header& header) { return {header.typesize, header.vlblocks}; }

// That of the frame's header if any chunk is of it; else that of most chunks, the first on a tie.
Kind ChooseKind(const std::vector<FoundChunk>& chunks, int32_t frame_typesize) {
  std::map<Kind, int64_t> counts;
  for (const FoundChunk& chunk : chunks) ++counts[KindOf(chunk.header)];
  const auto most = [&](auto&& may_be) {
    std::optional<Kind> best;
    for (const FoundChunk& chunk : chunks) {
      const Kind kind = KindOf(chunk.header);
      if (may_be(kind) && (!best.has_value() || counts[kind] > counts[*best])) best = kind;
    }
    return best;
  };
  if (const auto kind =
          most([&](Kind k) { return k.typesize == chunk::HeaderTypesize(frame_typesize); })) {
    return *kind;
  }
  return most([](Kind) { return true; }).value_or(Kind{});
}

bool IsOfArrays(Filter filter) { return filter == Filter::kNdCell || filter == Filter::kNdMean; }

// The new frame has one dimension, where the filters of arrays do not work.
CompressionOptions WithoutArrays(CompressionOptions compression) {
  std::erase_if(compression.filters,
                [](const FilterStage& stage) { return IsOfArrays(stage.filter); });
  return compression;
}

CompressionOptions CompressionOf(const chunk::Header& chunk) {
  format::FrameHeader header;
  header.codec = chunk::CodecOf(chunk).value_or(header.codec);
  header.codec_meta = chunk.codec_meta;
  header.filters = chunk.filters;
  header.use_dict = chunk.has_dict;
  return frame::CompressionOf(header);
}

}  // namespace

bool SalvageWriter::CanEncode(const CompressionOptions& compression) const {
  return chunk::Encoder::Make(compression, &env_.pool).ok();
}

// That of the frame's header, or else of the first chunk that was compressed at all.
void SalvageWriter::SetCompression(const std::optional<format::FrameHeader>& header) {
  const int32_t typesize = compression_.typesize;
  std::vector<CompressionOptions> choices;
  if (header.has_value()) choices.push_back(frame::CompressionOf(*header));
  const auto coded =
      std::ranges::find_if(chunks_, [](const auto& chunk) { return chunk.header.has_blocks(); });
  if (coded != chunks_.end()) choices.push_back(CompressionOf(coded->header));
  choices.emplace_back();
  for (const CompressionOptions& choice : choices) {
    compression_ = WithoutArrays(choice);
    compression_.typesize = typesize;
    compression_.registry = env_.registry;
    compression_.executor = env_.executor;
    if (CanEncode(compression_)) return;
  }
}

bool SalvageWriter::NeedsDecoding(const chunk::Header& header) const {
  if (header.special == SpecialValue::kRepeat) {
    return header.cbytes - header.size() != compression_.typesize;
  }
  if (header.special != SpecialValue::kNone) return !complete_items_;
  if (!header.extended || header.version < chunk::kVersion) return true;
  return header.has_blocks() && std::ranges::any_of(header.filters, [](const FilterStage& stage) {
           return IsOfArrays(stage.filter);
         });
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
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file_.Read(chunk.begin, header.cbytes));
  if (NeedsDecoding(header)) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> items, detector_.Decode(bytes));
    return writer.Append(items);
  }
  if (format::IsIndexSpecial(header.special)) {
    return writer.AppendSpecial(header.special, header.nbytes / compression_.typesize);
  }
  return writer.AppendCompressed(bytes);
}

absl::StatusOr<FrameInfo> SalvageWriter::Write(const std::string& path, FileSystem* files,
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
  return staged.info();
}

}  // namespace cairn::frame

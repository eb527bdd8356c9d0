#include "engine/frame/repair/scanned_salvage.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/encoder.h"
#include "engine/codec/codec_set.h"
#include "engine/format/b2nd.h"
#include "engine/format/frame_header.h"
#include "engine/format/index_entry.h"
#include "engine/frame/repair/chunk_list.h"
#include "engine/frame/repair/lost_layers.h"
#include "engine/frame/repair/scanned_state.h"
#include "engine/frame/state/initial_state.h"

namespace cairn::frame {

namespace {

// Two properties that all chunks of a frame share.
struct Kind {
  int32_t typesize = 0;  // that of their headers
  bool vlblocks = false;
  auto operator<=>(const Kind&) const = default;
};

Kind KindOf(const chunk::Header& header) { return {header.typesize, header.vlblocks}; }

// Returns the kind of the frame's header if a chunk has it. Otherwise returns that of most chunks,
// the first on a tie.
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

// Returns true for the filters of arrays, which do not work in the new frame of one dimension.
bool IsOfArrays(const FilterStage& stage) { return NeedsBlockshape(stage.filter); }

CompressionOptions CompressionOf(const chunk::Header& chunk) {
  format::FrameHeader header;
  header.codec = chunk::CodecOf(chunk).value_or(header.codec);
  header.codec_meta = chunk::ParameterOf(chunk);
  header.filters = chunk.filters;
  header.use_dict = chunk.has_dict;
  return frame::CompressionOf(header);
}

// The frame that is made of the found chunks.
struct NewFrame {
  ScanResult content;  // chunks that do not fit into one frame are lost
  CompressionOptions compression;
  bool complete_items = true;  // no chunk ends within an item
};

// Returns the options of the frame's header, or else those of the first compressed chunk.
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

// Returns why a chunk cannot be in a frame of this kind, or nothing if it can.
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

// Takes the chunks that fit into one frame: chunks of one typesize, all with variable blocks or
// none, that need no more memory than their size justifies.
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

// Returns the size of the chunks if all but the last have one. Otherwise they vary.
ChunkSize ChunksizeOf(const NewFrame& made) {
  const std::vector<FoundChunk>& chunks = made.content.chunks;
  if (chunks.empty()) return ChunkSize::Variable();
  const int32_t first = chunks.front().header.nbytes;
  const bool same = std::all_of(chunks.begin(), chunks.end() - 1, [&](const FoundChunk& chunk) {
    return chunk.header.nbytes == first;
  });
  const bool fixed =
      same && chunks.back().header.nbytes <= first && first % made.compression.typesize == 0;
  return fixed ? first : ChunkSize::Variable();
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

// Takes the metalayer of an array out of `metadata`, because these are not its chunks, and notes
// that in `lost`.
void LoseArray(const State& state, int64_t nchunks, Metadata& metadata,
               std::vector<LostBytes>& lost) {
  const Metalayer* const layer = format::FindB2ndLayer(metadata.metalayers);
  if (layer == nullptr) return;
  std::string what = "an array";
  if (const std::optional<ArrayInfo>& array = metadata.array; array.has_value()) {
    what = absl::StrFormat("an array of shape (%s), dtype %s", absl::StrJoin(array->shape, ", "),
                           array->dtype);
  }
  const int64_t origin = state.checkpoint->source.origin();
  lost.push_back({.begin = origin,
                  .end = origin + state.header().header_len,
                  .reason = absl::StrFormat("metalayer %s: %s: the %d chunks that were found are "
                                            "not all of its chunks, or not in their order",
                                            layer->name, what, nchunks)});
  metadata.metalayers.erase(metadata.metalayers.begin() + (layer - metadata.metalayers.data()));
  DescribeData(metadata);
}

// Returns the metalayers of the new frame.
Metadata ChooseMetadata(const StatePtr& known, NewFrame& made) {
  if (known == nullptr) return {};
  Metadata metadata = *known->metadata;
  LoseArray(*known, std::ssize(made.content.chunks), metadata, made.content.lost);
  const Checkpoint& checkpoint = *known->checkpoint;
  const auto is_lost = [&](const absl::Status& status, Extent place) {
    if (status.ok()) return false;
    const int64_t origin = checkpoint.source.origin();
    made.content.lost.push_back({.begin = origin + place.begin,
                                 .end = origin + place.end,
                                 .reason = std::string(status.message())});
    return true;
  };
  // Damage may leave names that no frame can have.
  std::set<std::string> names;
  std::erase_if(metadata.metalayers, [&](const Metalayer& layer) {
    absl::Status status = format::CheckLayerName(layer.name);
    if (status.ok() && !names.insert(layer.name).second) {
      status = DataLoss("metalayer %s is there twice", layer.name);
    }
    return is_lost(status, {0, known->header().header_len});
  });
  std::erase_if(metadata.vlmetalayers, [&](const VlMetalayer& layer) {
    absl::Status status = format::CheckLayerName(layer.name);
    if (status.ok()) status = DecodeVlLayer(*known->env(), layer).status();
    return is_lost(status, checkpoint.trailer);
  });
  return metadata;
}

absl::Status WriteMetadata(const Metadata& metadata, const FrameContext& env, Writer& writer,
                           SalvageReport& report) {
  for (const Metalayer& layer : metadata.metalayers) {
    report.unproven_metalayers.push_back(layer.name);
  }
  for (const VlMetalayer& layer : metadata.vlmetalayers) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content, DecodeVlLayer(env, layer));
    CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(layer.name, content));
    report.unproven_metalayers.push_back(layer.name);
  }
  const auto put = [&](std::string_view name, const std::string& list) -> absl::Status {
    return list.empty() ? absl::OkStatus() : writer.SetVlmetalayer(name, EncodeText(list));
  };
  CAIRN_RETURN_IF_ERROR(put(kUnprovenLayer, ChunkList(report.unproven)));
  CAIRN_RETURN_IF_ERROR(
      put(kUnprovenMetalayersLayer, absl::StrJoin(report.unproven_metalayers, ", ")));
  return put(kLostMetalayersLayer, absl::StrJoin(report.lost_metalayers, ", "));
}

}  // namespace

absl::StatusOr<SalvageReport> SalvageByScan(ScanResult found, const StatePtr& known,
                                            const FrameView& file, const ChunkDetector& detector,
                                            const FrameContext& env, const std::string& path,
                                            const std::shared_ptr<FileSystem>& files,
                                            absl::FunctionRef<bool(int64_t)> progress) {
  std::optional<format::FrameHeader> header;
  if (known != nullptr) header = known->header();
  NewFrame made = Choose(std::move(found), header, env);
  if (made.content.chunks.empty() && made.content.pending.empty()) {
    return NotFound("no complete chunk in %d bytes", file.size());
  }
  Metadata metadata = ChooseMetadata(known, made);
  SavedLayers layers;
  if (known != nullptr) {
    // Layers of an older state may be about other chunks.
    const KnownState state = {.state = known, .is_scan = true, .misses_commits = true, .lost = {}};
    layers = CompleteLayers(state, std::move(metadata.vlmetalayers));
    metadata.vlmetalayers = std::move(layers.layers);
  }
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, {.compression = made.compression,
                                                                  .chunksize = ChunksizeOf(made),
                                                                  .metalayers = metadata.metalayers,
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
                          .lost = MergeLost(std::move(made.content.lost)),
                          .holes = {},
                          .unproven = {},
                          .unproven_metalayers = {},
                          .scanned = true,
                          .lost_metalayers = std::move(layers.lost),
                          .older_metalayers = {}};
  // Nothing proves that these bytes are unchanged.
  report.unproven.resize(static_cast<size_t>(report.chunks));
  std::iota(report.unproven.begin(), report.unproven.end(), int64_t{0});
  CAIRN_RETURN_IF_ERROR(WriteMetadata(metadata, env, writer, report));
  CAIRN_RETURN_IF_ERROR(writer.Close());
  return report;
}

}  // namespace cairn::frame

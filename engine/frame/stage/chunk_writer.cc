#include "engine/frame/stage/chunk_writer.h"

#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"

namespace cairn::frame {

namespace {

format::IndexedChunk InIndex(SpecialValue special, int64_t nbytes) {
  return {.entry = {.value = format::EntryOfSpecial(special)},
          .nbytes = static_cast<int32_t>(nbytes)};
}

}  // namespace

ChunkWriter::ChunkWriter(CompressionOptions compression, Rules rules,
                         std::shared_ptr<const FrameContext> env, ChunkSink& sink)
    : compression_(std::move(compression)), rules_(rules), env_(std::move(env)), sink_(sink) {}

absl::StatusOr<const chunk::Encoder*> ChunkWriter::GetEncoder() {
  if (!encoder_.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(encoder_, chunk::Encoder::Make(compression_, &env_->pool));
  }
  return &*encoder_;
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::Store(Bytes chunk, int64_t nbytes) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t entry, sink_.Append(chunk));
  return format::IndexedChunk{.entry = {.value = entry, .fingerprint = format::HashChunk(chunk)},
                              .nbytes = static_cast<int32_t>(nbytes),
                              .cbytes = static_cast<int32_t>(chunk.size())};
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::FromItems(Bytes items) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder* encoder, GetEncoder());
  const auto nbytes = static_cast<int64_t>(items.size());
  // Where the index can stand for zeros it does; other readers know it for whole items of chunks of
  // one size only.
  const bool may_be_special = rules_.fixed_chunks && nbytes % rules_.typesize == 0;
  const MutableBytes out = encoded_.Get(MaxCompressedSize(items.size()));
  CAIRN_ASSIGN_OR_RETURN(const size_t size,
                         encoder->Encode(items, out,
                                         may_be_special ? chunk::Encoder::Zeros::kSpecial
                                                        : chunk::Encoder::Zeros::kBlocks));
  const Bytes chunk = out.first(size);
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk));
  return header.special == SpecialValue::kNone ? Store(chunk, nbytes)
                                               : InIndex(header.special, nbytes);
}

absl::StatusOr<ImportedChunk> ChunkWriter::Prepare(Bytes chunk, const chunk::Header& header) const {
  ForeignContext context;
  context.typesize = rules_.typesize;
  context.fixed_chunks = rules_.fixed_chunks;
  context.registry = compression_.registry;
  context.pool = &env_->pool;
  return ImportChunk(chunk, header, context);
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::FromForeign(const ImportedChunk& foreign) {
  if (foreign.special != SpecialValue::kNone) return InIndex(foreign.special, foreign.nbytes);
  if (!foreign.items.empty()) return FromItems(foreign.items);
  return Store(foreign.stored, foreign.nbytes);
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::FromSpecial(SpecialValue special, int64_t nbytes,
                                                              Bytes value) {
  if (format::IsIndexSpecial(special) && rules_.fixed_chunks) return InIndex(special, nbytes);
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder* encoder, GetEncoder());
  // The index of a frame of variable chunks cannot hold values: there they are repeated items.
  std::vector<std::byte> item = ToVector(value);
  if (special != SpecialValue::kRepeat) {
    item.resize(static_cast<size_t>(rules_.typesize));
    CAIRN_RETURN_IF_ERROR(
        chunk::FillSpecial({.kind = special, .typesize = rules_.typesize, .value = {}}, 0, item));
  }
  CAIRN_ASSIGN_OR_RETURN(
      const std::vector<std::byte> chunk,
      encoder->EncodeSpecial(SpecialValue::kRepeat, static_cast<int32_t>(nbytes), item));
  return Store(chunk, nbytes);
}

}  // namespace cairn::frame

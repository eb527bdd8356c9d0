#include "engine/frame/stage/chunk_writer.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"

namespace cairn::frame {

namespace {

format::IndexedChunk InIndex(SpecialValue special, int64_t nbytes) {
  return {.entry = {.value = format::EntryOfSpecial(special)},
          .nbytes = static_cast<int32_t>(nbytes)};
}

// Returns true if some readers of frames do not take the chunk as it is, so it must be
// recompressed.
bool NeedsCoding(const chunk::Header& header, int32_t typesize) {
  if (!header.extended || header.version < chunk::kVersion) return true;
  if (header.special == SpecialValue::kRepeat) return header.cbytes - header.size() != typesize;
  return header.special != SpecialValue::kNone;
}

// Returns the options with changes that make a block of zeros take few bytes. For chunks that will
// get more items.
CompressionOptions ForPadding(CompressionOptions options) {
  if (options.codec > Codec::kZstd && !CodesNumbers(options.codec)) {
    options.codec = Codec::kLz4;
    options.codec_meta = 0;
  }
  options.clevel = std::max(options.clevel, 1);
  options.use_dict = false;
  std::erase_if(options.filters, [](const FilterStage& stage) {
    return stage.filter == Filter::kDelta || stage.filter > Filter::kIntTrunc;
  });
  return options;
}

}  // namespace

absl::StatusOr<const chunk::Encoder*> ChunkWriter::GetEncoder() {
  if (!encoder_.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(encoder_, chunk::Encoder::Make(compression_, &env_->pool));
  }
  return &*encoder_;
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::Store(Bytes chunk, int64_t nbytes) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t entry, sink_.Append(chunk));
  return format::IndexedChunk{.entry = {.value = entry,
                                        .fingerprint = format::HashChunk(chunk),
                                        .cbytes = static_cast<int32_t>(chunk.size())},
                              .nbytes = static_cast<int32_t>(nbytes)};
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::FromItems(Bytes items) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder* encoder, GetEncoder());
  return FromItems(items, *encoder);
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::FromPadded(Bytes items, int32_t padded_to) {
  const int64_t padding = padded_to - std::ssize(items);
  if (padding <= 0) return FromItems(items);
  std::vector<std::byte> padded(static_cast<size_t>(padded_to));
  CopyBytes(items, padded);
  // Padding of less than a block is compressed like items.
  if (padding < compression_.blocksize) return FromItems(padded);
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder encoder,
                         chunk::Encoder::Make(ForPadding(compression_), &env_->pool));
  return FromItems(padded, encoder);
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::FromItems(Bytes items,
                                                            const chunk::Encoder& encoder) {
  const auto nbytes = static_cast<int64_t>(items.size());
  // Zeros become a special value of the index, unless compression is off. Other readers know that
  // only for whole items, in a frame of fixed chunks.
  const bool may_be_special = fixed_chunks_ && nbytes % compression_.typesize == 0;
  if (may_be_special && compression_.clevel > 0 && IsRunOfZeros(items)) {
    return InIndex(SpecialValue::kZeros, nbytes);
  }
  const MutableBytes out = encoded_.Get(MaxCompressedSize(items.size()));
  CAIRN_ASSIGN_OR_RETURN(const size_t size,
                         encoder.Encode(items, out, chunk::Encoder::Zeros::kBlocks));
  return Store(out.first(size), nbytes);
}

absl::StatusOr<std::vector<std::byte>> ChunkWriter::Decode(Bytes chunk) const {
  const chunk::DecodeContext decoding = {.registry = compression_.registry.get(),
                                         .pool = &env_->pool,
                                         .frame_typesize = compression_.typesize,
                                         .blockshape = compression_.blockshape};
  chunk::Decoder decoder;
  CAIRN_RETURN_IF_ERROR(decoder.Open(chunk, decoding));
  std::vector<std::byte> items(static_cast<size_t>(decoder.nbytes()));
  CAIRN_RETURN_IF_ERROR(decoder.Decode(items));
  return items;
}

absl::StatusOr<ImportedChunk> ChunkWriter::Import(Bytes chunk, const chunk::Header& header) const {
  if (header.instrumented) {
    return InvalidArgument("instrumented chunks cannot be stored in a frame");
  }
  if (header.special == SpecialValue::kNans && header.typesize != 4 && header.typesize != 8) {
    return InvalidArgument("a chunk of NaNs needs a typesize of 4 or 8, got %d", header.typesize);
  }
  ImportedChunk imported;
  imported.nbytes = header.nbytes;
  const bool whole_items = header.nbytes % compression_.typesize == 0;
  // The index holds no typesize, on which only NaNs depend.
  const bool same_nans = header.special != SpecialValue::kNans ||
                         header.typesize == chunk::HeaderTypesize(compression_.typesize);
  const bool index_value =
      header.special != SpecialValue::kNone && header.special != SpecialValue::kRepeat && same_nans;
  if (index_value && fixed_chunks_ && whole_items) {
    imported.special = header.special;
  } else if (NeedsCoding(header, compression_.typesize)) {
    CAIRN_ASSIGN_OR_RETURN(imported.items, Decode(chunk));
  } else {
    // A new header leaves out fields that C-Blosc2 trips over: a dictionary bit on a plain copy, or
    // a block size that the blocks do not have.
    imported.stored = ToVector(chunk.first(static_cast<size_t>(header.cbytes)));
    chunk::Header clean = header;
    clean.version = header.vlblocks ? chunk::kVersionVlBlocks : chunk::kVersion;
    chunk::StoreHeader(clean, imported.stored);
  }
  return imported;
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::FromImported(const ImportedChunk& imported) {
  if (imported.special != SpecialValue::kNone) return InIndex(imported.special, imported.nbytes);
  if (!imported.items.empty()) return FromItems(imported.items);
  return Store(imported.stored, imported.nbytes);
}

absl::StatusOr<format::IndexedChunk> ChunkWriter::FromSpecial(SpecialValue special, int64_t nbytes,
                                                              Bytes value) {
  if (format::IsIndexSpecial(special) && fixed_chunks_) return InIndex(special, nbytes);
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder* encoder, GetEncoder());
  // The index of a frame of variable chunks cannot hold values, so the chunk repeats an item.
  std::vector<std::byte> item = ToVector(value);
  if (special != SpecialValue::kRepeat) {
    item.resize(static_cast<size_t>(compression_.typesize));
    CAIRN_RETURN_IF_ERROR(chunk::FillSpecial(
        {.kind = special, .typesize = compression_.typesize, .value = {}}, 0, item));
  }
  CAIRN_ASSIGN_OR_RETURN(
      const std::vector<std::byte> chunk,
      encoder->EncodeSpecial(SpecialValue::kRepeat, static_cast<int32_t>(nbytes), item));
  return Store(chunk, nbytes);
}

}  // namespace cairn::frame

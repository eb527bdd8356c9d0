#include "engine/frame/stage/chunk_import.h"

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/chunk/decoder.h"

namespace cairn::frame {

namespace {

absl::StatusOr<std::vector<std::byte>> Decode(Bytes chunk, const ForeignContext& context) {
  const chunk::DecodeContext decoding = {.registry = context.registry,
                                         .pool = context.pool,
                                         .frame_typesize = context.typesize,
                                         .blockshape = {}};
  chunk::Decoder decoder;
  CAIRN_RETURN_IF_ERROR(decoder.Open(chunk, decoding));
  std::vector<std::byte> items(static_cast<size_t>(decoder.nbytes()));
  CAIRN_RETURN_IF_ERROR(decoder.Decode(items));
  return items;
}

// Whether readers of frames cannot take the chunk as it is.
bool NeedsCoding(const chunk::Header& header, const ForeignContext& context) {
  if (!header.extended || header.version < chunk::kVersion) return true;
  switch (header.special) {
    case SpecialValue::kNone:
      return false;
    case SpecialValue::kRepeat:
      return header.cbytes - header.size() != context.typesize;
    default:
      return true;
  }
}

}  // namespace

absl::StatusOr<ImportedChunk> ImportChunk(Bytes chunk, const chunk::Header& header,
                                          const ForeignContext& context) {
  if (header.instrumented) {
    return InvalidArgument("instrumented chunks cannot be stored in a frame");
  }
  if (header.special == SpecialValue::kNans && header.typesize != 4 && header.typesize != 8) {
    return InvalidArgument("a chunk of NaNs needs a typesize of 4 or 8, got %d", header.typesize);
  }
  ImportedChunk foreign;
  foreign.nbytes = header.nbytes;
  const bool whole_items = header.nbytes % context.typesize == 0;
  const bool index_value =
      header.special != SpecialValue::kNone && header.special != SpecialValue::kRepeat;
  if (index_value && context.fixed_chunks && whole_items) {
    foreign.special = header.special;
  } else if (NeedsCoding(header, context)) {
    CAIRN_ASSIGN_OR_RETURN(foreign.items, Decode(chunk, context));
  } else {
    // Storing the header anew leaves out what C-Blosc2 trips over: a dictionary bit on a plain
    // copy, a block size that is not what the blocks were cut with.
    foreign.stored = ToVector(chunk.first(static_cast<size_t>(header.cbytes)));
    chunk::Header clean = header;
    clean.version = header.vlblocks ? chunk::kVersionVlBlocks : chunk::kVersion;
    chunk::StoreHeader(clean, foreign.stored);
  }
  return foreign;
}

}  // namespace cairn::frame

// Makes chunks of one value.
#include <algorithm>
#include <array>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/blosc2_api/chunks/coders.h"
#include "engine/blosc2_api/chunks/context.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/chunk/encode_options.h"

namespace cairn::blosc2_api {

namespace {

// Writes a chunk that repeats `value`, or stands for another special value if it is empty. Returns
// its size or an error code.
int MakeSpecial(const blosc2_cparams& cparams, int special, int32_t nbytes, Bytes value, void* dest,
                int32_t destsize) {
  const int32_t size = BLOSC_EXTENDED_HEADER_LENGTH + static_cast<int32_t>(value.size());
  if (dest == nullptr || destsize < size) {
    return Failed(BLOSC2_ERROR_DATA, "special chunk: too little room");
  }
  if (cparams.typesize <= 0 || nbytes < 0 || nbytes % cparams.typesize != 0) {
    return Failed(BLOSC2_ERROR_DATA, "special chunk: expected complete items");
  }
  blosc2_context* const context = blosc2_create_cctx(cparams);
  if (context == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "special chunk: the parameters are wrong");
  }
  const CompressionOptions options = OptionsOf(*context);
  const int checked = CheckCompression(context->cparams, nbytes, destsize, false);
  blosc2_free_ctx(context);
  if (checked < 0) return checked;
  const MutableBytes out = MutableBytesAt(dest, size);
  FillBytes(out, std::byte{0});
  out[BLOSC2_CHUNK_VERSION] = std::byte{BLOSC2_VERSION_FORMAT_STABLE};
  out[BLOSC2_CHUNK_VERSIONLZ] = std::byte{1};
  out[BLOSC2_CHUNK_FLAGS] = std::byte{BLOSC_DOSHUFFLE | BLOSC_DOBITSHUFFLE};
  out[BLOSC2_CHUNK_TYPESIZE] = std::byte{chunk::HeaderTypesize(options.typesize)};
  StoreLe(&out[BLOSC2_CHUNK_NBYTES], nbytes);
  StoreLe(&out[BLOSC2_CHUNK_BLOCKSIZE], chunk::ChooseBlockSize(options, nbytes));
  StoreLe(&out[BLOSC2_CHUNK_CBYTES], size);
  out[BLOSC2_CHUNK_BLOSC2_FLAGS] = static_cast<std::byte>(special << 4);
  CopyBytes(value, out.subspan(BLOSC_EXTENDED_HEADER_LENGTH));
  return size;
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::MakeSpecial;

int blosc2_chunk_zeros(blosc2_cparams cparams, int32_t nbytes, void* dest, int32_t destsize) {
  return MakeSpecial(cparams, BLOSC2_SPECIAL_ZERO, nbytes, {}, dest, destsize);
}

int blosc2_chunk_nans(blosc2_cparams cparams, int32_t nbytes, void* dest, int32_t destsize) {
  return MakeSpecial(cparams, BLOSC2_SPECIAL_NAN, nbytes, {}, dest, destsize);
}

int blosc2_chunk_uninit(blosc2_cparams cparams, int32_t nbytes, void* dest, int32_t destsize) {
  return MakeSpecial(cparams, BLOSC2_SPECIAL_UNINIT, nbytes, {}, dest, destsize);
}

int blosc2_chunk_repeatval(blosc2_cparams cparams, int32_t nbytes, void* dest, int32_t destsize,
                           const void* repeatval) {
  return MakeSpecial(cparams, BLOSC2_SPECIAL_VALUE, nbytes,
                     cairn::blosc2_api::BytesAt(repeatval, std::max(cparams.typesize, 0)), dest,
                     destsize);
}

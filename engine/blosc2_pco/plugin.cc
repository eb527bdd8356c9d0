// The codecs pco, bitpack and auto as a plug-in of C-Blosc2, which loads the library by its name
// and looks up `info`. All three are registered by the name pco, so they have the same two
// functions.
#include <blosc2.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include <blosc2/codecs-registry.h>

#include "cairn/registry.h"
#include "cairn/types.h"
#include "engine/codec/stream_codec.h"

namespace {

using cairn::Codec;
using cairn::codec::StreamCodec;

// Returns a codec of this thread, which keeps its memory from block to block.
StreamCodec& CodecOfThread(uint8_t id) {
  thread_local const std::unique_ptr<StreamCodec> pco = cairn::codec::MakePco();
  thread_local const std::unique_ptr<StreamCodec> bitpack = cairn::codec::MakeBitpack();
  thread_local const std::unique_ptr<StreamCodec> chooser = cairn::codec::MakeAuto();
  if (id == static_cast<uint8_t>(Codec::kBitpack)) return *bitpack;
  return id == static_cast<uint8_t>(Codec::kAuto) ? *chooser : *pco;
}

// Returns the id of the codec that a chunk names in its header.
uint8_t CodecIn(const void* chunk) {
  constexpr size_t kPlace = 0x16;
  return static_cast<const uint8_t*>(chunk)[kPlace];
}

cairn::Bytes BytesAt(const uint8_t* data, int32_t size) {
  return std::as_bytes(std::span(data, static_cast<size_t>(size)));
}

cairn::MutableBytes BytesAt(uint8_t* data, int32_t size) {
  return std::as_writable_bytes(std::span(data, static_cast<size_t>(size)));
}

char encoder_name[] = "blosc2_pco_encoder";  // not constant in C-Blosc2's struct
char decoder_name[] = "blosc2_pco_decoder";

}  // namespace

extern "C" {

// Names the two functions below.
CAIRN_EXPORT codec_info info = {.encoder = encoder_name, .decoder = decoder_name};

// Returns the size of the stream, 0 if the block does not become smaller, or an error of C-Blosc2.
CAIRN_EXPORT int blosc2_pco_encoder(const uint8_t* input, int32_t input_len, uint8_t* output,
                                    int32_t output_len, uint8_t meta, blosc2_cparams* cparams,
                                    const void* /*chunk*/) {
  const auto size =
      CodecOfThread(cparams->compcode)
          .Compress(BytesAt(input, input_len), BytesAt(output, output_len),
                    {.typesize = cparams->typesize, .clevel = cparams->clevel, .meta = meta});
  return size.ok() ? static_cast<int>(*size) : BLOSC2_ERROR_FAILURE;
}

// Returns the size of the block, or an error of C-Blosc2.
CAIRN_EXPORT int blosc2_pco_decoder(const uint8_t* input, int32_t input_len, uint8_t* output,
                                    int32_t output_len, uint8_t meta, blosc2_dparams* /*dparams*/,
                                    const void* chunk) {
  const absl::Status status =
      CodecOfThread(CodecIn(chunk))
          .Decompress(BytesAt(input, input_len), BytesAt(output, output_len), {.meta = meta});
  return status.ok() ? output_len : BLOSC2_ERROR_DATA;
}

}  // extern "C"

// The compiler tells where these are not what C-Blosc2 calls.
static_assert(std::is_same_v<decltype(&blosc2_pco_encoder), blosc2_codec_encoder_cb>);
static_assert(std::is_same_v<decltype(&blosc2_pco_decoder), blosc2_codec_decoder_cb>);

// Reads all of a super-chunk, as a program may.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/blosc2_api/random/player.h"

namespace cairn::blosc2_api {

namespace {

// No test makes chunks or arrays that are larger. Damaged frames say that theirs are.
constexpr int64_t kMostBytes = 1 << 20;
constexpr int64_t kMostChunks = 200;

void SayLayers(const Calls& calls, blosc2_schunk* schunk, Transcript& transcript) {
  for (int i = 0; i < schunk->nmetalayers; ++i) {
    const blosc2_metalayer& layer = *schunk->metalayers[i];
    transcript.SayBytes(absl::StrFormat("metalayer %s", layer.name).c_str(),
                        {layer.content, static_cast<size_t>(layer.content_len)});
  }
  for (int i = 0; i < schunk->nvlmetalayers; ++i) {
    const std::string name = schunk->vlmetalayers[i]->name;
    if (name.starts_with("cairn")) continue;  // of the seal
    uint8_t* content = nullptr;
    int32_t size = 0;
    const int code = calls.blosc2_vlmeta_get(schunk, name.c_str(), &content, &size);
    if (code < 0) {
      transcript.Say("vlmetalayer %s: error", name);
    } else {
      transcript.SayBytes(absl::StrFormat("vlmetalayer %s", name).c_str(),
                          {content, static_cast<size_t>(size)});
    }
    if (code >= 0) std::free(content);
  }
}

void SayChunk(const Calls& calls, blosc2_schunk* schunk, int64_t nchunk, Transcript& transcript) {
  uint8_t* chunk = nullptr;
  bool needs_free = false;
  const int size = calls.blosc2_schunk_get_lazychunk(schunk, nchunk, &chunk, &needs_free);
  if (size < 0) return transcript.Say("chunk %d: error", nchunk);
  int32_t nbytes = 0;
  calls.blosc2_cbuffer_sizes(chunk, &nbytes, nullptr, nullptr);
  if (needs_free) std::free(chunk);
  if (nbytes < 0 || nbytes > kMostBytes) return transcript.Say("chunk %d: large", nchunk);
  Buffer content(static_cast<size_t>(nbytes));
  const int code = calls.blosc2_schunk_decompress_chunk(schunk, nchunk, content.data(), nbytes);
  if (code < 0) return transcript.Say("chunk %d: error", nchunk);
  content.resize(static_cast<size_t>(code));
  transcript.SayBytes(absl::StrFormat("chunk %d", nchunk).c_str(), content);
}

void SayArray(const Calls& calls, blosc2_schunk* schunk, Transcript& transcript) {
  if (blosc2_meta_exists(schunk, "b2nd") < 0) return;
  b2nd_array_t* array = nullptr;
  const int code = calls.b2nd_from_schunk(schunk, &array);
  transcript.SayCode("from_schunk", code);
  if (code < 0) return;
  for (int i = 0; i < array->ndim; ++i) {
    transcript.Say("  %d %d %d", array->shape[i], array->chunkshape[i], array->blockshape[i]);
  }
  const int64_t chunk = array->extchunknitems * schunk->typesize;
  const int64_t size = array->nitems * schunk->typesize;
  if (array->nitems <= kMostBytes && size >= 0 && size <= kMostBytes && chunk <= kMostBytes) {
    Buffer items(static_cast<size_t>(size));
    const int read = calls.b2nd_to_cbuffer(array, items.data(), size);
    transcript.SayCode("to_cbuffer", read);
    if (read >= 0) transcript.SayBytes("  items of the array", items);
  }
  array->sc = nullptr;
  calls.b2nd_free(array);
}

}  // namespace

void SayContent(const Calls& calls, blosc2_schunk* schunk, Transcript& transcript) {
  transcript.Say("content: %d chunks, %d bytes, typesize %d", schunk->nchunks, schunk->nbytes,
                 schunk->typesize);
  SayLayers(calls, schunk, transcript);
  for (int64_t i = 0; i < std::min(schunk->nchunks, kMostChunks); ++i) {
    SayChunk(calls, schunk, i, transcript);
  }
  const int64_t nitems = schunk->typesize > 0 ? schunk->nbytes / schunk->typesize : 0;
  if (nitems > 0 && schunk->nbytes <= kMostBytes) {
    Buffer items(static_cast<size_t>(nitems * schunk->typesize));
    const int code = calls.blosc2_schunk_get_slice_buffer(schunk, 0, nitems, items.data());
    transcript.SayCode("get_slice_buffer", code);
    if (code >= 0) transcript.SayBytes("  items", items);
  }
  SayArray(calls, schunk, transcript);
}

}  // namespace cairn::blosc2_api

// Decodes chunks through a program's hook.
#ifndef CAIRN_ENGINE_CHUNK_HOOKED_DECODER_H_
#define CAIRN_ENGINE_CHUNK_HOOKED_DECODER_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/block_hook.h"
#include "cairn/types.h"
#include "engine/chunk/decoder.h"

namespace cairn::chunk {

// Decodes the blocks that have bytes of [begin, begin + dst.size()), and fills dst with what the
// hook makes of them. `decoder` was opened with `context`, and its chunk has no variable blocks.
// Errors: those of Decoder::DecodeRange, and those of the hook.
absl::Status DecodeThroughHook(const Decoder& decoder, const DecodeContext& context,
                               const BlockHook& hook, int64_t begin, MutableBytes dst);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_HOOKED_DECODER_H_

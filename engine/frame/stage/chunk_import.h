// What a chunk of another program becomes in a frame.
#ifndef CAIRN_ENGINE_FRAME_STAGE_CHUNK_IMPORT_H_
#define CAIRN_ENGINE_FRAME_STAGE_CHUNK_IMPORT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/registry.h"
#include "cairn/types.h"
#include "engine/chunk/header.h"
#include "engine/chunk/workspace.h"

namespace cairn::frame {

// One of three: a special value of the index, bytes to be stored, or items to be coded again.
struct ImportedChunk {
  int64_t nbytes = 0;  // decoded
  SpecialValue special = SpecialValue::kNone;
  std::vector<std::byte> stored;
  std::vector<std::byte> items;
};

struct ForeignContext {
  int32_t typesize = 1;       // of the frame
  bool fixed_chunks = false;  // the index may hold special values
  const Registry* registry = nullptr;
  chunk::WorkspacePool* pool = nullptr;
};

// Decides by what every reader of frames takes: chunks of version 5 and 6 with 32-byte headers,
// special values in the index alone. `header` is the chunk's, parsed.
absl::StatusOr<ImportedChunk> ImportChunk(Bytes chunk, const chunk::Header& header,
                                          const ForeignContext& context);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_CHUNK_IMPORT_H_

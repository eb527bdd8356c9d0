// The contents of the opaque handles of the C API.
#ifndef CAIRN_ENGINE_C_API_HANDLES_H_
#define CAIRN_ENGINE_C_API_HANDLES_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cairn/cairn.h"
#include "cairn/chunk.h"
#include "cairn/executor.h"
#include "cairn/file_system.h"
#include "cairn/frame.h"
#include "cairn/options.h"
#include "cairn/registry.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/base/lazy.h"

struct cairn_bytes {
  cairn::Chunk chunk;
};

struct cairn_executor {
  std::shared_ptr<cairn::Executor> executor;
};

struct cairn_registry {
  std::shared_ptr<cairn::Registry> registry = std::make_shared<cairn::Registry>();
};

struct cairn_compressor {
  cairn::ChunkCompressor compressor;
};

struct cairn_decompressor {
  cairn::ChunkDecompressor decompressor;
};

struct cairn_files {
  std::shared_ptr<cairn::FileSystem> files;
};

struct cairn_frame {
  cairn::Frame frame;
};

struct cairn_writer {
  cairn::Writer writer;
};

namespace cairn::c_api {

// The options of a snapshot in the form that C programs get. `metalayers` points into `options`.
struct SnapshotOptions {
  CreateOptions options = {};
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  std::vector<cairn_metalayer> metalayers = {};
};

}  // namespace cairn::c_api

struct cairn_snapshot {
  cairn::Snapshot snapshot;
  // C programs get pointers into these.
  mutable cairn::Lazy<std::vector<std::string>> vlmetalayers = {};
  mutable cairn::Lazy<cairn::c_api::SnapshotOptions> options = {};
};

namespace cairn::c_api {

inline Chunk OwnBytes(std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {*owner, owner};
}

// Gives the caller a handle, or frees it if the caller left `out` out.
template <typename Handle>
void GiveOrFree(Handle* handle, Handle** out) {
  if (out == nullptr) {
    delete handle;
  } else {
    *out = handle;
  }
}

}  // namespace cairn::c_api

#endif  // CAIRN_ENGINE_C_API_HANDLES_H_

// The contents of the opaque handles of the C API.
#ifndef CAIRN_ENGINE_C_API_HANDLES_H_
#define CAIRN_ENGINE_C_API_HANDLES_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cairn/cairn.h"
#include "cairn/chunk.h"
#include "cairn/collection.h"
#include "cairn/executor.h"
#include "cairn/file_system.h"
#include "cairn/frame.h"
#include "cairn/options.h"
#include "cairn/registry.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/base/lazy.h"
#include "engine/base/status.h"

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

struct cairn_collection {
  cairn::Collection collection;
};

struct cairn_collection_snapshot {
  cairn::CollectionSnapshot snapshot;
  // C programs get pointers into these.
  mutable cairn::Lazy<std::vector<std::string>> members = {};
  mutable cairn::Lazy<std::vector<std::string>> groups = {};
};

struct cairn_collection_writer {
  explicit cairn_collection_writer(cairn::CollectionWriter opened)
      : writer(std::make_shared<cairn::CollectionWriter>(std::move(opened))) {}

  std::shared_ptr<cairn::CollectionWriter> writer;  // nobody else keeps it
};

namespace cairn::c_api {

// A member of a collection that is edited: the one that has the name at the time of each call.
struct EditedMember {
  std::weak_ptr<CollectionWriter> writer;
  std::string name;
  bool is_group = false;  // the name is that of a group, and its attributes are edited
};

}  // namespace cairn::c_api

// The writer of a frame, or of a member of a collection.
struct cairn_writer {
  std::variant<cairn::Writer, cairn::c_api::EditedMember> writer;
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

// Runs edit(writer), where the writer is a Writer or a MemberWriter.
template <typename Edit>
auto EditWith(cairn_writer& writer, Edit edit) -> decltype(edit(std::declval<Writer&>())) {
  if (auto* const frame = std::get_if<Writer>(&writer.writer)) return edit(*frame);
  const auto& member = std::get<EditedMember>(writer.writer);
  const std::shared_ptr<CollectionWriter> collection = member.writer.lock();
  if (collection == nullptr) {
    return FailedPrecondition("%s: the writer of the collection was freed", member.name);
  }
  absl::StatusOr<MemberWriter> opened =
      member.is_group ? collection->EditAttributes(member.name) : collection->Edit(member.name);
  if (!opened.ok()) return opened.status();
  return edit(*opened);
}

// Runs call(writer) with the writer of a frame. Errors: kFailedPrecondition for that of a member.
template <typename Handle, typename Call>
auto CallWith(Handle& writer, Call call) -> decltype(call(std::get<Writer>(writer.writer))) {
  if (auto* const frame = std::get_if<Writer>(&writer.writer)) return call(*frame);
  return FailedPrecondition("%s: is a member, for which the writer of the collection does this",
                            std::get<EditedMember>(writer.writer).name);
}

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

// MemberWriter: stages edits of one member of a collection.
#ifndef CAIRN_MEMBER_WRITER_H_
#define CAIRN_MEMBER_WRITER_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/items.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "cairn/writer.h"

namespace cairn {

// Has the edits of a Writer, with the same errors, and no commits: these belong to the collection.
// Cheap to copy. Valid until the Commit, Rollback or Close of the CollectionWriter that made it.
class CAIRN_EXPORT MemberWriter {
 public:
  // Stages into `writer`, which must outlive this.
  explicit MemberWriter(Writer& writer) : writer_(&writer) {}

  absl::Status Append(Items items) { return writer_->Append(items); }
  absl::Status AppendCompressed(Bytes chunk) { return writer_->AppendCompressed(chunk); }
  absl::Status AppendSpecial(SpecialValue special, int64_t nitems, Items value = {}) {
    return writer_->AppendSpecial(special, nitems, value);
  }
  absl::Status InsertChunk(int64_t nchunk, Items items) {
    return writer_->InsertChunk(nchunk, items);
  }
  absl::Status UpdateChunk(int64_t nchunk, Items items) {
    return writer_->UpdateChunk(nchunk, items);
  }
  absl::Status InsertCompressed(int64_t nchunk, Bytes chunk) {
    return writer_->InsertCompressed(nchunk, chunk);
  }
  absl::Status UpdateCompressed(int64_t nchunk, Bytes chunk) {
    return writer_->UpdateCompressed(nchunk, chunk);
  }
  absl::Status DeleteChunks(int64_t first, int64_t count) {
    return writer_->DeleteChunks(first, count);
  }
  absl::Status ReorderChunks(std::span<const int64_t> order) {
    return writer_->ReorderChunks(order);
  }
  absl::Status WriteItems(int64_t start, Items items) { return writer_->WriteItems(start, items); }

  absl::Status WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                        Items items) {
    return writer_->WriteBox(start, shape, items);
  }
  absl::Status ResizeArray(std::span<const int64_t> shape) { return writer_->ResizeArray(shape); }
  absl::Status AppendSlices(int axis, Items items) { return writer_->AppendSlices(axis, items); }
  absl::Status DeleteSlices(int axis, int64_t start, int64_t count) {
    return writer_->DeleteSlices(axis, start, count);
  }

  absl::Status SetMetalayer(std::string_view name, Bytes content) {
    return writer_->SetMetalayer(name, content);
  }
  absl::Status SetVlmetalayer(std::string_view name, Bytes content) {
    return writer_->SetVlmetalayer(name, content);
  }
  absl::Status DeleteVlmetalayer(std::string_view name) { return writer_->DeleteVlmetalayer(name); }

  absl::Status ApplyIncrement(const Snapshot& increment) {
    return writer_->ApplyIncrement(increment);
  }

  absl::Status ReadChunk(int64_t nchunk, MutableItems dst) {
    return writer_->ReadChunk(nchunk, dst);
  }
  // While the snapshot exists, the file of the member stays open and locked.
  absl::StatusOr<Snapshot> StagedSnapshot() { return writer_->StagedSnapshot(); }

 private:
  Writer* writer_;
};

}  // namespace cairn

#endif  // CAIRN_MEMBER_WRITER_H_

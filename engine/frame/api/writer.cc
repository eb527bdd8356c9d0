#include "cairn/writer.h"

#include <type_traits>
#include <utility>

#include "engine/base/status.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/stage/array_editor.h"
#include "engine/frame/stage/item_writer.h"
#include "engine/frame/stage/metadata_edits.h"
#include "engine/frame/stage/special_appender.h"
#include "engine/frame/writer/frame_writer.h"

namespace cairn {

namespace {

using frame::ArrayEditor;
using frame::ItemWriter;
using frame::MetadataEdits;
using frame::SpecialAppender;
using frame::Stager;

// Stages an edit by `items`, which the stager makes itself or an editor that works on it.
template <typename Editor, typename... Params, typename... Args>
absl::Status Stage(frame::FrameWriter& writer, const Items& items,
                   absl::Status (Editor::*edit)(Params...), const Args&... args) {
  CAIRN_ASSIGN_OR_RETURN(Stager * stager, writer.GetStagerToEdit());
  CAIRN_RETURN_IF_ERROR(frame::CheckItemSize(items.value_size(), stager->staged().header.typesize));
  if constexpr (std::is_same_v<Editor, Stager>) {
    return (stager->*edit)(args...);
  } else {
    Editor editor(*stager);
    return (editor.*edit)(args...);
  }
}

}  // namespace

Writer::Writer(std::unique_ptr<frame::FrameWriter> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

absl::Status Writer::Append(Items items) {
  return Stage(*impl_, items, &Stager::Append, items.bytes());
}

absl::Status Writer::AppendCompressed(Bytes chunk) {
  return Stage(*impl_, {}, &Stager::AppendCompressed, chunk);
}

absl::Status Writer::AppendSpecial(SpecialValue special, int64_t nitems, Items value) {
  return Stage(*impl_, value, &SpecialAppender::AppendSpecial, special, nitems, value.bytes());
}

absl::Status Writer::InsertChunk(int64_t nchunk, Items items) {
  return Stage(*impl_, items, &Stager::InsertChunk, nchunk, items.bytes());
}

absl::Status Writer::UpdateChunk(int64_t nchunk, Items items) {
  return Stage(*impl_, items, &Stager::UpdateChunk, nchunk, items.bytes());
}

absl::Status Writer::InsertCompressed(int64_t nchunk, Bytes chunk) {
  return Stage(*impl_, {}, &Stager::InsertCompressed, nchunk, chunk);
}

absl::Status Writer::UpdateCompressed(int64_t nchunk, Bytes chunk) {
  return Stage(*impl_, {}, &Stager::UpdateCompressed, nchunk, chunk);
}

absl::Status Writer::DeleteChunks(int64_t first, int64_t count) {
  return Stage(*impl_, {}, &Stager::DeleteChunks, first, count);
}

absl::Status Writer::ReorderChunks(std::span<const int64_t> order) {
  return Stage(*impl_, {}, &Stager::ReorderChunks, order);
}

absl::Status Writer::SetChunksize(ChunkSize size) {
  return Stage(*impl_, {}, &MetadataEdits::SetChunksize, size);
}

absl::Status Writer::WriteItems(int64_t start, Items items) {
  return Stage(*impl_, items, &ItemWriter::WriteItems, start, items.bytes());
}

absl::Status Writer::WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                              Items items) {
  return Stage(*impl_, items, &ArrayEditor::WriteBox, start, shape, items.bytes());
}

absl::Status Writer::ResizeArray(std::span<const int64_t> shape) {
  return Stage(*impl_, {}, &ArrayEditor::ResizeArray, shape);
}

absl::Status Writer::AppendSlices(int axis, Items items) {
  return Stage(*impl_, items, &ArrayEditor::AppendSlices, axis, items.bytes());
}

absl::Status Writer::DeleteSlices(int axis, int64_t start, int64_t count) {
  return Stage(*impl_, {}, &ArrayEditor::DeleteSlices, axis, start, count);
}

absl::Status Writer::SetMetalayer(std::string_view name, Bytes content) {
  return Stage(*impl_, {}, &MetadataEdits::SetMetalayer, name, content);
}

absl::Status Writer::SetVlmetalayer(std::string_view name, Bytes content) {
  return Stage(*impl_, {}, &MetadataEdits::SetVlmetalayer, name, content);
}

absl::Status Writer::DeleteVlmetalayer(std::string_view name) {
  return Stage(*impl_, {}, &MetadataEdits::DeleteVlmetalayer, name);
}

absl::Status Writer::ApplyIncrement(const Snapshot& increment) {
  return impl_->ApplyIncrement(frame::HandleAccess::StateOf(increment));
}

absl::Status Writer::ReadChunk(int64_t nchunk, MutableItems dst) {
  CAIRN_ASSIGN_OR_RETURN(Stager * stager, impl_->GetStager());
  CAIRN_RETURN_IF_ERROR(frame::CheckItemSize(dst.value_size(), stager->staged().header.typesize));
  return stager->ReadChunk(nchunk, dst.bytes());
}

absl::StatusOr<Snapshot> Writer::StagedSnapshot() {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const frame::State> state, impl_->Staged());
  return frame::HandleAccess::Make(std::move(state));
}

absl::Status Writer::Prepare(Durability durability) { return impl_->Prepare(durability); }

absl::StatusOr<Snapshot> Writer::Commit(Durability durability) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const frame::State> state, impl_->Commit(durability));
  return frame::HandleAccess::Make(std::move(state));
}

absl::Status Writer::Checkpoint() { return impl_->Checkpoint(); }

absl::Status Writer::Flush() { return impl_->Flush(); }

absl::StatusOr<ReclaimReport> Writer::Reclaim(const ReclaimOptions& options) {
  return impl_->Reclaim(options);
}

void Writer::Rollback() { impl_->Rollback(); }

absl::Status Writer::Sync(const Snapshot& committed) const {
  return impl_->Sync(frame::HandleAccess::StateOf(committed));
}

absl::Status Writer::Suspend() { return impl_->Suspend(); }

absl::Status Writer::Resume(std::chrono::milliseconds wait) { return impl_->Resume(wait); }

absl::StatusOr<bool> Writer::HasWaiters() const { return impl_->HasWaiters(); }

absl::Status Writer::Close() { return impl_->Close(); }

}  // namespace cairn

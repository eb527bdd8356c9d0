#include "cairn/writer.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/api/item_size.h"
#include "engine/frame/commit/frame_writer.h"

namespace cairn {

namespace {

// The stager, when edits by such items are possible.
absl::StatusOr<frame::Stager*> GetStager(frame::FrameWriter& writer, const Items& items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, writer.GetStager());
  CAIRN_RETURN_IF_ERROR(frame::CheckItemSize(items.value_size(), stager->staged().header.typesize));
  return stager;
}

}  // namespace

Writer::Writer(std::unique_ptr<frame::FrameWriter> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

absl::Status Writer::Append(Items items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, GetStager(*impl_, items));
  return stager->Append(items.bytes());
}

absl::Status Writer::AppendCompressed(Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->AppendCompressed(chunk);
}

absl::Status Writer::AppendSpecial(SpecialValue special, int64_t nitems, Items value) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, GetStager(*impl_, value));
  return stager->AppendSpecial(special, nitems, value.bytes());
}

absl::Status Writer::InsertChunk(int64_t nchunk, Items items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, GetStager(*impl_, items));
  return stager->InsertChunk(nchunk, items.bytes());
}

absl::Status Writer::UpdateChunk(int64_t nchunk, Items items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, GetStager(*impl_, items));
  return stager->UpdateChunk(nchunk, items.bytes());
}

absl::Status Writer::InsertCompressed(int64_t nchunk, Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->InsertCompressed(nchunk, chunk);
}

absl::Status Writer::UpdateCompressed(int64_t nchunk, Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->UpdateCompressed(nchunk, chunk);
}

absl::Status Writer::DeleteChunks(int64_t first, int64_t count) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->DeleteChunks(first, count);
}

absl::Status Writer::Reorder(std::span<const int64_t> order) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->Reorder(order);
}

absl::Status Writer::UpdateItems(int64_t start, Items items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, GetStager(*impl_, items));
  return stager->UpdateItems(start, items.bytes());
}

absl::Status Writer::WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                              Items items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, GetStager(*impl_, items));
  return stager->WriteBox({.start = start, .shape = shape, .items = items.bytes()});
}

absl::Status Writer::Resize(std::span<const int64_t> shape) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->Resize(shape);
}

absl::Status Writer::AppendAlong(int axis, Items items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, GetStager(*impl_, items));
  return stager->AppendAlong(axis, items.bytes());
}

absl::Status Writer::SetMetalayer(std::string_view name, Bytes content) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->SetMetalayer(name, content);
}

absl::Status Writer::SetVlmetalayer(std::string_view name, Bytes content) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->SetVlmetalayer(name, content);
}

absl::Status Writer::DeleteVlmetalayer(std::string_view name) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->DeleteVlmetalayer(name);
}

absl::StatusOr<Snapshot> Writer::StagedSnapshot() {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const frame::State> state, impl_->Staged());
  return frame::HandleAccess::Make(std::move(state));
}

absl::StatusOr<Snapshot> Writer::Commit(Durability durability) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const frame::State> state, impl_->Commit(durability));
  return frame::HandleAccess::Make(std::move(state));
}

absl::Status Writer::Checkpoint() { return impl_->Checkpoint(); }

absl::StatusOr<ReclaimReport> Writer::Reclaim(const ReclaimOptions& options) {
  return impl_->Reclaim(options);
}

void Writer::Rollback() { impl_->Rollback(); }

absl::Status Writer::Close() { return impl_->Close(); }

}  // namespace cairn

#include "cairn/writer.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/frame/commit/frame_writer.h"

namespace cairn {

Writer::Writer(std::unique_ptr<frame::FrameWriter> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

absl::Status Writer::Append(Bytes items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->Append(items);
}

absl::Status Writer::AppendCompressed(Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->AppendCompressed(chunk);
}

absl::Status Writer::AppendSpecial(SpecialValue special, int64_t nitems, Bytes value) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->AppendSpecial(special, nitems, value);
}

absl::Status Writer::InsertChunk(int64_t nchunk, Bytes items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->InsertChunk(nchunk, items);
}

absl::Status Writer::UpdateChunk(int64_t nchunk, Bytes items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->UpdateChunk(nchunk, items);
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

absl::Status Writer::UpdateItems(int64_t start, Bytes items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->UpdateItems(start, items);
}

absl::Status Writer::WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                              Bytes items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->WriteBox({.start = start, .shape = shape, .items = items});
}

absl::Status Writer::Resize(std::span<const int64_t> shape) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->Resize(shape);
}

absl::Status Writer::AppendAlong(int axis, Bytes items) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->AppendAlong(axis, items);
}

absl::Status Writer::SetMetalayer(std::string_view name, Bytes content) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->SetMetalayer(name, content);
}

absl::Status Writer::SetVlmeta(std::string_view name, Bytes content) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->SetVlmeta(name, content);
}

absl::Status Writer::DeleteVlmeta(std::string_view name) {
  CAIRN_ASSIGN_OR_RETURN(frame::Stager * stager, impl_->GetStager());
  return stager->DeleteVlmeta(name);
}

absl::StatusOr<Snapshot> Writer::StagedSnapshot() {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const frame::State> state, impl_->Staged());
  return Snapshot(std::move(state));
}

absl::StatusOr<Snapshot> Writer::Commit(Durability durability) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const frame::State> state, impl_->Commit(durability));
  return Snapshot(std::move(state));
}

absl::Status Writer::Checkpoint() { return impl_->Checkpoint(); }

absl::StatusOr<ReclaimReport> Writer::Reclaim(const ReclaimOptions& options) {
  return impl_->Reclaim(options);
}

void Writer::Rollback() { impl_->Rollback(); }

absl::Status Writer::Close() { return impl_->Close(); }

}  // namespace cairn

#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/commit/creation.h"
#include "engine/frame/commit/object_backend.h"
#include "engine/frame/state/sparse_chunk_source.h"
#include "engine/object/index_file.h"

namespace cairn::frame {

namespace {

// Its chunks are put as they come; the frame is there when its index is.
class ObjectCreation final : public Creation {
 public:
  ObjectCreation(FrameLocation location, const CreateOptions& options, StatePtr state,
                 std::shared_ptr<FileSystem> directory)
      : Creation(LocationIn(std::move(directory), location.files, location.path), options,
                 std::move(state), false),
        store_(location_.objects().store) {}

  absl::StatusOr<std::unique_ptr<Stager>> Stage() override { return StageInto(*sink_); }
  absl::Status Restart(bool failed) override;
  void PinStaged(const StatePtr& /*snapshot*/) override {}
  absl::Status WriteCheckpoint(Stager& stager) override;

 private:
  absl::StatusOr<ObjectInfo> PutIndex(Bytes bytes);

  const std::shared_ptr<ObjectStore> store_;
  std::unique_ptr<ObjectSink> sink_;
};

absl::Status ObjectCreation::Restart(bool /*failed*/) {
  if (sink_ != nullptr) {
    sink_->Discard();
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(store_->CheckConditions(ScratchObjectName()));
  frame_.core = std::make_shared<FrameCore>(location_, FrameFile(), base().env());
  auto state = std::make_shared<State>(base());
  state->chunk_source = std::make_shared<SparseChunkSource>(
      location_.files, std::make_shared<object::IndexFile>(store_, std::vector<std::byte>(), "", 0),
      false, 0);
  frame_.state = std::move(state);
  sink_ = std::make_unique<ObjectSink>(store_, -1);
  return absl::OkStatus();
}

// Refused, it can be tried again.
absl::StatusOr<ObjectInfo> ObjectCreation::PutIndex(Bytes bytes) {
  const std::string& name = location_.path;
  if (replace_) {
    absl::StatusOr<std::string> there = EndJournal(store_, location_.files, base().env());
    if (there.ok()) return store_->PutIfMatch(name, *std::move(there), bytes);
    if (!absl::IsNotFound(there.status())) return Refuse(there.status());
  }
  absl::StatusOr<ObjectInfo> put = store_->PutIfAbsent(name, bytes);
  if (!absl::IsFailedPrecondition(put.status())) return put;
  return Refuse(absl::AlreadyExistsError(store_->Describe() + " exists"));
}

absl::Status ObjectCreation::WriteCheckpoint(Stager& stager) {
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  CheckpointPlan plan = frame_.PlanCheckpoint(base().header().header_len, true);
  plan.seal.journal = BeginJournal(plan.seal.generation);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                         EncodeIndexObject(stager.staged(), plan));
  CAIRN_RETURN_IF_ERROR(PutIndex(bytes).status());
  sink_->Keep();
  auto next = std::make_unique<ObjectBackend>(std::move(frame_), options_);
  CAIRN_RETURN_IF_ERROR(next->PersistBase());
  frame_.state = next->frame().state;
  successor_ = std::move(next);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<CommitBackend> MakeObjectCreation(FrameLocation location,
                                                  const CreateOptions& options, StatePtr state) {
  const ObjectDirectoryInfo objects = location.files->ObjectsIn(location.path);
  return std::make_unique<ObjectCreation>(std::move(location), options, std::move(state),
                                          objects.files);
}

}  // namespace cairn::frame

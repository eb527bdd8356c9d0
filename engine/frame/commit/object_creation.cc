#include <string>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/commit/creation.h"
#include "engine/frame/commit/object_backend.h"
#include "engine/frame/state/sparse_chunk_source.h"
#include "engine/object/object_directory.h"
#include "engine/object/scoped_object_store.h"

namespace cairn::frame {

namespace {

// Its chunks are put as they come; the frame is there when its index is.
class ObjectCreation final : public Creation {
 public:
  ObjectCreation(FrameLocation location, const CreateOptions& options, StatePtr state,
                 std::shared_ptr<FileSystem> directory)
      : Creation(LocationIn(std::move(directory), location.files, location.path), options,
                 std::move(state), false),
        store_(location_.files->objects().store) {}

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
  state->chunk_source =
      std::make_shared<SparseChunkSource>(location_.files, nullptr, *state->env());
  frame_.state = std::move(state);
  sink_ = std::make_unique<ObjectSink>(store_, std::span<const int64_t>());
  return absl::OkStatus();
}

// Refused, it can be tried again.
absl::StatusOr<ObjectInfo> ObjectCreation::PutIndex(Bytes bytes) {
  const std::string& name = location_.path;
  if (replace_) {
    const absl::StatusOr<ObjectInfo> there = store_->Head(name);
    if (there.ok()) return store_->PutIfMatch(name, there->etag, bytes);
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
  const ObjectsOf objects = location.files->objects();
  auto store = std::make_shared<object::ScopedObjectStore>(objects.store, location.path + "/");
  auto directory = std::make_shared<object::ObjectDirectory>(std::move(store), objects.grace);
  return std::make_unique<ObjectCreation>(std::move(location), options, std::move(state),
                                          std::move(directory));
}

}  // namespace cairn::frame

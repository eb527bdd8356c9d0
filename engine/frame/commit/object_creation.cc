#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/commit/creation.h"
#include "engine/frame/commit/object_backend.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/state/sparse_chunk_source.h"
#include "engine/object/index_file.h"
#include "engine/object/object_directory.h"
#include "engine/object/object_names.h"
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
  absl::Status PutIndex(Bytes bytes);
  bool IsIndex(Bytes bytes) const;
  absl::Status Replace(std::shared_ptr<object::IndexFile> old, Bytes bytes);
  absl::Status EndJournal(const FrameFile& old);

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
absl::Status ObjectCreation::PutIndex(Bytes bytes) {
  const std::string& name = location_.path;
  if (replace_) {
    absl::StatusOr<std::shared_ptr<object::IndexFile>> old = object::IndexFile::Open(store_);
    if (old.ok()) return Replace(*std::move(old), bytes);
    if (!absl::IsNotFound(old.status())) return Refuse(old.status());
  }
  const absl::Status put = store_->PutIfAbsent(name, bytes).status();
  if (!absl::IsFailedPrecondition(put)) return put;
  if (IsIndex(bytes)) return absl::OkStatus();
  return Refuse(absl::AlreadyExistsError(store_->Describe() + " exists"));
}

// Whether it is there: something on the way may have sent the put twice, and passed on the second
// answer only.
bool ObjectCreation::IsIndex(Bytes bytes) const {
  const absl::StatusOr<ObjectPart> there = store_->Get(location_.path);
  return there.ok() && std::ranges::equal(there->bytes, bytes);
}

absl::Status ObjectCreation::Replace(std::shared_ptr<object::IndexFile> old, Bytes bytes) {
  // To the frame that is there, the new one's chunks are garbage.
  CAIRN_RETURN_IF_ERROR(CheckStagedInTime(*sink_, location_.files->objects().grace));
  const absl::Status put = store_->PutIfMatch(location_.path, old->etag(), bytes).status();
  if (absl::IsFailedPrecondition(put) && !IsIndex(bytes)) {
    return Refuse(absl::AbortedError(store_->Describe() + " was changed meanwhile"));
  }
  if (!put.ok() && !absl::IsFailedPrecondition(put)) return put;
  return EndJournal(FrameFile::OfFile(std::move(old), 0, base().env()->use_mmap, location_.files));
}

// Writers of the frame that was replaced look at its index only now and then: none of them must
// commit to it any more.
absl::Status ObjectCreation::EndJournal(const FrameFile& old) {
  for (std::optional<int64_t> end;;) {
    const absl::StatusOr<StatePtr> state = LoadState(old, base().env());
    // What cannot be loaded cannot be written, and a position that others took before us is theirs.
    if (!state.ok() || !(*state)->journal.has_value() || end == (*state)->journal->end) break;
    end = (*state)->journal->end;
    const absl::Status put =
        store_->PutIfAbsent(object::JournalObjectName(*end), format::EncodeReplaced()).status();
    if (!absl::IsFailedPrecondition(put)) return put;
  }
  return absl::OkStatus();
}

absl::Status ObjectCreation::WriteCheckpoint(Stager& stager) {
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  CheckpointPlan plan = frame_.PlanCheckpoint(base().header().header_len, true);
  plan.seal.journal = BeginJournal(plan.seal.generation);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                         EncodeIndexObject(stager.staged(), plan));
  CAIRN_RETURN_IF_ERROR(PutIndex(bytes));
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

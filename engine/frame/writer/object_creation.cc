#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/boot_clock.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/format/journal.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/layout/object_backend.h"
#include "engine/frame/open/checkpoint_parts.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/state/sparse_chunk_source.h"
#include "engine/frame/writer/creation.h"
#include "engine/object/index_file.h"
#include "engine/object/object_names.h"

namespace cairn::frame {

namespace {

// Ends the journal of the frame that is there, if there is one: the next commit of any writer would
// be put after it, and lost, when another frame takes the place. Returns the etag of its index.
absl::StatusOr<std::string> EndJournal(const std::shared_ptr<ObjectStore>& store,
                                       const std::shared_ptr<FileSystem>& directory,
                                       const std::shared_ptr<const FrameContext>& env) {
  for (int tries = 0; tries < kMostAttempts; ++tries) {
    CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<object::IndexFile> index,
                           object::IndexFile::Open(store, 0));
    const absl::StatusOr<StatePtr> state =
        LoadState(FrameFile::OfFile(index, 0, env->use_mmap, directory), env);
    // No writer works on what is damaged, or has no journal yet.
    if (absl::IsDataLoss(state.status()) || absl::IsInvalidArgument(state.status()) ||
        absl::IsUnimplemented(state.status())) {
      return index->etag();
    }
    CAIRN_RETURN_IF_ERROR(state.status());
    if (!IsShared(**state)) return index->etag();
    const absl::Status put = store
                                 ->PutIfAbsent(object::JournalObjectName((*state)->journal->end),
                                               format::EncodeReplaced())
                                 .status();
    if (put.ok()) return index->etag();
    if (!absl::IsFailedPrecondition(put)) return put;
    // Another process has ended it, and perhaps died; or this put was sent twice.
    const absl::StatusOr<ObjectPart> there =
        store->Get(object::JournalObjectName((*state)->journal->end));
    if (there.ok() && there->bytes == format::EncodeReplaced()) return index->etag();
    PauseBeforeAttempt(tries);
  }
  return absl::UnavailableError(
      absl::StrFormat("%s: it is written all the time", store->Describe()));
}

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
  absl::Status WriteCheckpoint(Stager& stager, Follows follows) override;

 private:
  absl::StatusOr<std::string> PutIndex(Bytes bytes);
  bool IsIndex(Bytes bytes) const;
  absl::StatusOr<std::string> Replace(const std::string& etag, Bytes bytes);
  absl::Status InstallIndex(std::vector<std::byte> bytes, std::string etag,
                            BootClock::time_point before);

  const std::shared_ptr<ObjectStore> store_;
  std::unique_ptr<ObjectSink> sink_;
};

absl::Status ObjectCreation::Restart(bool /*failed*/) {
  if (sink_ != nullptr) {
    sink_->Discard();
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(CheckGrace(location_.objects()));
  CAIRN_RETURN_IF_ERROR(store_->CheckConditions(ScratchObjectName()));
  frame_.core = std::make_shared<FrameCore>(location_, FrameFile(), base().env());
  auto state = std::make_shared<State>(base());
  state->chunk_source = std::make_shared<SparseChunkSource>(
      location_.files,
      std::make_shared<object::IndexFile>(store_, std::vector<std::byte>(), "", 0,
                                          BootClock::now()),
      false, 0);
  frame_.state = std::move(state);
  sink_ = std::make_unique<ObjectSink>(store_, std::span<const int64_t>());
  return absl::OkStatus();
}

// Puts the index, and returns its etag, or nothing if that is not known. If the put is refused, it
// can be tried again.
absl::StatusOr<std::string> ObjectCreation::PutIndex(Bytes bytes) {
  const std::string& name = location_.path;
  if (replace_) {
    // To the old frame, the chunks of the new one are garbage.
    CAIRN_RETURN_IF_ERROR(CheckStagedInTime(*sink_, location_.objects().grace));
    const absl::StatusOr<std::string> there = EndJournal(store_, location_.files, base().env());
    if (there.ok()) return Replace(*there, bytes);
    if (!absl::IsNotFound(there.status())) return Refuse(there.status());
  }
  const absl::StatusOr<ObjectInfo> put = store_->PutIfAbsent(name, bytes);
  if (put.ok()) return put->etag;
  if (!absl::IsFailedPrecondition(put.status())) return put.status();
  if (IsIndex(bytes)) return std::string();
  return Refuse(absl::AlreadyExistsError(store_->Describe() + " exists"));
}

// Returns true if the index has these bytes. If a put was refused, a proxy may have sent it twice,
// and passed on the second answer only.
bool ObjectCreation::IsIndex(Bytes bytes) const {
  const absl::StatusOr<ObjectPart> there = store_->Get(location_.path);
  return there.ok() && std::ranges::equal(there->bytes, bytes);
}

absl::StatusOr<std::string> ObjectCreation::Replace(const std::string& etag, Bytes bytes) {
  const absl::StatusOr<ObjectInfo> put = store_->PutIfMatch(location_.path, etag, bytes);
  if (put.ok()) return put->etag;
  if (!absl::IsFailedPrecondition(put.status())) return put.status();
  if (IsIndex(bytes)) return std::string();
  return Refuse(absl::AbortedError(store_->Describe() + " was changed meanwhile"));
}

// Lets the backend that continues begin with the index that was put.
absl::Status ObjectCreation::InstallIndex(std::vector<std::byte> bytes, std::string etag,
                                          BootClock::time_point before) {
  frame_.file = std::make_shared<object::IndexFile>(store_, std::move(bytes), std::move(etag),
                                                    location_.objects().read_ahead, before);
  frame_.source = FrameFile::OfFile(frame_.file, 0, base().env()->use_mmap, location_.files);
  CAIRN_ASSIGN_OR_RETURN(
      std::vector<std::byte> header,
      ReadHeaderBytes(frame_.source, format::kFixedHeaderSize, format::kFixedHeaderSize));
  return frame_.ReloadCheckpoint(std::move(header));
}

absl::Status ObjectCreation::WriteCheckpoint(Stager& stager, Follows /*follows*/) {
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  CheckpointPlan plan = frame_.PlanCheckpoint(base().header().header_len, true);
  plan.seal.journal = BeginJournal(plan.seal.generation);
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, EncodeIndexObject(stager.staged(), plan));
  const BootClock::time_point before = BootClock::now();
  CAIRN_ASSIGN_OR_RETURN(std::string etag, PutIndex(bytes));
  sink_->Keep();
  if (!etag.empty()) {
    CAIRN_RETURN_IF_ERROR(InstallIndex(std::move(bytes), std::move(etag), before));
  }
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

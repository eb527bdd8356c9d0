#include "engine/collection/objects/object_member.h"

#include <optional>

#include "cairn/forwarding_file.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/collection/members/member_reader.h"
#include "engine/collection/objects/known_copies.h"
#include "engine/collection/objects/member_copy.h"
#include "engine/format/journal.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/writer/frame_writer.h"
#include "engine/object/index_file.h"

namespace cairn::collection {

namespace {

using frame::FrameCore;
using frame::HandleAccess;
using frame::State;

// Shows the directory of a member to its writer, with the member's store.
class MemberDirectory final : public ForwardingFileSystem,
                              public std::enable_shared_from_this<MemberDirectory> {
 public:
  // In `known`, which may be null, names begin with `prefix`.
  MemberDirectory(ObjectDirectoryInfo objects, std::shared_ptr<ObjectStore> store,
                  std::shared_ptr<KnownObjects> known, std::string prefix)
      : ForwardingFileSystem(objects.files),
        objects_(std::move(objects)),
        known_(std::move(known)),
        prefix_(std::move(prefix)) {
    objects_.store = std::move(store);
  }

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override;
  void WillOpen(std::span<const FileHint> files) override;

  ObjectDirectoryInfo ObjectsIn(const std::string& /*path*/) override {
    ObjectDirectoryInfo here = objects_;
    here.files = shared_from_this();
    return here;
  }
  // A new member has no index, whatever was there before.
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    return absl::NotFoundError(path);
  }
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    return absl::NotFoundError(path);
  }

 private:
  ObjectDirectoryInfo objects_;
  const std::shared_ptr<KnownObjects> known_;
  const std::string prefix_;
};

// A small object has come as a whole, so it can be kept.
absl::StatusOr<std::unique_ptr<File>> MemberDirectory::Open(const std::string& path,
                                                            FileMode mode) {
  if (known_ == nullptr || mode != FileMode::kRead) return ForwardingFileSystem::Open(path, mode);
  const std::string name = prefix_ + path;
  KnownObjects::BytesPtr bytes = known_->Find(name);
  if (bytes == nullptr) {
    CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file, ForwardingFileSystem::Open(path, mode));
    CAIRN_ASSIGN_OR_RETURN(const int64_t size, file->Size());
    if (!KnownObjects::IsSmall(size)) return file;
    std::vector<std::byte> read(static_cast<size_t>(size));
    CAIRN_RETURN_IF_ERROR(file->ReadAt(0, read));
    bytes = std::make_shared<const std::vector<std::byte>>(std::move(read));
    known_->Add(name, bytes);
  }
  return MakeKnownFile(name, std::move(bytes), objects_.read_ahead);
}

void MemberDirectory::WillOpen(std::span<const FileHint> files) {
  std::vector<FileHint> unknown;
  for (const FileHint& file : files) {
    const bool is_known = known_ != nullptr && known_->Find(prefix_ + file.name) != nullptr;
    if (!is_known) unknown.push_back(file);
  }
  ForwardingFileSystem::WillOpen(unknown);
}

ObjectDirectoryInfo ObjectsOf(const Site& site, std::string_view name, MemberKind kind) {
  return site.files->ObjectsIn(site.PathOf(name, kind));
}

// Returns what readers and writers of a member are to see.
ObjectDirectoryInfo Shown(const ObjectDirectoryInfo& objects,
                          const std::shared_ptr<MemberStore>& store) {
  return std::make_shared<MemberDirectory>(objects, store, store->known(), store->prefix())
      ->ObjectsIn(".");
}

std::shared_ptr<MemberStore> ShowListed(const Site& site, const ObjectDirectoryInfo& objects,
                                        std::string_view name, const Ledger& ledger) {
  const MemberEntry& entry = ledger.table.members.find(name)->second;
  auto shown =
      std::make_shared<MemberStore>(objects.store, IndexObjectName(entry.id, ledger.IndexOf(name)),
                                    site.known, site.PathOf(name, entry.kind) + "/");
  shown->AddRecords(ledger.PatchesOf(name, 0));
  return shown;
}

absl::StatusOr<std::shared_ptr<FrameCore>> OpenListed(const ObjectDirectoryInfo& shown,
                                                      const OpenOptions& options,
                                                      const std::string& path,
                                                      const Position& position) {
  absl::StatusOr<std::shared_ptr<FrameCore>> core = OpenCoreIn(shown, options, path);
  if (absl::IsNotFound(core.status())) {
    return AtPath(path, DataLoss("member: the index that the ledger lists is missing; it was "
                                 "removed outside the collection, or the snapshot is older than "
                                 "the grace"));
  }
  if (!core.ok()) return AtPath(path, core.status());
  const absl::Status fits = FindPosition(HandleAccess::Make((*core)->newest()), position).status();
  if (!fits.ok()) return AtPath(path, fits);
  return core;
}

absl::StatusOr<Writer> OpenWriterOf(const std::shared_ptr<FrameCore>& core, WriterOptions options) {
  options.wait = {};
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<frame::FrameWriter> writer, OpenWriter(core, options));
  return HandleAccess::Make(std::move(writer));
}

bool IsInDoubt(const absl::Status& put) {
  return absl::IsFailedPrecondition(put) || absl::IsDeadlineExceeded(put);
}

// Makes sure that an object is there, whose put was refused or has no known outcome. A proxy may
// have sent the put twice, or may have refused it for a reason of its own.
absl::Status MakeSureOf(const NewObject& object) {
  const absl::Status there = object.store->Head(object.name).status();
  if (!absl::IsNotFound(there)) return there;
  const absl::Status put = object.store->PutIfAbsent(object.name, object.bytes).status();
  return absl::IsFailedPrecondition(put) ? WithCode(absl::StatusCode::kUnavailable, put) : put;
}

// Puts all of them at the same time, and returns the answers.
std::vector<absl::StatusOr<ObjectInfo>> TryToPut(const std::vector<NewObject>& objects) {
  struct Answers {
    Mutex mutex;
    CondVar changed;
    size_t missing ABSL_GUARDED_BY(mutex) = 0;
    std::vector<absl::StatusOr<ObjectInfo>> puts ABSL_GUARDED_BY(mutex);
  };
  const auto answers = std::make_shared<Answers>();
  {
    const MutexLock lock(answers->mutex);
    answers->missing = objects.size();
    answers->puts.resize(objects.size());
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    const NewObject& object = objects[i];
    ObjectStore::PutDone done = [answers, i](absl::StatusOr<ObjectInfo> put) {
      const MutexLock lock(answers->mutex);
      answers->puts[i] = std::move(put);
      --answers->missing;
      answers->changed.NotifyAll();
    };
    if (object.if_match.empty()) {
      object.store->StartPutIfAbsent(object.name, object.bytes, std::move(done));
    } else {
      object.store->StartPutIfMatch(object.name, object.if_match, object.bytes, std::move(done));
    }
  }
  const MutexLock lock(answers->mutex);
  while (answers->missing > 0) answers->changed.Wait(answers->mutex);
  return std::move(answers->puts);
}

bool IsAt(const Position& position, const Position& other) {
  return position.generation == other.generation && position.hash == other.hash;
}

}  // namespace

absl::StatusOr<std::shared_ptr<FrameCore>> OpenCoreIn(const ObjectDirectoryInfo& objects,
                                                      const OpenOptions& options,
                                                      const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<File> index,
                         object::IndexFile::Open(objects.store, objects.read_ahead));
  frame::FrameLocation location = frame::LocationIn(objects.files, objects.files, path);
  auto env = std::make_shared<frame::FrameContext>(options, location);
  env->checkpoints.after_commits = false;
  frame::FrameFile source = frame::FrameFile::OfFile(index, 0, false, objects.files);
  CAIRN_ASSIGN_OR_RETURN(frame::StatePtr state, LoadState(source, env));
  auto core = std::make_shared<FrameCore>(std::move(location), source, std::move(env));
  core->InstallFile(std::move(source), std::move(state));
  return core;
}

absl::Status PutAll(const std::vector<NewObject>& objects) {
  absl::Status status;
  const std::vector<absl::StatusOr<ObjectInfo>> puts = TryToPut(objects);
  for (size_t i = 0; i < objects.size(); ++i) {
    const absl::Status put = puts[i].status();
    status.Update(IsInDoubt(put) ? MakeSureOf(objects[i]) : put);
  }
  return status;
}

absl::StatusOr<std::shared_ptr<FrameCore>> OpenListedMember(const Site& site, std::string_view name,
                                                            const Ledger& ledger) {
  const MemberEntry& entry = ledger.table.members.find(name)->second;
  const ObjectDirectoryInfo objects = ObjectsOf(site, name, entry.kind);
  return OpenListed(Shown(objects, ShowListed(site, objects, name, ledger)), site.MemberOptions(),
                    site.PathOf(name, entry.kind), entry.position);
}

absl::StatusOr<Snapshot> OpenObjectMember(const Site& site, std::string_view name,
                                          const Ledger& ledger) {
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<FrameCore> core,
                         OpenListedMember(site, name, ledger));
  return HandleAccess::Make(core->newest());
}

absl::StatusOr<std::unique_ptr<ObjectMember>> ObjectMember::Open(const Site& site,
                                                                 std::string_view name,
                                                                 const Ledger& ledger,
                                                                 const WriterOptions& options) {
  const MemberEntry& entry = ledger.table.members.find(name)->second;
  ObjectDirectoryInfo objects = ObjectsOf(site, name, entry.kind);
  std::shared_ptr<MemberStore> shown = ShowListed(site, objects, name, ledger);
  std::string path = site.PathOf(name, entry.kind);
  OpenOptions opening = site.MemberOptions();
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<FrameCore> core,
                         OpenListed(Shown(objects, shown), opening, path, entry.position));
  CAIRN_ASSIGN_OR_RETURN(Writer writer, OpenWriterOf(core, options));
  return std::unique_ptr<ObjectMember>(
      new ObjectMember(std::string(name), entry, std::move(objects), std::move(path),
                       std::move(shown), std::move(opening), std::move(core), std::move(writer)));
}

absl::StatusOr<std::unique_ptr<ObjectMember>> ObjectMember::Create(const Site& site,
                                                                   std::string_view name,
                                                                   const CreateOptions& options) {
  const MemberEntry entry = {.id = RandomNumber(), .kind = KindOf(options)};
  ObjectDirectoryInfo objects = ObjectsOf(site, name, entry.kind);
  auto shown = std::make_shared<MemberStore>(objects.store, "", site.known,
                                             site.PathOf(name, entry.kind) + "/");
  const ObjectDirectoryInfo seen = Shown(objects, shown);
  std::string path = site.PathOf(name, entry.kind);
  CreateOptions own = options;
  own.overwrite = false;
  own.file_system = seen.files;
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<frame::FrameWriter> writer,
      frame::CreateWriter({.files = seen.files, .path = path}, own, /*plain=*/true));
  std::shared_ptr<FrameCore> core = writer->core();
  std::unique_ptr<ObjectMember> member(new ObjectMember(
      std::string(name), entry, std::move(objects), std::move(path), std::move(shown),
      site.MemberOptions(), std::move(core), HandleAccess::Make(std::move(writer))));
  member->is_begun_ = false;
  member->frame_etag_ = std::string();
  return member;
}

absl::Status CopyToNewObjects(const Site& site, std::string_view name, const Snapshot& from,
                              MemberEntry& entry, NewObject& frame) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<ObjectMember> member,
                         ObjectMember::Create(site, name, from.create_options()));
  CAIRN_RETURN_IF_ERROR(CopyContent(from, member->writer()));
  CAIRN_RETURN_IF_ERROR(member->Begin({}));
  CAIRN_ASSIGN_OR_RETURN(NewObject index, member->IndexObject());
  entry = member->entry();
  frame = {.store = ObjectsOf(site, name, entry.kind).store,
           .name = std::string(format::kIndexFileName),
           .bytes = index.bytes};
  return PutAll({std::move(index)});
}

Snapshot ObjectMember::committed() const { return HandleAccess::Make(core_->newest()); }

// A writer that creates a frame would make checkpoints after commits, so another one goes on.
absl::Status ObjectMember::Begin(const WriterOptions& options) {
  // To other writers, its objects are those of one that died.
  const BootClock::duration grace = objects_.grace;
  if (grace.count() > 0 && BootClock::now() - made_ >= grace / 2) {
    return absl::AbortedError("added too long ago: roll back and stage it again");
  }
  if (is_begun_) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const Snapshot first, writer_.Commit());
  CAIRN_ASSIGN_OR_RETURN(core_, OpenCoreIn(Shown(objects_, shown_), opening_, path_));
  CAIRN_ASSIGN_OR_RETURN(writer_, OpenWriterOf(core_, options));
  entry_.position = PositionOf(first);
  is_begun_ = true;
  return absl::OkStatus();
}

absl::StatusOr<MemberPart> ObjectMember::PartOf(std::vector<FilePatch> records) const {
  const FilePatch& last = records.back();
  const auto head = format::FindRecordHead(last.bytes);
  if (!head.has_value()) return absl::InternalError(path_ + ": no record was put");
  const Bytes record = Bytes(last.bytes).first(static_cast<size_t>(head->size));
  CAIRN_ASSIGN_OR_RETURN(const format::CommitRecord commit,
                         format::ParseCommit(record, last.offset));
  return MemberPart{
      .name = name_,
      .position = {.generation = commit.links.generation, .hash = format::StoredChecksum(record)},
      .patches = std::move(records)};
}

absl::StatusOr<std::optional<MemberPart>> ObjectMember::Ask() {
  shown_->Set(MemberStore::Puts::kAsked);
  const absl::Status asked = writer_.Commit().status();
  std::vector<FilePatch> records = shown_->records_put();
  if (!records.empty() && absl::IsUnavailable(asked)) return PartOf(std::move(records));
  CAIRN_RETURN_IF_ERROR(asked);
  return std::nullopt;
}

void ObjectMember::AddCopies(const Site& site, const MemberPart& part, ObjectCopies& copies) const {
  if (part.patches.empty()) return;
  const FilePatch& last = part.patches.back();
  const auto head = format::FindRecordHead(last.bytes);
  if (!head.has_value()) return;
  const auto commit =
      format::ParseCommit(Bytes(last.bytes).first(static_cast<size_t>(head->size)), last.offset);
  if (commit.ok()) {
    AddCopiesOfChunks(site, entry_, *commit, {.member = name_, .id = entry_.id}, copies);
  }
}

std::set<uint64_t> ObjectMember::ChunkFiles() const { return ChunkFilesOf(*core_->newest()); }

void ObjectMember::AddCopiesOfCheckpoint(const Site& site, bool with_chunks,
                                         ObjectCopies& copies) const {
  const State& state = *core_->newest();
  if (with_chunks) {
    for (const uint64_t number : ChunkFilesOf(state)) {
      AddCopy(
          site, entry_,
          {.member = name_, .id = entry_.id, .kind = ObjectCopy::Kind::kChunk, .number = number},
          copies);
    }
  }
  std::vector<std::byte> index = shown_->index();
  if (std::ssize(index) > kMaxCopy) return;
  copies.push_back({.member = name_,
                    .id = entry_.id,
                    .number = state.checkpoint->seal->generation,
                    .bytes = std::move(index)});
}

// The writer finds its own record in the place where it wants to put it.
absl::Status ObjectMember::Take(const MemberPart& part) {
  shown_->AddRecords(part.patches);
  CAIRN_ASSIGN_OR_RETURN(const Snapshot taken, writer_.Commit());
  entry_.position = part.position;
  if (IsAt(PositionOf(taken), part.position)) return absl::OkStatus();
  return absl::InternalError(path_ + ": took another commit than the ledger has");
}

void ObjectMember::Follow(const MemberEntry& entry, std::vector<FilePatch> records) {
  shown_->AddRecords(records);
  entry_ = entry;
}

absl::Status ObjectMember::Restart() {
  writer_.Rollback();
  if (!is_begun_ || IsAt(PositionOf(committed()), entry_.position)) return absl::OkStatus();
  return absl::UnavailableError(path_ + ": commits of other writers are no longer known");
}

absl::StatusOr<std::optional<MemberPart>> ObjectMember::Checkpoint() {
  shown_->Set(MemberStore::Puts::kTaken);
  const absl::Status made = writer_.Checkpoint();
  std::vector<FilePatch> records = shown_->records_put();
  shown_->Set(MemberStore::Puts::kAsked);
  CAIRN_RETURN_IF_ERROR(made);
  if (records.empty()) return std::nullopt;
  return PartOf(std::move(records));
}

absl::StatusOr<NewObject> ObjectMember::IndexObject() const {
  const State& state = *core_->newest();
  const uint64_t generation = state.checkpoint->seal->generation;
  if (generation != entry_.position.generation || !IsAt(PositionOf(committed()), entry_.position)) {
    return absl::UnavailableError(path_ + ": no checkpoint was made");
  }
  return NewObject{
      .store = shown_, .name = IndexObjectName(entry_.id, generation), .bytes = shown_->index()};
}

absl::StatusOr<NewObject> ObjectMember::FrameObject() {
  NewObject frame = {.store = objects_.store,
                     .name = std::string(format::kIndexFileName),
                     .bytes = shown_->index()};
  if (!frame_etag_.has_value()) {
    const absl::StatusOr<ObjectInfo> there = frame.store->Head(frame.name);
    if (!there.ok() && !absl::IsNotFound(there.status())) return there.status();
    frame_etag_ = there.ok() ? there->etag : std::string();
  }
  frame.if_match = *frame_etag_;
  return frame;
}

absl::Status ObjectMember::Publish() {
  absl::StatusOr<ObjectInfo> put;
  for (int tries = 0; tries < 2; ++tries) {
    CAIRN_ASSIGN_OR_RETURN(const NewObject frame, FrameObject());
    put = TryToPut({frame}).front();
    frame_etag_ = put.ok() ? std::optional(put->etag) : std::nullopt;
    if (!absl::IsFailedPrecondition(put.status())) break;  // another one is there
  }
  return put.status();
}

void ObjectMember::PublishAll(std::span<ObjectMember* const> members) {
  std::vector<NewObject> frames;
  std::vector<ObjectMember*> published;
  for (ObjectMember* const member : members) {
    absl::StatusOr<NewObject> frame = member->FrameObject();
    if (!frame.ok()) continue;
    frames.push_back(*std::move(frame));
    published.push_back(member);
  }
  const std::vector<absl::StatusOr<ObjectInfo>> puts = TryToPut(frames);
  for (size_t i = 0; i < puts.size(); ++i) {
    published[i]->frame_etag_ = puts[i].ok() ? std::optional(puts[i]->etag) : std::nullopt;
    if (absl::IsFailedPrecondition(puts[i].status())) published[i]->Publish().IgnoreError();
  }
}

}  // namespace cairn::collection

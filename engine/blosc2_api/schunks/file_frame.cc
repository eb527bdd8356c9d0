#include "engine/blosc2_api/schunks/file_frame.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/files/mmap_mode.h"
#include "engine/blosc2_api/files/reading_lock.h"
#include "engine/blosc2_api/files/unsynced_files.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/process/environment.h"
#include "engine/blosc2_api/process/plugins.h"
#include "engine/blosc2_api/schunks/serialize.h"

namespace cairn::blosc2_api {

namespace {

// Another handle of the frame writes for no longer than one call takes.
constexpr std::chrono::seconds kPatience{30};

// Files look for bytes that nothing needs once in so many generations, and small files never.
constexpr uint64_t kLookEvery = 16;
constexpr int64_t kLeastLook = int64_t{64} << 10;

// Returns the path that a name stands for, which may be a URL.
std::string PathOf(const std::string& name) {
  constexpr std::string_view kScheme = "file:///";
  return name.starts_with(kScheme) ? name.substr(kScheme.size()) : name;
}

// Returns the files that frames are in. Null means those of the operating system.
std::shared_ptr<FileSystem> Files() { return WantsSyncs() ? nullptr : MakeUnsyncedFiles(); }

// Returns what the program says of a mapped file, or null for another file.
const blosc2_stdio_mmap* MmapOf(const blosc2_io& io) {
  return io.id == BLOSC2_IO_FILESYSTEM_MMAP ? static_cast<const blosc2_stdio_mmap*>(io.params)
                                            : nullptr;
}

// Returns true if writers take part in the locking of other programs of C-Blosc2.
bool LocksOthers(const blosc2_io& io) {
  if (io.id != BLOSC2_IO_FILESYSTEM) return false;
  return AsksForLocking(io) || WantsLocking();
}

// Creates the file or directory of a super-chunk without chunks. It holds all layers when it
// appears.
absl::StatusOr<Frame> CreateFrame(const blosc2_schunk& schunk, bool overwrite) {
  const std::string path = PathOf(schunk.storage->urlpath);
  CreateOptions options = CreateOptionsOf(schunk);
  options.layout = schunk.storage->contiguous ? Layout::kContiguous : Layout::kSparse;
  options.fingerprint = FingerprintType::k64Bit;
  options.overwrite = overwrite;
  options.file_system = Files();
  {
    CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, options));
    CAIRN_RETURN_IF_ERROR(StageAll(schunk, writer));
    CAIRN_RETURN_IF_ERROR(writer.Close());
  }
  return OpenFrame(path, 0);
}

// Each edit is committed and leaves a complete frame, which any Blosc2 reads. With
// CAIRN_BLOSC2_JOURNAL=1 the commits are in the journal until the store ends. Thread-safe.
class FileFrame final : public blosc2_frame_s {
 public:
  FileFrame(const blosc2_schunk& schunk, Frame frame, int64_t offset)
      : schunk_(schunk),
        offset_(offset),
        locks_others_(LocksOthers(*schunk.storage->io)),
        reading_lock_(PathOf(schunk.storage->urlpath)),
        frame_(std::move(frame)),
        snapshot_(frame_.snapshot()) {}
  ~FileFrame() override {
    while (depth_ > 0) CodeOf(End());
    // Only Cairn reads the journal, so it must not be left. A forked child does not get the writer,
    // and leaves this to its parent.
    if (has_journal_ && owner_.is_here() && TakeWriter().ok()) {
      CodeOf(writer_->Checkpoint());
      ReclaimUnused();
    }
    std::free(cframe_.data());
  }

  absl::StatusOr<Chunk> Get(int64_t nchunk) override {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<PinnedState> now, Pin(nullptr));
    return now->state.GetChunk(nchunk);
  }
  bool Keeps(int64_t /*nchunk*/, const Chunk& /*chunk*/) const override { return false; }
  absl::StatusOr<std::optional<PinnedState>> Pin(std::optional<FrameChange>* news) override {
    const MutexLock lock(mutex_);
    CAIRN_RETURN_IF_ERROR(FollowFork());
    std::shared_ptr<const void> others;  // but the writer of this handle keeps them out
    if (depth_ == 0 && locks_others_) {
      CAIRN_ASSIGN_OR_RETURN(others, reading_lock_.Hold(kPatience));
    }
    if (news != nullptr && !is_edited_) CAIRN_RETURN_IF_ERROR(TakeNewest(*news));
    CAIRN_RETURN_IF_ERROR(ShowStaged());
    return PinnedState{.state = snapshot_, .lock = std::move(others)};
  }

  absl::Status Insert(int64_t nchunk, Chunk chunk) override {
    return Edit([&](Writer& writer) {
      if (schunk_.nchunks == 0) CAIRN_RETURN_IF_ERROR(TakeChunksize(writer));
      return writer.InsertCompressed(nchunk, chunk.bytes());
    });
  }
  absl::Status Update(int64_t nchunk, Chunk chunk) override {
    return Edit([&](Writer& writer) -> absl::Status {
      if (schunk_.nchunks > 1) return writer.UpdateCompressed(nchunk, chunk.bytes());
      // The program may have set the chunksize. Only a frame without chunks takes another one.
      CAIRN_ASSIGN_OR_RETURN(const Snapshot before, writer.StagedSnapshot());
      if (before.info().chunksize.value_or(0) == schunk_.chunksize) {
        return writer.UpdateCompressed(nchunk, chunk.bytes());
      }
      CAIRN_RETURN_IF_ERROR(writer.DeleteChunks(0, 1));
      CAIRN_RETURN_IF_ERROR(TakeChunksize(writer));
      return writer.InsertCompressed(0, chunk.bytes());
    });
  }
  absl::Status Delete(int64_t nchunk) override {
    return Edit([&](Writer& writer) { return writer.DeleteChunks(nchunk, 1); });
  }
  absl::Status Reorder(std::span<const int64_t> order) override {
    return Edit([&](Writer& writer) { return writer.ReorderChunks(order); });
  }
  absl::Status SetMetalayer(const char* name, const Bytes* content) override {
    if (content == nullptr) return absl::UnimplementedError("metalayers of files stay");
    if (schunk_.nchunks == 0 && !snapshot().GetMetalayer(name).ok()) return Recreate();
    return Edit([&](Writer& writer) {
      CAIRN_RETURN_IF_ERROR(TakeEarlyChunksize(writer));
      return writer.SetMetalayer(name, *content);
    });
  }
  absl::Status SetVlmetalayer(const char* name, const Bytes* content) override {
    return Edit([&](Writer& writer) {
      CAIRN_RETURN_IF_ERROR(TakeEarlyChunksize(writer));
      return content == nullptr ? writer.DeleteVlmetalayer(name)
                                : writer.SetVlmetalayer(name, *content);
    });
  }

  absl::StatusOr<MutableBytes> Cframe() override {
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes cframe, Serialize(schunk_));
    std::free(cframe_.data());
    cframe_ = cframe;
    return cframe_;
  }
  absl::StatusOr<Snapshot> State() override { return snapshot(); }
  absl::StatusOr<int64_t> Length() override {
    const Snapshot now = snapshot();
    return now.info().frame_size + now.info().journal_size;
  }
  void KeepCframe(bool /*keep*/) override {}

  absl::Status Begin() override {
    const MutexLock lock(mutex_);
    CAIRN_RETURN_IF_ERROR(FollowFork());
    if (depth_ == 0) CAIRN_RETURN_IF_ERROR(TakeWriter());
    ++depth_;
    return absl::OkStatus();
  }
  absl::Status End() override {
    const MutexLock lock(mutex_);
    CAIRN_RETURN_IF_ERROR(FollowFork());
    if (depth_ == 0 || --depth_ > 0) return absl::OkStatus();
    return Finish();
  }
  bool on_disk() const override { return true; }

 private:
  Snapshot snapshot() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return snapshot_;
  }

  // Shows readers what is committed now. C-Blosc2 may have overwritten what an older state needs.
  absl::Status TakeNewest(std::optional<FrameChange>& news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    // Nobody else commits while this has the writer, which has read what others did before.
    CAIRN_ASSIGN_OR_RETURN(const Snapshot now, depth_ > 0 ? frame_.snapshot() : frame_.Refresh());
    if (now == snapshot_ && !has_failed_) return absl::OkStatus();
    has_failed_ = false;
    news = {.before = std::exchange(snapshot_, now), .now = now};
    return absl::OkStatus();
  }

  absl::Status TakeWriter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writer_.has_value()) return writer_->Resume(kPatience);
    const blosc2_stdio_mmap* const mapped = MmapOf(*schunk_.storage->io);
    if (mapped != nullptr && ModeOf(*mapped) == MmapMode::kRead) {
      return absl::PermissionDeniedError("file: it is mapped for reading only");
    }
    CAIRN_ASSIGN_OR_RETURN(
        writer_,
        frame_.OpenWriter({.registry = PluginsFor(*schunk_.cctx, schunk_.compcode, schunk_.filters),
                           .wait = kPatience,
                           .opening = Durability::kProcess,
                           .free_shapes = true,
                           .make_lock_file = locks_others_}));
    return absl::OkStatus();
  }

  // Opens the frame in a forked child. The writer with its edits, and the locks of an inherited
  // frame, are those of the parent.
  absl::Status FollowFork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (owner_.is_here()) return absl::OkStatus();
    writer_.reset();
    depth_ = 0;
    is_edited_ = is_staged_ = has_journal_ = false;
    reading_lock_ = ReadingLock(PathOf(schunk_.storage->urlpath));
    CAIRN_ASSIGN_OR_RETURN(frame_, OpenFrame(schunk_.storage->urlpath, offset_));
    owner_ = OwnerProcess();
    return absl::OkStatus();
  }

  absl::Status Edit(absl::FunctionRef<absl::Status(Writer&)> edit) ABSL_LOCKS_EXCLUDED(mutex_) {
    CAIRN_RETURN_IF_ERROR(Begin());
    absl::Status status;
    {
      const MutexLock lock(mutex_);
      status = edit(*writer_);
      is_edited_ = is_edited_ || status.ok();
      if (!is_edited_) writer_->Rollback();
      if (status.ok() && depth_ > 1) is_staged_ = true;
    }
    const absl::Status ended = End();
    return status.ok() ? ended : status;
  }

  // Gives the frame, which has no chunks, the chunksize that the program may have set.
  absl::Status TakeChunksize(Writer& writer) const {
    const int32_t chunksize = schunk_.chunksize;
    return writer.SetChunksize(chunksize == 0 ? ChunkSize::Variable() : ChunkSize(chunksize));
  }

  // Stores the chunksize that the program has set before the first chunk, as C-Blosc2 does in any
  // edit. Programs that open the frame then cut their data into such chunks.
  absl::Status TakeEarlyChunksize(Writer& writer) const {
    if (schunk_.nchunks > 0 || schunk_.chunksize <= 0) return absl::OkStatus();
    return TakeChunksize(writer);
  }

  // Shows readers what is staged.
  absl::Status ShowStaged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!is_staged_) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(snapshot_, writer_->StagedSnapshot());
    is_staged_ = false;
    return absl::OkStatus();
  }

  // Commits what is staged and gives the frame to others.
  absl::Status Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    is_staged_ = false;
    snapshot_ = frame_.snapshot();  // no staged one may be left
    const uint64_t before = snapshot_.info().generation;
    absl::Status status;
    if (is_edited_ && keeps_journal_) {
      status = writer_->Commit(Durability::kProcess).status();
      has_journal_ = has_journal_ || status.ok();
    } else if (is_edited_) {
      status = writer_->Checkpoint();
    }
    if (!status.ok()) {
      writer_->Rollback();
      has_failed_ = true;
    }
    const bool looks = before / kLookEvery != frame_.snapshot().info().generation / kLookEvery;
    if (is_edited_ && status.ok() && looks && !keeps_journal_) ReclaimUnused();
    is_edited_ = false;
    const absl::Status given = GiveWriter();
    return status.ok() ? given : status;
  }

  // Gives bytes back that nothing in the frame needs, if they are more than half of it, or if it is
  // not known how many they are: C-Blosc2 does not say what its edits leave. What readers of old
  // states see stays. Without success the frame stays as it is.
  void ReclaimUnused() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const FrameInfo info = frame_.snapshot().info();
    const int64_t most = info.frame_size / 2;
    const bool is_small = info.frame_size < kLeastLook;
    const bool is_used = info.dead_bytes.has_value() && *info.dead_bytes <= most;
    const bool is_directory = info.layout == Layout::kSparse;
    if (is_directory ? !has_journal_ : is_small || is_used) return;
    const absl::StatusOr<Frame> none = Frame::CreateInMemory();
    if (!none.ok()) return;
    snapshot_ = none->snapshot();  // one of this frame would keep the bytes that it reads
    CodeOf(writer_->Reclaim().status());
    snapshot_ = frame_.snapshot();
  }

  // Gives the frame to others. What they commit from here on is news to the next Refresh.
  absl::Status GiveWriter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    snapshot_ = frame_.snapshot();
    const absl::Status suspended = writer_->Suspend();
    if (!suspended.ok()) writer_.reset();
    // Another thread may still read what was staged. What was edited is committed all the same.
    return absl::IsFailedPrecondition(suspended) ? absl::OkStatus() : suspended;
  }

  // Makes the empty frame again, because a header takes no more metalayers.
  absl::Status Recreate() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    writer_.reset();
    has_journal_ = false;
    // A directory that is open cannot be replaced.
    CAIRN_ASSIGN_OR_RETURN(frame_, Frame::CreateInMemory());
    snapshot_ = frame_.snapshot();
    CAIRN_ASSIGN_OR_RETURN(frame_, CreateFrame(schunk_, true));
    reading_lock_ = ReadingLock(PathOf(schunk_.storage->urlpath));  // the directory is a new one
    snapshot_ = frame_.snapshot();
    is_edited_ = is_staged_ = false;
    return depth_ > 0 ? TakeWriter() : absl::OkStatus();
  }

  const blosc2_schunk& schunk_;
  const int64_t offset_;  // of the frame in its file
  const bool locks_others_;
  mutable Mutex mutex_;
  OwnerProcess owner_ ABSL_GUARDED_BY(mutex_);
  ReadingLock reading_lock_ ABSL_GUARDED_BY(mutex_);
  Frame frame_ ABSL_GUARDED_BY(mutex_);
  Snapshot snapshot_ ABSL_GUARDED_BY(mutex_);
  std::optional<Writer> writer_ ABSL_GUARDED_BY(mutex_);
  const bool keeps_journal_ = WantsJournal();
  int depth_ ABSL_GUARDED_BY(mutex_) = 0;             // of sequences of edits
  bool is_edited_ ABSL_GUARDED_BY(mutex_) = false;    // since the last commit
  bool has_journal_ ABSL_GUARDED_BY(mutex_) = false;  // there are commits after the checkpoint
  bool has_failed_ ABSL_GUARDED_BY(mutex_) = false;   // the fields show an edit that failed
  bool is_staged_ ABSL_GUARDED_BY(mutex_) = false;    // readers do not see the last edits yet
  MutableBytes cframe_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const void>> KeepOthersOut(const std::string& path,
                                                          const blosc2_io& io) {
  if (!LocksOthers(io)) return nullptr;
  return ReadingLock(PathOf(path)).Hold(kPatience);
}

absl::StatusOr<Frame> OpenFrame(const std::string& path, int64_t offset) {
  // A Blosc2 in another process may cut the file at any time, which would kill a mapped reader.
  return Frame::Open(PathOf(path), {.offset = offset, .use_mmap = false, .file_system = Files()});
}

std::unique_ptr<blosc2_frame_s> MakeFileFrame(const blosc2_schunk& schunk, Frame frame,
                                              int64_t offset) {
  return std::make_unique<FileFrame>(schunk, std::move(frame), offset);
}

absl::StatusOr<std::unique_ptr<blosc2_frame_s>> CreateFileFrame(const blosc2_schunk& schunk) {
  const blosc2_stdio_mmap* const mapped = MmapOf(*schunk.storage->io);
  if (mapped != nullptr && ModeOf(*mapped) != MmapMode::kCreate) {
    return absl::InvalidArgumentError("file: a new one is mapped with the mode w+");
  }
  CAIRN_ASSIGN_OR_RETURN(Frame frame, CreateFrame(schunk, false));
  return MakeFileFrame(schunk, std::move(frame), 0);
}

}  // namespace cairn::blosc2_api

#include "engine/collection/held/held_file.h"

#include <algorithm>

#include "cairn/forwarding_file.h"
#include "engine/base/status.h"
#include "engine/format/seal.h"

namespace cairn::collection {

namespace {

class MemberFile : public ForwardingFile {
 public:
  MemberFile(std::unique_ptr<File> file, std::shared_ptr<HeldFile> held)
      : ForwardingFile(std::move(file)), held_(std::move(held)) {}

  absl::StatusOr<int64_t> Size() const override { return held_->Size(base()); }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    return held_->ReadSome(base(), offset, dst);
  }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    CAIRN_ASSIGN_OR_RETURN(const size_t read, ReadSome(offset, dst));
    if (read == dst.size()) return absl::OkStatus();
    return OutOfRange("the file ends %d bytes after byte %d; expected %d", read, offset,
                      dst.size());
  }
  absl::Status WriteAt(int64_t offset, Bytes src) override {
    return held_->WriteAt(base(), offset, src);
  }
  absl::Status Truncate(int64_t size) override { return held_->Truncate(base(), size); }
  absl::Status PunchHole(int64_t offset, int64_t size) override {
    return held_->PunchHole(base(), offset, size);
  }
  absl::Status Sync(SyncMode mode) override { return held_->SyncFile(base(), mode); }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t, int64_t, int64_t) const override {
    return Unimplemented("the file of a member is not mapped by its writer");
  }
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override {
    return held_->IsLocked(base(), offset, count);
  }

 protected:
  const std::shared_ptr<HeldFile>& held() const { return held_; }

 private:
  const std::shared_ptr<HeldFile> held_;
};

// The file that the writer locks and writes. It is the one that HeldFile has open, which saves two
// descriptors for each member.
class WriterFile final : public MemberFile {
 public:
  explicit WriterFile(std::shared_ptr<HeldFile> held) : MemberFile(nullptr, std::move(held)) {}
  WriterFile(const WriterFile&) = delete;
  WriterFile& operator=(const WriterFile&) = delete;
  // The file may stay open for longer than its writer.
  ~WriterFile() override { held()->file().UnlockByte(frame::kWriterLockByte).IgnoreError(); }

 protected:
  File& base() const override { return held()->file(); }
};

class MemberFiles final : public ForwardingFileSystem {
 public:
  MemberFiles(std::shared_ptr<FileSystem> files, std::string path, std::shared_ptr<HeldFile> held)
      : ForwardingFileSystem(std::move(files)), path_(std::move(path)), held_(std::move(held)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    if (path != path_ || mode != FileMode::kReadWrite) {
      return ForwardingFileSystem::Open(path, mode);
    }
    CAIRN_ASSIGN_OR_RETURN(const FileIdentity there, base().Identity(path));
    CAIRN_ASSIGN_OR_RETURN(const FileIdentity ours, held_->file().Identity());
    if (there != ours) return FailedPrecondition("%s was replaced by another file", path);
    return std::make_unique<WriterFile>(held_);
  }

 protected:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file,
                                                 const std::string& path, FileMode) override {
    if (path != path_) return file;
    return std::make_unique<MemberFile>(std::move(file), held_);
  }

 private:
  const std::string path_;
  const std::shared_ptr<HeldFile> held_;
};

}  // namespace

std::shared_ptr<FileSystem> HoldFile(std::shared_ptr<FileSystem> files, std::string path,
                                     std::shared_ptr<HeldFile> held) {
  return std::make_shared<MemberFiles>(std::move(files), std::move(path), std::move(held));
}

void HeldFile::ForgetStaged() {
  const MutexLock lock(mutex_);
  copies_.clear();
  copied_ = 0;
  needs_sync_ = false;
}

absl::Status HeldFile::Hold() {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file_->Size());
  const MutexLock lock(mutex_);
  phase_ = Phase::kHolds;
  held_size_ = size;
  return absl::OkStatus();
}

bool HeldFile::needs_sync() const {
  const MutexLock lock(mutex_);
  return needs_sync_;
}

std::vector<FilePatch> HeldFile::HeldWrites() const {
  std::vector<FilePatch> writes;
  for (const Operation& operation : held_) {
    if (operation.kind == Operation::Kind::kWrite) writes.push_back(operation.patch);
  }
  return writes;
}

std::vector<FilePatch> HeldFile::Patches() const {
  const MutexLock lock(mutex_);
  std::vector<FilePatch> patches = copies_;
  std::ranges::move(HeldWrites(), std::back_inserter(patches));
  return patches;
}

absl::Status HeldFile::Do(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::kWrite:
      return file_->WriteAt(operation.patch.offset, operation.patch.bytes);
    case Operation::Kind::kTruncate:
      return file_->Truncate(operation.size);
    case Operation::Kind::kPunchHole:
      return file_->PunchHole(operation.offset, operation.size);
    case Operation::Kind::kSync:
      return file_->Sync(SyncMode::kAll);
  }
  return absl::OkStatus();
}

absl::Status HeldFile::Release() {
  {
    const MutexLock lock(mutex_);
    is_written_ = true;
    for (const Operation& operation : held_) CAIRN_RETURN_IF_ERROR(Do(operation));
    held_.clear();
    phase_ = Phase::kStages;
  }
  ForgetStaged();
  return absl::OkStatus();
}

absl::Status HeldFile::Sync() { return SyncNow(*file_, SyncMode::kData); }

absl::Status HeldFile::SyncIfWritten() {
  {
    const MutexLock lock(mutex_);
    if (!is_written_) return absl::OkStatus();
  }
  return Sync();
}

// A write during the sync may be left out.
absl::Status HeldFile::SyncNow(File& base, SyncMode mode) {
  {
    const MutexLock lock(mutex_);
    is_written_ = false;
  }
  absl::Status synced = base.Sync(mode);
  if (synced.ok()) return synced;
  const MutexLock lock(mutex_);
  is_written_ = true;
  return synced;
}

void HeldFile::Abandon() {
  const MutexLock lock(mutex_);
  phase_ = Phase::kIsAbandoned;
  held_.clear();
}

absl::StatusOr<int64_t> HeldFile::Size(const File& base) const {
  {
    const MutexLock lock(mutex_);
    if (phase_ == Phase::kHolds) return held_size_;
  }
  return base.Size();
}

absl::StatusOr<size_t> HeldFile::ReadSome(const File& base, int64_t offset,
                                          MutableBytes dst) const {
  std::vector<FilePatch> patches;
  int64_t size = 0;
  {
    const MutexLock lock(mutex_);
    if (phase_ == Phase::kHolds) patches = HeldWrites();
    size = held_size_;
  }
  if (patches.empty()) return base.ReadSome(offset, dst);
  return ReadPatched(base, size, patches, offset, dst);
}

absl::Status HeldFile::WriteAt(File& base, int64_t offset, Bytes src) {
  {
    const MutexLock lock(mutex_);
    if (phase_ == Phase::kIsAbandoned) return absl::OkStatus();
    is_written_ = true;
    FilePatch patch{.offset = offset, .bytes = {}};
    const bool fits = phase_ == Phase::kHolds || copied_ + src.size() <= kMaxCopied;
    if (fits) patch.bytes.assign(src.begin(), src.end());
    if (phase_ == Phase::kHolds) {
      held_size_ = std::max(held_size_, patch.end());
      held_.push_back({.patch = std::move(patch)});
      return absl::OkStatus();
    }
    if (fits && !needs_sync_) {
      copied_ += src.size();
      copies_.push_back(std::move(patch));
    } else {
      needs_sync_ = true;
      copies_.clear();
    }
  }
  return base.WriteAt(offset, src);
}

absl::Status HeldFile::Truncate(File& base, int64_t size) {
  {
    const MutexLock lock(mutex_);
    if (phase_ == Phase::kIsAbandoned) return absl::OkStatus();
    if (phase_ == Phase::kHolds) {
      held_size_ = size;
      held_.push_back({.kind = Operation::Kind::kTruncate, .size = size});
      return absl::OkStatus();
    }
  }
  return base.Truncate(size);
}

absl::Status HeldFile::PunchHole(File& base, int64_t offset, int64_t size) {
  {
    const MutexLock lock(mutex_);
    if (phase_ == Phase::kIsAbandoned) return absl::OkStatus();
    if (phase_ == Phase::kHolds) {
      held_.push_back({.kind = Operation::Kind::kPunchHole, .offset = offset, .size = size});
      return absl::OkStatus();
    }
  }
  return base.PunchHole(offset, size);
}

// A sync is held back with the writes before it. If there are none, it must be done at once: what
// the writer holds back next may say that the bytes before it are durable.
absl::Status HeldFile::SyncFile(File& base, SyncMode mode) {
  {
    const MutexLock lock(mutex_);
    if (phase_ == Phase::kIsAbandoned) return absl::OkStatus();
    if (phase_ == Phase::kHolds && !held_.empty()) {
      held_.push_back({.kind = Operation::Kind::kSync});
      return absl::OkStatus();
    }
  }
  return SyncNow(base, mode);
}

absl::StatusOr<bool> HeldFile::IsLocked(const File& base, int64_t offset, int64_t count) const {
  // The ranges are those of readers of generations [born, died), or of all newer ones.
  const int64_t end = offset + count - frame::ReaderLockByte(0);
  const bool is_of_readers =
      offset >= frame::ReaderLockByte(0) && end <= static_cast<int64_t>(format::kMaxGeneration);
  if (is_of_readers && retention_ != nullptr && retention_->IsNeeded(static_cast<uint64_t>(end)))
    return true;
  return base.IsLocked(offset, count);
}

}  // namespace cairn::collection

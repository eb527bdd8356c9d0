#include "tests/support/fault_file_system.h"

#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"

namespace cairn::test {

using Kind = Operation::Kind;

namespace {

class FaultFile final : public ForwardingFile {
 public:
  FaultFile(FaultyDisk* disk, std::unique_ptr<File> base, std::string path, FileIdentity id)
      : ForwardingFile(std::move(base)), disk_(disk), path_(std::move(path)), id_(id) {}

  absl::Status WriteAt(int64_t offset, Bytes src) override {
    return disk_->Do({.kind = Kind::kWrite,
                      .path = path_,
                      .file = id_,
                      .offset = offset,
                      .bytes = ToVector(src)},
                     [&](Operation& write) { return base().WriteAt(write.offset, write.bytes); });
  }
  absl::Status Truncate(int64_t size) override {
    return disk_->Do({.kind = Kind::kTruncate, .path = path_, .file = id_, .offset = size},
                     [&](Operation&) { return base().Truncate(size); });
  }
  absl::Status Reserve(int64_t size) override {
    return disk_->Do({.kind = Kind::kReserve, .path = path_, .file = id_, .offset = size},
                     [&](Operation&) { return base().Reserve(size); });
  }
  absl::Status Allocate(int64_t offset, int64_t size) override {
    return disk_->Do(
        {.kind = Kind::kAllocate, .path = path_, .file = id_, .offset = offset, .size = size},
        [&](Operation&) { return base().Allocate(offset, size); });
  }
  absl::Status PunchHole(int64_t offset, int64_t size) override {
    return disk_->Do(
        {.kind = Kind::kPunchHole, .path = path_, .file = id_, .offset = offset, .size = size},
        [&](Operation&) { return base().PunchHole(offset, size); });
  }
  absl::Status Sync(SyncMode mode) override {
    return disk_->Do({.kind = Kind::kSync, .path = path_, .file = id_, .sync_mode = mode},
                     [&](Operation&) { return base().Sync(mode); });
  }

 private:
  FaultyDisk* const disk_;
  const std::string path_;
  const FileIdentity id_;
};

}  // namespace

void FaultyDisk::Inject(Fault fault) {
  const std::lock_guard lock(mutex_);
  fault_ = std::move(fault);
}

void FaultyDisk::Heal() {
  const std::lock_guard lock(mutex_);
  fault_.reset();
}

int64_t FaultyDisk::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

void FaultyDisk::StartLog() {
  const std::lock_guard lock(mutex_);
  logging_ = true;
  log_.clear();
}

std::vector<Operation> FaultyDisk::TakeLog() {
  const std::lock_guard lock(mutex_);
  return std::exchange(log_, {});
}

absl::Status FaultyDisk::Do(Operation operation, Run run) {
  const std::lock_guard lock(mutex_);
  ++operations_;
  if (!fault_.has_value()) return RunAndLog(std::move(operation), run);
  if (fault_->after > 0) {
    --fault_->after;
    return RunAndLog(std::move(operation), run);
  }
  const absl::Status failure = AtPath(operation.path, fault_->status);
  if (fault_->short_write && operation.kind == Kind::kWrite) {
    operation.bytes.resize(operation.bytes.size() / 2);
    RunAndLog(std::move(operation), run).IgnoreError();
  }
  if (fault_->disk_gone) {
    fault_->short_write = false;
  } else {
    fault_.reset();
  }
  return failure;
}

absl::Status FaultyDisk::RunAndLog(Operation operation, Run run) {
  CAIRN_RETURN_IF_ERROR(run(operation));
  if (logging_) log_.push_back(std::move(operation));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<File>> FaultyFiles::Open(const std::string& path, FileMode mode) {
  const auto open = [&] { return ForwardingFileSystem::Open(path, mode); };
  return mode == FileMode::kCreateNew ? Create(path, open) : open();
}

absl::StatusOr<std::unique_ptr<File>> FaultyFiles::CreateFor(const std::string& path,
                                                             const std::string& old) {
  return Create(path, [&] { return ForwardingFileSystem::CreateFor(path, old); });
}

absl::StatusOr<std::unique_ptr<File>> FaultyFiles::Create(const std::string& path, OpenFile open) {
  std::unique_ptr<File> file;
  CAIRN_RETURN_IF_ERROR(disk_->Do({.kind = Kind::kCreate, .path = Logged(path)},
                                  [&](Operation& create) -> absl::Status {
                                    CAIRN_ASSIGN_OR_RETURN(file, open());
                                    CAIRN_ASSIGN_OR_RETURN(create.file, file->Identity());
                                    return absl::OkStatus();
                                  }));
  return file;
}

absl::StatusOr<std::unique_ptr<File>> FaultyFiles::WrapFile(std::unique_ptr<File> file,
                                                            const std::string& path, FileMode) {
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity id, file->Identity());
  return std::make_unique<FaultFile>(disk_, std::move(file), Logged(path), id);
}

std::shared_ptr<FileSystem> FaultyFiles::WrapDirectory(std::shared_ptr<FileSystem> directory,
                                                       const std::string& path) {
  return std::make_shared<FaultyFiles>(disk_, std::move(directory), Logged(path));
}

absl::Status FaultyFiles::Rename(const std::string& from, const std::string& to, bool replace) {
  return disk_->Do(
      {.kind = Kind::kRename, .path = Logged(from), .to = Logged(to), .replace = replace},
      [&](Operation&) { return ForwardingFileSystem::Rename(from, to, replace); });
}

absl::Status FaultyFiles::Remove(const std::string& path) {
  return disk_->Do({.kind = Kind::kRemove, .path = Logged(path)},
                   [&](Operation&) { return ForwardingFileSystem::Remove(path); });
}

absl::Status FaultyFiles::SyncDirectoryOf(const std::string& path) {
  return disk_->Do({.kind = Kind::kSyncDirectory, .path = Logged(path)},
                   [&](Operation&) { return ForwardingFileSystem::SyncDirectoryOf(path); });
}

absl::Status FaultyFiles::MakeDirectory(const std::string& path) {
  return disk_->Do({.kind = Kind::kMakeDirectory, .path = Logged(path)},
                   [&](Operation&) { return ForwardingFileSystem::MakeDirectory(path); });
}

absl::Status FaultyFiles::MakeDirectoryFor(const std::string& path, const std::string& old) {
  return disk_->Do({.kind = Kind::kMakeDirectory, .path = Logged(path)},
                   [&](Operation&) { return ForwardingFileSystem::MakeDirectoryFor(path, old); });
}

absl::Status FaultyFiles::RemoveDirectory(const std::string& path) {
  return disk_->Do({.kind = Kind::kRemoveDirectory, .path = Logged(path)},
                   [&](Operation&) { return ForwardingFileSystem::RemoveDirectory(path); });
}

absl::Status FaultyFiles::Exchange(const std::string& a, const std::string& b) {
  return disk_->Do({.kind = Kind::kExchange, .path = Logged(a), .to = Logged(b)},
                   [&](Operation&) { return ForwardingFileSystem::Exchange(a, b); });
}

std::string FaultyFiles::Logged(const std::string& path) const {
  return directory_.empty() ? path : directory_ + "/" + path;
}

}  // namespace cairn::test

#include "tests/support/fault_file_system.h"

#include <chrono>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"

namespace cairn::test {

using Kind = Operation::Kind;

namespace {

class FaultFile final : public File {
 public:
  FaultFile(FaultyDisk* disk, std::unique_ptr<File> base, std::string path, FileIdentity id)
      : disk_(disk), base_(std::move(base)), path_(std::move(path)), id_(id) {}

  absl::StatusOr<int64_t> Size() const override { return base_->Size(); }
  absl::StatusOr<int64_t> AllocatedSize() const override { return base_->AllocatedSize(); }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    return base_->ReadAt(offset, dst);
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    return base_->ReadSome(offset, dst);
  }
  absl::Status WriteAt(int64_t offset, Bytes src) override {
    return disk_->Do({.kind = Kind::kWrite,
                      .path = path_,
                      .file = id_,
                      .offset = offset,
                      .bytes = ToVector(src)},
                     [&](Operation& write) { return base_->WriteAt(write.offset, write.bytes); });
  }
  absl::Status Truncate(int64_t size) override {
    return disk_->Do({.kind = Kind::kTruncate, .path = path_, .file = id_, .offset = size},
                     [&](Operation&) { return base_->Truncate(size); });
  }
  absl::Status Reserve(int64_t size) override {
    return disk_->Do({.kind = Kind::kReserve, .path = path_, .file = id_, .offset = size},
                     [&](Operation&) { return base_->Reserve(size); });
  }
  absl::Status ReservePastEnd(int64_t size) override {
    return disk_->Do({.kind = Kind::kReservePastEnd, .path = path_, .file = id_, .offset = size},
                     [&](Operation&) { return base_->ReservePastEnd(size); });
  }
  absl::Status PunchHole(int64_t offset, int64_t size) override {
    return disk_->Do(
        {.kind = Kind::kPunchHole, .path = path_, .file = id_, .offset = offset, .size = size},
        [&](Operation&) { return base_->PunchHole(offset, size); });
  }
  absl::Status Sync(SyncMode mode) override {
    return disk_->Do({.kind = Kind::kSync, .path = path_, .file = id_, .sync_mode = mode},
                     [&](Operation&) { return base_->Sync(mode); });
  }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override {
    return base_->Map(offset, size, room);
  }
  absl::StatusOr<FileIdentity> Identity() const override { return base_->Identity(); }
  absl::Status LockByte(int64_t offset, LockMode mode) override {
    return base_->LockByte(offset, mode);
  }
  absl::Status WaitForByte(int64_t offset, std::chrono::milliseconds timeout) override {
    return base_->WaitForByte(offset, timeout);
  }
  absl::StatusOr<bool> HasWaiters(int64_t offset) const override {
    return base_->HasWaiters(offset);
  }
  absl::Status UnlockByte(int64_t offset) override { return base_->UnlockByte(offset); }
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override {
    return base_->IsLocked(offset, count);
  }
  absl::Status LockWhole() override { return base_->LockWhole(); }

 private:
  FaultyDisk* const disk_;
  const std::unique_ptr<File> base_;
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
  std::unique_ptr<File> file;
  FileIdentity id;
  const auto open = [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(file, base_->Open(path, mode));
    CAIRN_ASSIGN_OR_RETURN(id, file->Identity());
    return absl::OkStatus();
  };
  if (mode == FileMode::kCreateNew) {
    CAIRN_RETURN_IF_ERROR(disk_->Do({.kind = Kind::kCreate, .path = Logged(path)},
                                    [&](Operation& create) -> absl::Status {
                                      CAIRN_RETURN_IF_ERROR(open());
                                      create.file = id;
                                      return absl::OkStatus();
                                    }));
  } else {
    CAIRN_RETURN_IF_ERROR(open());
  }
  return std::make_unique<FaultFile>(disk_, std::move(file), Logged(path), id);
}

absl::Status FaultyFiles::Rename(const std::string& from, const std::string& to, bool replace) {
  return disk_->Do(
      {.kind = Kind::kRename, .path = Logged(from), .to = Logged(to), .replace = replace},
      [&](Operation&) { return base_->Rename(from, to, replace); });
}

absl::Status FaultyFiles::Remove(const std::string& path) {
  return disk_->Do({.kind = Kind::kRemove, .path = Logged(path)},
                   [&](Operation&) { return base_->Remove(path); });
}

absl::Status FaultyFiles::SyncDirectoryOf(const std::string& path) {
  return disk_->Do({.kind = Kind::kSyncDirectory, .path = Logged(path)},
                   [&](Operation&) { return base_->SyncDirectoryOf(path); });
}

absl::StatusOr<std::shared_ptr<FileSystem>> FaultyFiles::OpenDirectory(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<FileSystem> directory, base_->OpenDirectory(path));
  return std::make_shared<FaultyFiles>(disk_, std::move(directory), Logged(path));
}

absl::Status FaultyFiles::MakeDirectory(const std::string& path) {
  return disk_->Do({.kind = Kind::kMakeDirectory, .path = Logged(path)},
                   [&](Operation&) { return base_->MakeDirectory(path); });
}

absl::Status FaultyFiles::RemoveDirectory(const std::string& path) {
  return disk_->Do({.kind = Kind::kRemoveDirectory, .path = Logged(path)},
                   [&](Operation&) { return base_->RemoveDirectory(path); });
}

absl::StatusOr<std::vector<std::string>> FaultyFiles::List(const std::string& path) {
  return base_->List(path);
}

absl::Status FaultyFiles::Exchange(const std::string& a, const std::string& b) {
  return disk_->Do({.kind = Kind::kExchange, .path = Logged(a), .to = Logged(b)},
                   [&](Operation&) { return base_->Exchange(a, b); });
}

absl::StatusOr<FileIdentity> FaultyFiles::Identity(const std::string& path) {
  return base_->Identity(path);
}

std::string FaultyFiles::Logged(const std::string& path) const {
  return directory_.empty() ? path : directory_ + "/" + path;
}

}  // namespace cairn::test

// Shows an object as a file.
#ifndef CAIRN_ENGINE_OBJECT_OBJECT_FILE_H_
#define CAIRN_ENGINE_OBJECT_OBJECT_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/object/object_fetcher.h"

namespace cairn::object {

// Returns an identity made of name and etag.
FileIdentity IdentityOf(const ObjectInfo& info);

// The content that an object had when it was opened. Bytes of another content are never given.
// Errors: kAborted if bytes are needed that are not kept, and the object was replaced or removed.
class ObjectFile final : public File {
 public:
  ObjectFile(std::shared_ptr<ObjectFetcher> fetcher, ObjectPtr object)
      : fetcher_(std::move(fetcher)), object_(std::move(object)) {}

  absl::StatusOr<int64_t> Size() const override { return object_->info.size; }
  absl::StatusOr<int64_t> AllocatedSize() const override { return object_->info.size; }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override;
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    return fetcher_->Read(object_, offset, dst);
  }
  int64_t read_ahead() const override { return fetcher_->read_ahead(); }
  void WillRead(std::span<const FileRange> ranges) const override {
    fetcher_->WillRead(object_, ranges);
  }
  bool is_immutable() const override { return true; }
  // Returns kUnimplemented, like all that follow, because an object is not written in place.
  absl::Status WriteAt(int64_t offset, Bytes src) override;
  absl::Status Truncate(int64_t size) override;
  absl::Status Reserve(int64_t size) override;
  absl::Status PunchHole(int64_t offset, int64_t size) override;
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override;
  // Bytes that a store has acknowledged are durable.
  absl::Status Sync(SyncMode /*mode*/) override { return absl::OkStatus(); }
  absl::StatusOr<FileIdentity> Identity() const override { return IdentityOf(object_->info); }
  // Objects have no locks, because nothing changes them that a reader could be kept from.
  absl::Status LockByte(int64_t /*offset*/, LockMode /*mode*/) override { return absl::OkStatus(); }
  absl::Status UnlockByte(int64_t /*offset*/) override { return absl::OkStatus(); }
  absl::StatusOr<bool> IsLocked(int64_t /*offset*/, int64_t /*count*/) const override {
    return false;
  }
  absl::Status LockWhole() override { return absl::OkStatus(); }
  // A store does not report changes, so the watch only waits, and its user looks again after each
  // wait.
  absl::StatusOr<std::unique_ptr<FileWatch>> Watch() const override;

 private:
  absl::Status IsReadOnly() const;

  const std::shared_ptr<ObjectFetcher> fetcher_;
  const ObjectPtr object_;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_OBJECT_FILE_H_

#include "engine/object/object_file.h"

#include <thread>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/storage/errors.h"

namespace cairn::object {

namespace {

class Pause final : public FileWatch {
 public:
  absl::StatusOr<FileEvent> Wait(std::chrono::milliseconds timeout) override {
    std::this_thread::sleep_for(timeout);
    return FileEvent::kNone;
  }
};

}  // namespace

FileIdentity IdentityOf(const ObjectInfo& info) {
  return {.device = Xxh3(AsBytes(info.name)), .inode = Xxh3(AsBytes(info.etag))};
}

absl::Status ObjectFile::ReadAt(int64_t offset, MutableBytes dst) const {
  CAIRN_ASSIGN_OR_RETURN(const size_t got, ReadSome(offset, dst));
  if (got == dst.size()) return absl::OkStatus();
  return storage::PastEnd(object_->info.name, offset, std::ssize(dst), object_->info.size);
}

absl::Status ObjectFile::IsReadOnly() const {
  return AtPath(object_->info.name,
                absl::UnimplementedError("an object is not written in place, nor mapped"));
}

absl::Status ObjectFile::WriteAt(int64_t /*offset*/, Bytes /*src*/) { return IsReadOnly(); }

absl::Status ObjectFile::Truncate(int64_t /*size*/) { return IsReadOnly(); }

absl::Status ObjectFile::Reserve(int64_t /*size*/) { return IsReadOnly(); }

absl::Status ObjectFile::PunchHole(int64_t /*offset*/, int64_t /*size*/) { return IsReadOnly(); }

absl::StatusOr<std::shared_ptr<const Mapping>> ObjectFile::Map(int64_t /*offset*/, int64_t /*size*/,
                                                               int64_t /*room*/) const {
  return IsReadOnly();
}

absl::StatusOr<std::unique_ptr<FileWatch>> ObjectFile::Watch() const {
  return std::make_unique<Pause>();
}

}  // namespace cairn::object

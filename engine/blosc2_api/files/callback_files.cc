#include "engine/blosc2_api/files/callback_files.h"

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"

namespace cairn::blosc2_api {

namespace {

// An open file of the program's functions.
class Stream {
 public:
  static absl::StatusOr<Stream> Open(const std::string& path, const char* mode,
                                     const blosc2_io& io) {
    const blosc2_io_cb* const functions = blosc2_get_io_cb(io.id);
    if (functions == nullptr) return NotFound("I/O id %d is not registered", int{io.id});
    void* const stream = functions->open(path.c_str(), mode, io.params);
    if (stream == nullptr) return NotFound("%s: I/O id %d did not open it", path, int{io.id});
    return Stream(*functions, stream);
  }
  Stream(Stream&& other) noexcept
      : functions_(other.functions_), stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream() {
    if (stream_ != nullptr) functions_.close(stream_);
  }

  // Returns all bytes from `offset` on, in memory to free.
  absl::StatusOr<MutableBytes> ReadFrom(int64_t offset) const {
    const int64_t end = functions_.size(stream_);
    if (offset < 0 || end <= offset) {
      return InvalidArgument("I/O: offset %d of a file of %d bytes", offset, end);
    }
    const int64_t size = end - offset;
    void* const memory = std::malloc(static_cast<size_t>(size));
    if (memory == nullptr) return ResourceExhausted("I/O: no memory for %d bytes", size);
    const MutableBytes bytes = MutableBytesAt(memory, size);
    void* given = functions_.is_allocation_necessary ? memory : nullptr;
    const int64_t read = functions_.read(&given, 1, size, offset, stream_);
    if (read == size && given != nullptr && given != memory) CopyBytes(BytesAt(given, size), bytes);
    if (read == size && given != nullptr) return bytes;
    std::free(memory);
    return DataLoss("I/O: read %d bytes of %d", read, size);
  }

  absl::Status WriteAll(Bytes bytes) const {
    const int64_t size = std::ssize(bytes);
    if (functions_.write(bytes.data(), 1, size, 0, stream_) != size ||
        functions_.truncate(stream_, size) != 0) {
      return absl::InternalError(absl::StrFormat("I/O: %d bytes were not written", size));
    }
    return absl::OkStatus();
  }

 private:
  Stream(const blosc2_io_cb& functions, void* stream) : functions_(functions), stream_(stream) {}

  const blosc2_io_cb functions_;
  void* stream_;
};

// The files of a directory. Each is copied into memory when it is opened for the first time.
class CopiedFiles final : public FileSystem {
 public:
  CopiedFiles(std::string folder, const blosc2_io& io, std::shared_ptr<FileSystem> memory)
      : folder_(std::move(folder)), io_(io), memory_(std::move(memory)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    if (mode != FileMode::kRead) return FailedPrecondition("%s is open for reading only", path);
    if (!memory_->Identity(path).ok()) CAIRN_RETURN_IF_ERROR(Copy(path));
    return memory_->Open(path, mode);
  }
  absl::Status Rename(const std::string& /*from*/, const std::string& /*to*/,
                      bool /*replace*/) override {
    return absl::UnimplementedError("I/O: files keep their names");
  }
  absl::Status Remove(const std::string& /*path*/) override {
    return absl::UnimplementedError("I/O: files are not removed");
  }
  absl::Status SyncDirectoryOf(const std::string& /*path*/) override { return absl::OkStatus(); }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    return memory_->Identity(path);
  }

 private:
  absl::Status Copy(const std::string& path) {
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes content, ReadFile(folder_ + "/" + path, io_, 0));
    absl::StatusOr<std::unique_ptr<File>> file = memory_->Open(path, FileMode::kCreateNew);
    const absl::Status written = file.ok() ? (*file)->WriteAt(0, content) : file.status();
    std::free(content.data());
    return written;
  }

  const std::string folder_;
  const blosc2_io& io_;
  const std::shared_ptr<FileSystem> memory_;
};

// A directory that has nothing beside it.
class Folder final : public FileSystem {
 public:
  Folder(std::string name, std::shared_ptr<FileSystem> files)
      : name_(std::move(name)), files_(std::move(files)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    if (!IsInside(path)) return absl::NotFoundError(path);
    return files_->Open(path.substr(name_.size() + 1), mode);
  }
  absl::Status Rename(const std::string& from, const std::string& to, bool /*replace*/) override {
    if (from != name_) return absl::NotFoundError(from);
    name_ = to;
    return absl::OkStatus();
  }
  absl::Status Remove(const std::string& path) override { return absl::NotFoundError(path); }
  absl::Status SyncDirectoryOf(const std::string& /*path*/) override { return absl::OkStatus(); }
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    if (path != name_) return absl::NotFoundError(path);
    return files_;
  }
  absl::Status MakeDirectory(const std::string& path) override {
    name_ = path;
    return absl::OkStatus();
  }
  absl::Status MakeDirectoryFor(const std::string& path, const std::string& /*old*/) override {
    return MakeDirectory(path);
  }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    if (IsInside(path)) return files_->Identity(path.substr(name_.size() + 1));
    if (path != name_) return absl::NotFoundError(path);
    return FileIdentity{.device = UINT64_MAX, .inode = reinterpret_cast<uintptr_t>(this)};
  }

 private:
  bool IsInside(const std::string& path) const { return path.starts_with(name_ + "/"); }

  std::string name_;
  const std::shared_ptr<FileSystem> files_;
};

}  // namespace

absl::StatusOr<MutableBytes> ReadFile(const std::string& path, const blosc2_io& io,
                                      int64_t offset) {
  CAIRN_ASSIGN_OR_RETURN(const Stream stream, Stream::Open(path, "rb", io));
  return stream.ReadFrom(offset);
}

absl::Status WriteFile(const std::string& path, const blosc2_io& io, Bytes content) {
  CAIRN_ASSIGN_OR_RETURN(const Stream stream, Stream::Open(path, "wb", io));
  return stream.WriteAll(content);
}

std::shared_ptr<FileSystem> MakeCopiedFolder(const std::string& path, const blosc2_io& io,
                                             std::shared_ptr<FileSystem> memory) {
  return std::make_shared<Folder>(path, std::make_shared<CopiedFiles>(path, io, std::move(memory)));
}

std::shared_ptr<FileSystem> MakeFolder(std::shared_ptr<FileSystem> files) {
  return std::make_shared<Folder>("", std::move(files));
}

}  // namespace cairn::blosc2_api

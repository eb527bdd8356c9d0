// The open file of a frame, and views of its committed bytes, read in place or by copy.
#ifndef CAIRN_ENGINE_FRAME_FILES_FRAME_FILE_H_
#define CAIRN_ENGINE_FRAME_FILES_FRAME_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/file_system.h"
#include "cairn/types.h"
#include "engine/base/scratch_buffer.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::frame {

// Shows bytes [0, size) counted from the start of the frame. They do not change any more, except
// for the header, which states copy. Cheap to copy, thread-safe. Keeps the mapping or the file
// alive.
class FrameView {
 public:
  FrameView() = default;
  // Makes a view of a frame that begins at `origin` of the file. With a mapping it is in place. The
  // mapping begins there too, and shows `size` bytes or more.
  FrameView(std::shared_ptr<const File> file, int64_t origin, int64_t size,
            std::shared_ptr<const Mapping> mapping = nullptr)
      : mapping_(std::move(mapping)),
        in_place_(mapping_ != nullptr ? mapping_->bytes() : Bytes()),
        file_(std::move(file)),
        origin_(origin),
        size_(size),
        owner_(mapping_) {}

  int64_t size() const { return size_; }
  bool in_place() const { return mapping_ != nullptr; }
  // Returns true if later writes to the file are seen in place.
  bool follows_file() const { return mapping_ != nullptr && mapping_->follows_file(); }

  // Returns true if the file is seen to hold a zero at `position`, at or before size(). Looks only
  // if that costs no system call and the page cannot have been cut away.
  bool PeekIsZero(int64_t position) const;

  // Returns true if the file is seen to hold other bytes than these at `position`. The view must be
  // in place, and hold all of them.
  bool SeesOther(int64_t position, Bytes bytes) const;

  // Returns a view of these bytes by copy.
  FrameView Unmapped() const { return FrameView(file_, origin_, size_); }
  // Returns a view of more bytes of this file, or nothing if the mapping does not reach that far.
  std::optional<FrameView> Resized(int64_t size) const;
  // Ties `owner` to this view: every Chunk pinned from now on keeps it alive.
  void Retain(std::shared_ptr<const void> owner);
  const std::shared_ptr<const void>& retained() const { return retained_; }

  // See File. Returns 0 for a view in place.
  int64_t read_ahead() const { return in_place() || file_ == nullptr ? 0 : file_->read_ahead(); }
  void WillRead(std::span<FileRange> ranges) const;
  // Reads all bytes from `begin` on at once, and keeps them. For a view that is not in place.
  absl::Status LoadEnd(int64_t begin);
  // Takes the last bytes from memory. A view in place does not need them.
  void KnowEnd(Chunk end);

  // Returns bytes [offset, offset + size), in place or in `scratch`. Errors: kDataLoss if they lie
  // outside the view.
  absl::StatusOr<Bytes> Read(int64_t offset, int64_t size, ScratchBuffer& scratch) const;
  // Reads bytes [offset, offset + dst.size()) into dst, with the same errors.
  absl::Status ReadInto(int64_t offset, MutableBytes dst) const;
  // Returns bytes [offset, offset + size) with an owner, which keeps them as long as the caller
  // likes.
  absl::StatusOr<Chunk> Pin(int64_t offset, int64_t size) const;

 private:
  absl::Status Check(int64_t offset, int64_t size) const;
  // Returns a part of the bytes that LoadEnd has read, or nothing if it has not read all of it.
  Bytes Loaded(int64_t offset, int64_t size) const;
  Bytes Mapped(int64_t offset, int64_t size) const {
    return in_place_.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  // Reads the file. Errors: kDataLoss if the file has become shorter.
  absl::Status Copy(int64_t offset, MutableBytes dst) const;

  std::shared_ptr<const Mapping> mapping_;  // may be null
  Bytes in_place_;                          // the bytes of the mapping
  std::shared_ptr<const File> file_;
  int64_t origin_ = 0;
  int64_t size_ = 0;
  Chunk end_;  // the last bytes, if they were loaded
  int64_t end_begin_ = 0;
  std::shared_ptr<const void> retained_;
  // of pinned bytes in place: the mapping and the retained owners
  std::shared_ptr<const void> owner_;
};

// A file, and the place in it where the frame begins. Positions count from there. Cheap to copy,
// thread-safe.
class FrameFile {
 public:
  FrameFile() = default;  // leads to no file
  // Makes the file of a frame. `directory` is that of a sparse frame, whose index is `file`.
  static FrameFile OfFile(const std::shared_ptr<File>& file, int64_t origin, bool use_mmap,
                          std::shared_ptr<FileSystem> directory = nullptr);

  // Returns the number of bytes from the start of the frame to the end of the file. Errors:
  // kOutOfRange if the frame begins after that end.
  absl::StatusOr<int64_t> Size() const;
  absl::Status ReadAt(int64_t position, MutableBytes dst) const {
    return file_->ReadAt(origin_ + position, dst);
  }
  // Reads as many of the bytes as there are, and returns their number.
  absl::StatusOr<size_t> ReadSome(int64_t position, MutableBytes dst) const {
    return file_->ReadSome(origin_ + position, dst);
  }
  // Returns a view of the first `size` bytes of the frame. They are copied if the file cannot be
  // mapped.
  absl::StatusOr<FrameView> View(int64_t size) const { return View(size, 0); }
  // Returns a view of a frame that has grown since `before` was viewed, and will continue to grow.
  absl::StatusOr<FrameView> ViewMore(const FrameView& before, int64_t size) const;

  // While the result lives, no writer reclaims the bytes that the checkpoint of this generation
  // needs. Errors: kUnavailable if the lock cannot be had.
  absl::StatusOr<std::shared_ptr<const void>> Register(uint64_t generation) const {
    return ReaderLocks::Hold(readers_, ReaderLockByte(generation));
  }
  // While the result lives, no writer makes the file shorter. Errors: kUnavailable if the lock
  // cannot be had.
  absl::StatusOr<std::shared_ptr<const void>> KeepSize() const {
    return ReaderLocks::Hold(readers_, kLoadingLockByte);
  }

  // Returns the number by which receipts of this file name a boot of the machine, or 0 for 0.
  // Receipts in a copy of the file name no known boot, because the page cache and the disk may hold
  // less of the copy than of the file.
  uint64_t BootHere(uint64_t boot) const;

  int64_t origin() const { return origin_; }
  std::shared_ptr<const File> file() const { return file_; }
  // Makes the content of the file durable.
  absl::Status Sync() const { return file_->Sync(SyncMode::kAll); }
  // Returns null unless this is a sparse frame.
  const std::shared_ptr<FileSystem>& directory() const { return directory_; }
  // Returns nothing if there is no file, or if the file system does not tell.
  const std::optional<FileIdentity>& identity() const { return identity_; }

 private:
  absl::StatusOr<FrameView> View(int64_t size, int64_t headroom) const;

  std::shared_ptr<File> file_;
  std::shared_ptr<ReaderLocks> readers_;
  std::shared_ptr<FileSystem> directory_;
  std::optional<FileIdentity> identity_;
  int64_t origin_ = 0;
  bool use_mmap_ = true;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_FRAME_FILE_H_

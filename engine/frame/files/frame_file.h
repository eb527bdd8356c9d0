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

// Bytes [0, size) counted from the start of the frame; they do not change any more but for the
// header, of which states keep a copy of their own. Cheap to copy, thread-safe, keeps map or file
// alive.
class FrameView {
 public:
  FrameView() = default;
  // The frame begins at `origin` of the file. In place if there is a mapping: it begins there too,
  // and shows `size` bytes or more.
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
  // Whether what is written to the file later is seen in place.
  bool follows_file() const { return mapping_ != nullptr && mapping_->follows_file(); }
  // The frame's size in its header as it is now, read as one word. The view is in place and begins
  // at the start of a page.
  int64_t LoadFrameSize() const;

  // Whether the file is seen to hold a zero at `position`, at or before size(). Looks only where
  // that costs no system call and the page cannot have been cut away.
  bool PeekIsZero(int64_t position) const;

  // The same bytes by copy.
  FrameView Unmapped() const { return FrameView(file_, origin_, size_); }
  // More bytes of the same file; empty when the mapping does not reach that far.
  std::optional<FrameView> Resized(int64_t size) const;
  // Ties `owner` to this view: every Chunk pinned from now on keeps it alive.
  void Retain(std::shared_ptr<const void> owner);
  const std::shared_ptr<const void>& retained() const { return retained_; }

  // See File. 0 in place.
  int64_t read_ahead() const { return in_place() || file_ == nullptr ? 0 : file_->read_ahead(); }
  void WillRead(std::span<FileRange> ranges) const;
  // Reads all bytes from `begin` on at once, and keeps them. For a view that is not in place.
  absl::Status LoadEnd(int64_t begin);

  // Bytes [offset, offset + size): in place, or in `scratch`. kDataLoss outside the view.
  absl::StatusOr<Bytes> Read(int64_t offset, int64_t size, ScratchBuffer& scratch) const;
  // The same with an owner, for as long as the caller likes.
  absl::StatusOr<Chunk> Pin(int64_t offset, int64_t size) const;

 private:
  absl::Status Check(int64_t offset, int64_t size) const;
  // Part of what LoadEnd has read; empty where it is not all there.
  Bytes Loaded(int64_t offset, int64_t size) const;
  Bytes Mapped(int64_t offset, int64_t size) const {
    return in_place_.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  // Reads the file, which has to have all of it.
  absl::Status Copy(int64_t offset, MutableBytes dst) const;

  std::shared_ptr<const Mapping> mapping_;  // may be null
  Bytes in_place_;                          // what it shows
  std::shared_ptr<const File> file_;
  int64_t origin_ = 0;
  int64_t size_ = 0;
  Chunk end_;  // the last bytes, if they were loaded
  int64_t end_begin_ = 0;
  std::shared_ptr<const void> retained_;
  std::shared_ptr<const void> owner_;  // of pinned bytes in place: the mapping and what is retained
};

// The file, and where in it the frame begins: positions count from there. Cheap to copy,
// thread-safe.
class FrameFile {
 public:
  FrameFile() = default;  // nowhere
  // `directory` is that of a sparse frame, whose index is the file.
  static FrameFile OfFile(const std::shared_ptr<File>& file, int64_t origin, bool use_mmap,
                          std::shared_ptr<FileSystem> directory = nullptr);

  // Bytes from the start of the frame to the end of the file. kOutOfRange for a frame that begins
  // after that end.
  absl::StatusOr<int64_t> Size() const;
  absl::Status ReadAt(int64_t position, MutableBytes dst) const {
    return file_->ReadAt(origin_ + position, dst);
  }
  // The same, but as much as there is; the number of bytes read.
  absl::StatusOr<size_t> ReadSome(int64_t position, MutableBytes dst) const {
    return file_->ReadSome(origin_ + position, dst);
  }
  // The first `size` bytes of the frame; by copy where the file cannot be mapped.
  absl::StatusOr<FrameView> View(int64_t size) const { return View(size, 0); }
  // The same of a frame that has grown since `before` was viewed, and will go on growing.
  absl::StatusOr<FrameView> ViewMore(const FrameView& before, int64_t size) const;

  // Keeps what the checkpoint of this generation needs from being reclaimed while it lives.
  // kUnavailable.
  absl::StatusOr<std::shared_ptr<const void>> Register(uint64_t generation) const {
    return ReaderLocks::Hold(readers_, ReaderLockByte(generation));
  }
  // Keeps the file from becoming shorter while it lives. kUnavailable.
  absl::StatusOr<std::shared_ptr<const void>> KeepSize() const {
    return ReaderLocks::Hold(readers_, kLoadingLockByte);
  }

  // What receipts of this file call a boot of the machine; 0 for 0. In a copy of the file they are
  // of no boot that is known: what page cache and disk held of the file says nothing about its
  // copy.
  uint64_t BootHere(uint64_t boot) const;

  int64_t origin() const { return origin_; }
  std::shared_ptr<const File> file() const { return file_; }
  // Makes durable what the file holds.
  absl::Status Sync() const { return file_->Sync(SyncMode::kAll); }
  // Null unless this is a sparse frame.
  const std::shared_ptr<FileSystem>& directory() const { return directory_; }
  // Empty for nowhere, and where the file system does not tell.
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

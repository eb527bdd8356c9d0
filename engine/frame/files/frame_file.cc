#include "engine/frame/files/frame_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/extent.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/frame/files/claimed_read.h"

namespace cairn::frame {

namespace {

// The first part is read at once whatever the claim is. Later parts are limited, because each
// consists of requests of its own, which must end in time.
constexpr int64_t kFirstPart = int64_t{8} << 20;
constexpr int64_t kMaxPart = int64_t{32} << 20;

}  // namespace

bool IsClaim(const File& file, int64_t size) { return size > kFirstPart && file.read_ahead() > 0; }

absl::StatusOr<Chunk> ReadAsItComes(const File& file, int64_t offset, int64_t size) {
  if (!IsClaim(file, size)) {
    const auto bytes = std::make_shared_for_overwrite<std::byte[]>(static_cast<size_t>(size));
    const MutableBytes whole(bytes.get(), static_cast<size_t>(size));
    CAIRN_RETURN_IF_ERROR(file.ReadAt(offset, whole));
    return Chunk(whole, bytes);
  }
  const auto bytes = std::make_shared<std::vector<std::byte>>();
  do {
    const int64_t done = std::ssize(*bytes);
    const int64_t part = std::min(std::clamp(done, kFirstPart, kMaxPart), size - done);
    bytes->resize(static_cast<size_t>(done + part));
    CAIRN_RETURN_IF_ERROR(
        file.ReadAt(offset + done, MutableBytes(*bytes).subspan(static_cast<size_t>(done))));
  } while (std::ssize(*bytes) < size);
  return Chunk(*bytes, bytes);
}

std::optional<FrameView> FrameView::Resized(int64_t size) const {
  if (file_ == nullptr) return std::nullopt;
  if (mapping_ != nullptr && size > std::ssize(mapping_->bytes())) return std::nullopt;
  FrameView resized = *this;
  resized.size_ = size;
  return resized;
}

void FrameView::Retain(std::shared_ptr<const void> owner) {
  using Both = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  retained_ = std::move(owner);
  owner_ = std::make_shared<const Both>(mapping_, retained_);
}

bool FrameView::PeekIsZero(int64_t position) const {
  // Pages may be larger, but not smaller.
  const bool in_our_page = position <= size_ && (origin_ + position) % kPageSize != 0;
  if (!in_our_page || position >= std::ssize(in_place_)) return false;
  const std::byte* byte = in_place_.data() + position;
  return __atomic_load_n(reinterpret_cast<const uint8_t*>(byte), __ATOMIC_ACQUIRE) == 0;
}

bool FrameView::SeesOther(int64_t position, Bytes bytes) const {
  return !AreEqual(Mapped(position, std::ssize(bytes)), bytes);
}

absl::Status FrameView::Check(int64_t offset, int64_t size) const {
  if (RangeFits(offset, size, size_)) return absl::OkStatus();
  return DataLoss("frame: bytes from %d on, %d of them, pass its %d bytes", offset, size, size_);
}

namespace {

// All of the file was there once, so another process has truncated it.
absl::Status WasThere(const absl::Status& status) {
  return absl::IsOutOfRange(status) ? WithCode(absl::StatusCode::kDataLoss, status) : status;
}

}  // namespace

absl::Status FrameView::Copy(int64_t offset, MutableBytes dst) const {
  return WasThere(file_->ReadAt(origin_ + offset, dst));
}

void FrameView::WillRead(std::span<FileRange> ranges) const {
  for (FileRange& range : ranges) range.offset += origin_;
  file_->WillRead(ranges);
}

absl::Status FrameView::LoadEnd(int64_t begin) {
  CAIRN_ASSIGN_OR_RETURN(end_, Pin(begin, size_ - begin));
  end_begin_ = begin;
  return absl::OkStatus();
}

void FrameView::KnowEnd(Chunk end) {
  if (in_place()) return;
  end_begin_ = size_ - std::ssize(end.bytes());
  end_ = std::move(end);
}

Bytes FrameView::Loaded(int64_t offset, int64_t size) const {
  if (!RangeFits(offset - end_begin_, size, std::ssize(end_.bytes()))) return {};
  return end_.bytes().subspan(static_cast<size_t>(offset - end_begin_), static_cast<size_t>(size));
}

absl::StatusOr<Bytes> FrameView::Read(int64_t offset, int64_t size, ScratchBuffer& scratch) const {
  CAIRN_RETURN_IF_ERROR(Check(offset, size));
  if (mapping_ != nullptr) return Mapped(offset, size);
  if (const Bytes loaded = Loaded(offset, size); !loaded.empty()) return loaded;
  if (IsClaim(*file_, size)) {
    const absl::StatusOr<Chunk> come = ReadAsItComes(*file_, origin_ + offset, size);
    if (!come.ok()) return WasThere(come.status());
    const MutableBytes bytes = scratch.Get(static_cast<size_t>(size));
    CopyBytes(come->bytes(), bytes);
    return Bytes(bytes);
  }
  const MutableBytes bytes = scratch.Get(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(Copy(offset, bytes));
  return Bytes(bytes);
}

absl::Status FrameView::ReadInto(int64_t offset, MutableBytes dst) const {
  const int64_t size = std::ssize(dst);
  CAIRN_RETURN_IF_ERROR(Check(offset, size));
  const Bytes there = mapping_ != nullptr ? Mapped(offset, size) : Loaded(offset, size);
  if (there.empty()) return Copy(offset, dst);
  CopyBytes(there, dst);
  return absl::OkStatus();
}

absl::StatusOr<Chunk> FrameView::Pin(int64_t offset, int64_t size) const {
  CAIRN_RETURN_IF_ERROR(Check(offset, size));
  if (mapping_ != nullptr) return Chunk(Mapped(offset, size), owner_);
  if (const Bytes loaded = Loaded(offset, size); !loaded.empty())
    return Chunk(loaded, end_.owner());
  absl::StatusOr<Chunk> come = ReadAsItComes(*file_, origin_ + offset, size);
  return come.ok() ? std::move(come) : WasThere(come.status());
}

FrameFile FrameFile::OfFile(const std::shared_ptr<File>& file, int64_t origin, bool use_mmap,
                            std::shared_ptr<FileSystem> directory) {
  FrameFile opened;
  opened.file_ = file;
  opened.readers_ = std::make_shared<ReaderLocks>(file);
  if (const auto identity = file->Identity(); identity.ok()) opened.identity_ = *identity;
  opened.origin_ = origin;
  opened.use_mmap_ = use_mmap;
  opened.directory_ = std::move(directory);
  return opened;
}

uint64_t FrameFile::BootHere(uint64_t boot) const {
  if (boot == 0) return 0;
  const FileIdentity identity = identity_.value_or(FileIdentity());
  std::array<std::byte, 3 * sizeof(uint64_t)> bytes;
  StoreLe(bytes.data(), boot);
  StoreLe(bytes.data() + sizeof(boot), identity.device);
  StoreLe(bytes.data() + sizeof(boot) + sizeof(identity.device), identity.inode);
  return Xxh3(bytes);
}

absl::StatusOr<int64_t> FrameFile::Size() const {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file_->Size());
  if (origin_ < 0 || origin_ > size) {
    return OutOfRange("frame: offset %d is not in a file of %d bytes", origin_, size);
  }
  return size - origin_;
}

absl::StatusOr<FrameView> FrameFile::ViewMore(const FrameView& before, int64_t size) const {
  // Headroom costs nothing until it is used, and another mapping costs the pages of this one.
  constexpr int64_t kMinHeadroom = int64_t{64} << 20;
  if (std::optional<FrameView> more = before.Resized(size)) return *std::move(more);
  CAIRN_ASSIGN_OR_RETURN(FrameView view, View(size, std::max(size, kMinHeadroom)));
  if (before.retained() != nullptr) view.Retain(before.retained());
  return view;
}

absl::StatusOr<FrameView> FrameFile::View(int64_t size, int64_t headroom) const {
  std::shared_ptr<const Mapping> mapping;
  if (use_mmap_) {
    absl::StatusOr<std::shared_ptr<const Mapping>> mapped = file_->Map(origin_, size, headroom);
    // A file that cannot be mapped is copied.
    if (!mapped.ok() && !absl::IsUnimplemented(mapped.status())) return mapped.status();
    if (mapped.ok()) mapping = *std::move(mapped);
  }
  return FrameView(file_, origin_, size, std::move(mapping));
}

}  // namespace cairn::frame

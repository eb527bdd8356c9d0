#include "engine/object/index_file.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/object/object_names.h"
#include "engine/object/parallel_get.h"

namespace cairn::object {

namespace {

// A request reads at most this much of an index.
constexpr int64_t kPart = int64_t{8} << 20;
// The memory for the journal.
constexpr int64_t kMostHeld = int64_t{64} << 20;
// No record is larger, so this bounds the size that a server claims.
constexpr int64_t kMostRecord = (int64_t{4} << 30) + (int64_t{1} << 20);
// At most this many objects of the journal are read at once.
constexpr size_t kReadAhead = 256;
constexpr int64_t kNamesAtOnce = 1000;
// If this many objects were found one by one, a listing is worth its request.
constexpr int kFewOneByOne = 4;

}  // namespace

FileIdentity IdentityOf(const std::string& etag) {
  return {.device = 0, .inode = Xxh3(std::as_bytes(std::span(etag)))};
}

IndexFile::IndexFile(std::shared_ptr<ObjectStore> store, std::vector<std::byte> index,
                     std::string etag, int64_t read_ahead, BootClock::time_point seen_at)
    : store_(std::move(store)),
      index_(std::make_shared<const std::vector<std::byte>>(std::move(index))),
      etag_(std::move(etag)),
      read_ahead_(read_ahead),
      seen_at_(seen_at) {}

absl::StatusOr<std::unique_ptr<IndexFile>> IndexFile::Open(std::shared_ptr<ObjectStore> store,
                                                           int64_t read_ahead) {
  const std::string name(format::kIndexFileName);
  const BootClock::time_point before = BootClock::now();
  CAIRN_ASSIGN_OR_RETURN(ObjectPart first, store->Get(name, {.offset = 0, .size = kPart}));
  std::vector<std::byte> index = std::move(first.bytes);
  // The size is only the word of the store, so each request asks for at most as much as has
  // arrived.
  for (bool comes = true; comes && std::ssize(index) < first.object.size;) {
    const int64_t begin = std::ssize(index);
    const int64_t end = std::min(first.object.size, begin + std::max(begin, kPart));
    std::vector<GetRequest> rest;
    for (int64_t at = begin; at < end; at += kPart) {
      rest.push_back({.name = name,
                      .range = {.offset = at, .size = std::min(kPart, end - at)},
                      .if_match = first.object.etag});
    }
    CAIRN_ASSIGN_OR_RETURN(const std::vector<ObjectPart> parts, GetAll(*store, std::move(rest)));
    for (const ObjectPart& part : parts) {
      index.insert(index.end(), part.bytes.begin(), part.bytes.end());
    }
    comes = std::ssize(index) == end;
  }
  if (std::ssize(index) != first.object.size) {
    return DataLoss("%s/%s: has %d bytes, got %d", store->Describe(), name, first.object.size,
                    index.size());
  }
  auto file = std::make_unique<IndexFile>(std::move(store), std::move(index), first.object.etag,
                                          read_ahead, before);
  const MutexLock lock(file->mutex_);
  file->found_one_by_one_ = kFewOneByOne;  // many may follow
  return file;
}

absl::Status IndexFile::IsReadOnly() const {
  return FailedPrecondition("%s/%s: an object is not written in place", store_->Describe(),
                            format::kIndexFileName);
}
absl::Status IndexFile::WriteAt(int64_t /*offset*/, Bytes /*src*/) { return IsReadOnly(); }
absl::Status IndexFile::Truncate(int64_t /*size*/) { return IsReadOnly(); }
absl::Status IndexFile::Reserve(int64_t /*size*/) { return IsReadOnly(); }
absl::Status IndexFile::PunchHole(int64_t /*offset*/, int64_t /*size*/) { return IsReadOnly(); }

absl::StatusOr<FileIdentity> IndexFile::Identity() const { return IdentityOf(etag_); }

absl::StatusOr<int64_t> IndexFile::Size() const {
  const MutexLock lock(mutex_);
  if (segments_.empty()) return index_size();
  const auto last = std::prev(segments_.end());
  return std::max(index_size(), last->first + last->second.size);
}

absl::StatusOr<std::shared_ptr<const Mapping>> IndexFile::Map(int64_t /*offset*/, int64_t /*size*/,
                                                              int64_t /*room*/) const {
  return absl::UnimplementedError("objects are not mapped");
}

absl::Status IndexFile::ReadAt(int64_t offset, MutableBytes dst) const {
  for (size_t done = 0; done < dst.size();) {
    CAIRN_ASSIGN_OR_RETURN(const size_t got,
                           ReadSome(offset + static_cast<int64_t>(done), dst.subspan(done)));
    if (got == 0) {
      return OutOfRange("%s/%s: byte %d is not there", store_->Describe(), format::kIndexFileName,
                        offset + static_cast<int64_t>(done));
    }
    done += got;
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> IndexFile::ReadSome(int64_t offset, MutableBytes dst) const {
  if (offset < 0 || dst.empty()) return size_t{0};
  const auto copy_from = [&](Bytes bytes, int64_t begin) {
    const Bytes rest = bytes.subspan(static_cast<size_t>(offset - begin));
    const size_t count = std::min(rest.size(), dst.size());
    CopyBytes(rest.first(count), dst);
    return count;
  };
  if (offset < index_size()) return copy_from(*index_, 0);
  const MutexLock lock(mutex_);
  CAIRN_ASSIGN_OR_RETURN(const Segments::iterator found, Find(offset));
  if (found == segments_.end()) return size_t{0};
  return copy_from(*found->second.bytes, found->first);
}

IndexFile::Segments::iterator IndexFile::FindKnown(int64_t offset) const {
  auto after = segments_.upper_bound(offset);
  if (after == segments_.begin()) return segments_.end();
  --after;
  return offset - after->first < after->second.size ? after : segments_.end();
}

absl::StatusOr<IndexFile::Segments::iterator> IndexFile::Find(int64_t offset) const {
  auto found = FindKnown(offset);
  if (found == segments_.end()) {
    CAIRN_RETURN_IF_ERROR(Discover(offset));
    found = FindKnown(offset);
  }
  if (found != segments_.end() && found->second.bytes == nullptr) {
    CAIRN_RETURN_IF_ERROR(Load(found));
  }
  return found;
}

// Finds the object that begins at `offset`, and perhaps later ones.
absl::Status IndexFile::Discover(int64_t offset) const {
  // The listing has just shown that nothing follows.
  if (std::exchange(listed_end_, -1) == offset) return absl::OkStatus();
  if (found_one_by_one_ >= kFewOneByOne) return List(offset);
  absl::StatusOr<ObjectPart> next =
      store_->Get(JournalObjectName(offset), {.offset = 0, .size = kMostRecord});
  if (absl::IsNotFound(next.status())) {
    found_one_by_one_ = 0;
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(next.status());
  ++found_one_by_one_;
  if (next->bytes.empty()) return absl::OkStatus();
  const int64_t size = std::ssize(next->bytes);
  const auto bytes = std::make_shared<const std::vector<std::byte>>(std::move(next->bytes));
  const auto added = segments_.insert_or_assign(offset, Segment{.size = size, .bytes = bytes});
  held_bytes_ += size;
  Forget(added.first);
  return absl::OkStatus();
}

absl::Status IndexFile::List(int64_t offset) const {
  found_one_by_one_ = 0;
  // The listing begins after `after`.
  std::string after = JournalObjectName(offset - 1);
  const absl::StatusOr<ObjectListing> listed =
      store_->List(std::string(kJournalPrefix), after, kNamesAtOnce);
  // A listing only saves requests. A web server has none, and a reader may lack the right to list.
  if (!listed.ok()) return Discover(offset);
  const ObjectListing& listing = *listed;
  int64_t next = offset;
  for (const ObjectInfo& object : listing.objects) {
    const std::optional<int64_t> position = ParseJournalObjectName(object.name);
    if (position != next || object.size < 1 || object.size > kMostRecord) break;
    const std::optional<int64_t> end = CheckedAdd(next, object.size);
    if (!end.has_value()) break;
    segments_.try_emplace(next, Segment{.size = object.size, .bytes = nullptr});
    next = *end;
  }
  if (listing.more) {
    found_one_by_one_ = kFewOneByOne;
  } else if (next > offset) {
    listed_end_ = next;
  }
  return absl::OkStatus();
}

// Reads that segment, and the missing ones that follow it.
absl::Status IndexFile::Load(Segments::iterator first) const {
  std::vector<GetRequest> requests;
  std::vector<Segments::iterator> missing;
  int64_t bytes = 0;
  for (auto at = first; at != segments_.end() && missing.size() < kReadAhead; ++at) {
    if (at->second.bytes != nullptr || (bytes > 0 && bytes + at->second.size > kMostHeld / 2))
      break;
    bytes += at->second.size;
    missing.push_back(at);
    requests.push_back({.name = JournalObjectName(at->first),
                        .range = {.offset = 0, .size = at->second.size},
                        .if_match = {}});
  }
  absl::StatusOr<std::vector<ObjectPart>> got = GetAll(*store_, std::move(requests));
  if (!got.ok()) {
    listed_end_ = -1;  // more may have followed when this is tried again
    return got.status();
  }
  std::vector<ObjectPart>& parts = *got;
  for (size_t i = 0; i < parts.size(); ++i) {
    Segment& segment = missing[i]->second;
    if (std::ssize(parts[i].bytes) != segment.size) {
      return DataLoss("%s/%s: expected %d bytes, got %d", store_->Describe(),
                      JournalObjectName(missing[i]->first), segment.size, parts[i].bytes.size());
    }
    segment.bytes = std::make_shared<const std::vector<std::byte>>(std::move(parts[i].bytes));
    held_bytes_ += segment.size;
  }
  Forget(first);
  return absl::OkStatus();
}

// Keeps the bytes within their bound. The earliest segments are dropped first, because a journal is
// read in order.
void IndexFile::Forget(Segments::iterator kept) const {
  for (auto at = segments_.begin(); at != segments_.end() && held_bytes_ > kMostHeld; ++at) {
    if (at == kept || at->second.bytes == nullptr) continue;
    held_bytes_ -= at->second.size;
    at->second.bytes = nullptr;
  }
}

}  // namespace cairn::object

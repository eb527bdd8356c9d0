#include "engine/object/object_fetcher.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"

namespace cairn::object {

namespace {

constexpr int64_t kLeastCapacity = 16 * kPageBytes;
// Neighbours are requested together up to this many bytes. Larger answers gain little, and keep
// fewer requests busy.
constexpr int64_t kMostTogether = int64_t{8} << 20;
constexpr int64_t kRequestsOfCache = 32;
// Reading this many pages more takes less time than a request.
constexpr int64_t kGapPages = 2;

absl::Status WasReplaced(const std::string& name) {
  return absl::AbortedError(name + " was replaced by another object");
}

absl::Status CheckCount(const std::string& name, int64_t expected, int64_t got) {
  if (got == expected) return absl::OkStatus();
  return AtPath(name, Unavailable("expected %d bytes, got %d", expected, got));
}

// Checks that the answer belongs to the opened object, and is complete.
absl::Status CheckPart(const OpenObject& object, ObjectRange range,
                       const absl::StatusOr<ObjectPart>& part) {
  const ObjectInfo& opened = object.info;
  if (absl::IsFailedPrecondition(part.status())) return WasReplaced(opened.name);
  if (absl::IsNotFound(part.status())) return absl::AbortedError(opened.name + " was removed");
  CAIRN_RETURN_IF_ERROR(part.status());
  if (part->object.etag != opened.etag || part->object.size != opened.size) {
    return WasReplaced(opened.name);
  }
  return CheckCount(opened.name, range.size, std::ssize(part->bytes));
}

// A store without etags cannot be asked, so CheckPart compares sizes instead.
std::optional<std::string> ConditionOf(const ObjectInfo& info) {
  return info.etag.empty() ? std::nullopt : std::optional(info.etag);
}

Bytes PartOf(Bytes bytes, int64_t begin, int64_t size) {
  return bytes.subspan(static_cast<size_t>(begin), static_cast<size_t>(size));
}

}  // namespace

ObjectFetcher::ObjectFetcher(std::shared_ptr<ObjectStore> store, const ObjectFileOptions& options)
    : store_(std::move(store)),
      cache_(std::max(options.cache_bytes, kLeastCapacity)),
      disk_(options.disk_cache.empty()
                ? nullptr
                : std::make_unique<DiskCache>(options.disk_cache, options.disk_cache_bytes,
                                              store_->Describe())),
      parallel_(std::max(options.parallel, 1)) {}

ObjectFetcher::~ObjectFetcher() {
  const MutexLock lock(mutex_);
  waiting_.clear();
  while (running_ > 0 || starting_) idle_cv_.Wait(mutex_);
}

// Starts no request in the answer of another that is just being started, because a store that
// answers at once would nest them all.
void ObjectFetcher::StartWaiting() {
  if (starting_) return;
  starting_ = true;
  while (running_ < parallel_ && !waiting_.empty()) {
    const std::function<void()> start = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    mutex_.Unlock();
    start();
    mutex_.Lock();
  }
  starting_ = false;
  if (running_ == 0) idle_cv_.NotifyAll();
}

void ObjectFetcher::GetWhenFree(std::string name, ObjectRange range,
                                std::optional<std::string> if_match, ObjectStore::GetDone done) {
  ObjectStore::GetDone ended = [this, done = std::move(done)](absl::StatusOr<ObjectPart> part) {
    done(std::move(part));
    const MutexLock lock(mutex_);
    CAIRN_DCHECK(running_ > 0);
    --running_;
    StartWaiting();
  };
  const MutexLock lock(mutex_);
  waiting_.push_back([this, name = std::move(name), range, if_match = std::move(if_match),
                      ended = std::move(ended)]() mutable {
    store_->StartGet(std::move(name), range, std::move(if_match), std::move(ended));
  });
  StartWaiting();
}

absl::StatusOr<ObjectPtr> ObjectFetcher::Opened(int64_t bytes, absl::StatusOr<ObjectPart> part) {
  CAIRN_RETURN_IF_ERROR(part.status());
  const ObjectInfo& info = part->object;
  const int64_t count = std::min(bytes, info.size);
  CAIRN_RETURN_IF_ERROR(CheckCount(info.name, count, std::ssize(part->bytes)));
  auto object = std::make_shared<const OpenObject>(
      OpenObject{.info = info, .key = info.name + '\n' + info.etag});
  for (int64_t page = 0; page * kPageBytes < count; ++page) {
    const int64_t size = BytesOfPage(page, info.size);
    if (page * kPageBytes + size > count) break;
    const PageCache::Found found = cache_.Get({object->key, page}, size);
    if (found.is_new) found.page->Set(ToVector(PartOf(part->bytes, page * kPageBytes, size)));
  }
  return object;
}

absl::Status ObjectFetcher::CheckIsHere() const {
  if (owner_.is_here()) return absl::OkStatus();
  return FailedPrecondition(
      "%s: its objects are read by the process that this one was forked from: open the store again",
      store_->Describe());
}

ObjectFetcher::Opening ObjectFetcher::StartOpen(const std::string& name, int64_t bytes) {
  const int64_t size = CeilDiv(std::max<int64_t>(bytes, 1), kPageBytes) * kPageBytes;
  const auto opened = std::make_shared<std::promise<absl::StatusOr<ObjectPtr>>>();
  if (absl::Status status = CheckIsHere(); !status.ok()) {
    opened->set_value(std::move(status));
    return opened->get_future().share();
  }
  GetWhenFree(name, {.offset = 0, .size = size}, std::nullopt,
              [this, size, opened](absl::StatusOr<ObjectPart> part) {
                opened->set_value(Opened(size, std::move(part)));
              });
  return opened->get_future().share();
}

std::vector<ObjectFetcher::Run> ObjectFetcher::RunsOf(const ObjectPtr& object,
                                                      std::span<const FileRange> ranges) const {
  std::vector<FileRange> sorted(ranges.begin(), ranges.end());
  std::ranges::sort(sorted, {}, &FileRange::offset);
  const int64_t together =
      std::clamp(cache_.capacity() / kRequestsOfCache, kPageBytes, kMostTogether) / kPageBytes;
  std::vector<Run> runs;
  int64_t left = 2 * read_ahead() / kPageBytes;
  for (const FileRange& range : sorted) {
    const int64_t size = std::min(range.size, object->info.size - range.offset);
    if (range.offset < 0 || size <= 0) continue;
    const int64_t last_end = runs.empty() ? 0 : runs.back().end;
    const Run run = {.begin = std::max(range.offset / kPageBytes, last_end),
                     .end = CeilDiv(range.offset + size, kPageBytes)};
    if (run.end <= run.begin) continue;
    left -= run.end - run.begin;
    if (left < 0) break;
    const bool joins = !runs.empty() && run.begin - last_end <= kGapPages &&
                       run.end - runs.back().begin <= together;
    if (joins) {
      runs.back().end = run.end;
    } else {
      runs.push_back(run);
    }
  }
  return runs;
}

void ObjectFetcher::WillRead(const ObjectPtr& object, std::span<const FileRange> ranges) {
  if (!owner_.is_here()) return;
  for (const Run& run : RunsOf(object, ranges)) Fetch(object, run);
}

bool ObjectFetcher::ReadFromDisk(const OpenObject& object, int64_t page, Page& dst) {
  if (disk_ == nullptr) return false;
  std::optional<std::vector<std::byte>> bytes =
      disk_->Get(object.key, page, BytesOfPage(page, object.info.size));
  if (!bytes.has_value()) return false;
  dst.Set(*std::move(bytes), /*from_store=*/false);
  return true;
}

// Returns the pages, which are in memory or on their way.
std::vector<PagePtr> ObjectFetcher::Fetch(const ObjectPtr& object, Run run) {
  std::vector<PagePtr> pages;
  std::vector<Pages> missing;
  for (int64_t page = run.begin; page < run.end; ++page) {
    PageCache::Found found = cache_.Get({object->key, page}, BytesOfPage(page, object->info.size));
    pages.push_back(found.page);
    if (!found.is_new || ReadFromDisk(*object, page, *found.page)) continue;
    if (missing.empty() || missing.back().end() != page)
      missing.push_back({.first = page, .pages = {}});
    missing.back().pages.push_back(std::move(found.page));
  }
  for (Pages& part : missing) StartGet(object, std::move(part));
  return pages;
}

void ObjectFetcher::StartGet(const ObjectPtr& object, Pages pages) {
  const int64_t begin = pages.first * kPageBytes;
  const ObjectRange range = {.offset = begin,
                             .size = std::min(pages.end() * kPageBytes, object->info.size) - begin};
  auto done = [this, object, range, pages = std::move(pages)](absl::StatusOr<ObjectPart> part) {
    const absl::Status status = CheckPart(*object, range, part);
    for (size_t i = 0; i < pages.pages.size(); ++i) {
      const int64_t number = pages.first + static_cast<int64_t>(i);
      Page& page = *pages.pages[i];
      if (!status.ok()) {
        cache_.Drop({object->key, number}, pages.pages[i]);
        page.Fail(status);
      } else {
        page.Set(ToVector(PartOf(part->bytes, number * kPageBytes - range.offset,
                                 BytesOfPage(number, object->info.size))));
      }
    }
  };
  GetWhenFree(object->info.name, range, ConditionOf(object->info), std::move(done));
}

// Reads without keeping the bytes, because they would push everything else out of memory.
absl::StatusOr<size_t> ObjectFetcher::ReadDirectly(const ObjectPtr& object, int64_t offset,
                                                   MutableBytes dst) {
  const ObjectRange range = {.offset = offset, .size = std::ssize(dst)};
  const auto got = std::make_shared<std::promise<absl::StatusOr<ObjectPart>>>();
  GetWhenFree(object->info.name, range, ConditionOf(object->info),
              [got](absl::StatusOr<ObjectPart> part) { got->set_value(std::move(part)); });
  const absl::StatusOr<ObjectPart> part = got->get_future().get();
  CAIRN_RETURN_IF_ERROR(CheckPart(*object, range, part));
  CopyBytes(part->bytes, dst);
  return dst.size();
}

absl::StatusOr<size_t> ObjectFetcher::Read(const ObjectPtr& object, int64_t offset,
                                           MutableBytes dst) {
  CAIRN_RETURN_IF_ERROR(CheckIsHere());
  if (offset < 0) {
    return AtPath(object->info.name, OutOfRange("%d bytes from byte %d on", dst.size(), offset));
  }
  const int64_t rest = std::max<int64_t>(object->info.size - offset, 0);
  dst = dst.first(static_cast<size_t>(std::min<int64_t>(rest, std::ssize(dst))));
  if (dst.empty()) return 0;
  if (std::ssize(dst) > cache_.capacity() / 2) return ReadDirectly(object, offset, dst);
  const int64_t end = offset + std::ssize(dst);
  const Run run = {.begin = offset / kPageBytes, .end = CeilDiv(end, kPageBytes)};
  const std::vector<PagePtr> pages = Fetch(object, run);
  for (size_t i = 0; i < pages.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, pages[i]->Wait());
    const int64_t page_begin = (run.begin + static_cast<int64_t>(i)) * kPageBytes;
    const int64_t from = std::max(offset, page_begin);
    const int64_t until = std::min(end, page_begin + std::ssize(bytes));
    CopyBytes(PartOf(bytes, from - page_begin, until - from),
              dst.subspan(static_cast<size_t>(from - offset)));
    if (disk_ != nullptr && pages[i]->TakeNews()) {
      disk_->Put(object->key, run.begin + static_cast<int64_t>(i), bytes);
    }
  }
  return dst.size();
}

}  // namespace cairn::object

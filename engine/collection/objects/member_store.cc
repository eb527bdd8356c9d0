#include "engine/collection/objects/member_store.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "absl/strings/str_format.h"

#include "engine/base/bytes.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/object/object_names.h"

namespace cairn::collection {

namespace {

constexpr std::string_view kIndexPrefix("index/");
constexpr size_t kDigits = 16;

std::optional<uint64_t> ParseDigits(std::string_view text) {
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsIndex(std::string_view name) { return name == format::kIndexFileName; }

absl::Status IsTaken(const std::string& name) {
  return absl::FailedPreconditionError(name + " is there already");
}

// Returns a tag that no store gives.
std::string MakeEtag() { return absl::StrFormat("held-%016x", RandomNumber()); }

}  // namespace

std::string IndexObjectName(uint64_t id, uint64_t generation) {
  return absl::StrFormat("%s%016x.%016x", kIndexPrefix, id, generation);
}

std::optional<IndexObject> ParseIndexObjectName(std::string_view name) {
  if (!name.starts_with(kIndexPrefix)) return std::nullopt;
  name.remove_prefix(kIndexPrefix.size());
  if (name.size() != 2 * kDigits + 1 || name[kDigits] != '.') return std::nullopt;
  const auto id = ParseDigits(name.substr(0, kDigits));
  const auto generation = ParseDigits(name.substr(kDigits + 1));
  if (!id.has_value() || !generation.has_value()) return std::nullopt;
  return IndexObject{.id = *id, .generation = *generation};
}

void MemberStore::AddRecords(std::span<const FilePatch> records) {
  const MutexLock lock(mutex_);
  for (const FilePatch& record : records) {
    records_.try_emplace(record.offset, std::make_shared<const Held>(
                                            Held{.etag = MakeEtag(), .bytes = record.bytes}));
  }
}

void MemberStore::Set(Puts puts) {
  const MutexLock lock(mutex_);
  puts_ = puts;
  records_put_.clear();
}

std::vector<FilePatch> MemberStore::records_put() const {
  const MutexLock lock(mutex_);
  return records_put_;
}

std::vector<std::byte> MemberStore::index() const {
  const MutexLock lock(mutex_);
  return index_ == nullptr ? std::vector<std::byte>() : index_->bytes;
}

absl::StatusOr<ObjectPart> MemberStore::ReadHeld(const std::string& name, ObjectRange range,
                                                 const std::optional<std::string>& if_match) const {
  std::shared_ptr<const Held> held;
  {
    const MutexLock lock(mutex_);
    if (const auto position = object::ParseJournalObjectName(name); position.has_value()) {
      const auto found = records_.find(*position);
      if (found != records_.end()) held = found->second;
    } else {
      held = index_;
    }
  }
  if (held == nullptr) return absl::NotFoundError(Describe() + ": no object " + name);
  if (if_match.has_value() && *if_match != held->etag) return IsTaken(name);
  const int64_t size = std::ssize(held->bytes);
  const int64_t begin = std::clamp<int64_t>(range.offset, 0, size);
  const auto part = Bytes(held->bytes)
                        .subspan(static_cast<size_t>(begin),
                                 static_cast<size_t>(std::min(range.size, size - begin)));
  return ObjectPart{.object = {.name = name, .size = size, .etag = held->etag},
                    .bytes = ToVector(part)};
}

KnownObjects::BytesPtr MemberStore::FindKnown(const std::string& name) const {
  return known_ == nullptr ? nullptr : known_->Find(prefix_ + name);
}

void MemberStore::KeepIndex(std::string etag, std::vector<std::byte> bytes) {
  const MutexLock lock(mutex_);
  if (index_ != nullptr) return;
  index_ = std::make_shared<const Held>(Held{.etag = std::move(etag), .bytes = std::move(bytes)});
}

void MemberStore::StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                           GetDone done) {
  const bool is_record = object::ParseJournalObjectName(name).has_value();
  if (!is_record && !IsIndex(name)) {
    return store_->StartGet(std::move(name), range, std::move(if_match), std::move(done));
  }
  absl::StatusOr<ObjectPart> held = ReadHeld(name, range, if_match);
  const bool is_held = is_record || index_name_.empty() || !absl::IsNotFound(held.status());
  if (is_held) return done(std::move(held));
  if (const KnownObjects::BytesPtr known = FindKnown(index_name_); known != nullptr) {
    KeepIndex(MakeEtag(), *known);
    return done(ReadHeld(name, range, std::nullopt));
  }
  // All of it is kept: the reader and the writer of a member ask for it, one after the other.
  const auto keep = [this, name, range, done = std::move(done)](absl::StatusOr<ObjectPart> part) {
    if (!part.ok()) return done(std::move(part));
    if (known_ != nullptr) {
      known_->Add(prefix_ + index_name_,
                  std::make_shared<const std::vector<std::byte>>(part->bytes));
    }
    KeepIndex(part->object.etag, std::move(part->bytes));
    done(ReadHeld(name, range, std::nullopt));
  };
  store_->StartGet(index_name_, {}, std::move(if_match), keep);
}

absl::StatusOr<ObjectInfo> MemberStore::PutIndex(const std::optional<std::string>& etag,
                                                 Bytes bytes) {
  const std::string name(format::kIndexFileName);
  const MutexLock lock(mutex_);
  const bool fits = etag.has_value() ? index_ != nullptr && index_->etag == *etag
                                     : index_ == nullptr && index_name_.empty();
  if (!fits) return IsTaken(name);
  index_ = std::make_shared<const Held>(Held{.etag = MakeEtag(), .bytes = ToVector(bytes)});
  return ObjectInfo{.name = name, .size = std::ssize(bytes), .etag = index_->etag};
}

absl::StatusOr<ObjectInfo> MemberStore::PutRecord(int64_t position, Bytes bytes) {
  const std::string name = object::JournalObjectName(position);
  const MutexLock lock(mutex_);
  if (records_.contains(position)) return IsTaken(name);
  FilePatch record = {.offset = position, .bytes = ToVector(bytes)};
  if (puts_ != Puts::kTaken) {
    // An earlier one was of the same edits, before they were made again on top of newer commits.
    records_put_.assign(1, std::move(record));
    return absl::UnavailableError(name + " waits for the ledger");
  }
  const auto held = std::make_shared<const Held>(Held{.etag = MakeEtag(), .bytes = record.bytes});
  records_.emplace(position, held);
  records_put_.push_back(std::move(record));
  return ObjectInfo{.name = name, .size = std::ssize(bytes), .etag = held->etag};
}

void MemberStore::StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) {
  if (IsIndex(name)) return done(PutIndex(std::nullopt, bytes));
  if (const auto position = object::ParseJournalObjectName(name); position.has_value()) {
    return done(PutRecord(*position, bytes));
  }
  if (known_ == nullptr || !KnownObjects::IsSmall(std::ssize(bytes))) {
    return store_->StartPutIfAbsent(std::move(name), bytes, std::move(done));
  }
  // The writer and its readers will ask for it.
  auto note = [known = known_, object = prefix_ + name,
               copy = std::make_shared<const std::vector<std::byte>>(ToVector(bytes)),
               done = std::move(done)](absl::StatusOr<ObjectInfo> put) {
    if (put.ok()) known->Add(object, copy);
    done(std::move(put));
  };
  store_->StartPutIfAbsent(std::move(name), bytes, std::move(note));
}

void MemberStore::StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) {
  if (IsIndex(name)) return done(PutIndex(std::move(etag), bytes));
  store_->StartPutIfMatch(std::move(name), std::move(etag), bytes, std::move(done));
}

absl::StatusOr<ObjectInfo> MemberStore::Head(const std::string& name) {
  if (!IsIndex(name)) return store_->Head(name);
  CAIRN_ASSIGN_OR_RETURN(ObjectPart part, Get(name));
  return std::move(part.object);
}

absl::Status MemberStore::Delete(std::span<const std::string> names) {
  {
    const MutexLock lock(mutex_);
    if (puts_ == Puts::kAbandoned) return absl::OkStatus();
  }
  for (const std::string& name : names) {
    if (known_ != nullptr) known_->Remove(prefix_ + name);
  }
  return store_->Delete(names);
}

absl::StatusOr<ObjectListing> MemberStore::List(const std::string& /*prefix*/,
                                                const std::string& /*after*/, int64_t /*most*/) {
  return absl::UnimplementedError(Describe() + ": the objects of a member are not listed");
}

}  // namespace cairn::collection

#include "engine/collection/objects/known_copies.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>

#include "engine/collection/objects/member_store.h"
#include "engine/format/index_entry.h"
#include "engine/format/sparse_names.h"

namespace cairn::collection {

namespace {

// Returns the name by which the object is known.
std::string KnownName(const Site& site, const MemberEntry& entry, const ObjectCopy& copy) {
  const std::string object = copy.kind == ObjectCopy::Kind::kIndex
                                 ? IndexObjectName(copy.id, copy.number)
                                 : format::ChunkFileName(static_cast<int64_t>(copy.number));
  return site.PathOf(copy.member, entry.kind) + "/" + object;
}

// Returns the entry of the member that the copy is of, or null if it is gone.
const MemberEntry* FindMember(const LedgerTable& table, const ObjectCopy& copy) {
  const auto listed = table.members.find(copy.member);
  if (listed == table.members.end() || listed->second.id != copy.id) return nullptr;
  return &listed->second;
}

void Know(const Site& site, const LedgerTable& table, const ObjectCopies& copies) {
  for (const ObjectCopy& copy : copies) {
    const MemberEntry* const entry = FindMember(table, copy);
    if (entry == nullptr) continue;
    site.known->Add(KnownName(site, *entry, copy),
                    std::make_shared<const std::vector<std::byte>>(copy.bytes));
  }
}

// Returns what a checkpoint of the ledger has. Nothing depends on it, so damage is ignored.
ObjectCopies ReadLayer(const Snapshot& snapshot) {
  if (!snapshot.HasVlmetalayer(kCopiesLayer)) return {};
  const absl::StatusOr<std::vector<std::byte>> layer = snapshot.GetVlmetalayer(kCopiesLayer);
  if (!layer.ok()) return {};
  return ParseCopies(*layer).value_or(ObjectCopies());
}

auto KeyOf(const ObjectCopy& copy) { return std::tuple(copy.id, copy.kind, copy.number); }

// The chunks that a commit stores, by their number. Some edits replace or erase them again.
class StoredChunks {
 public:
  void Insert(int64_t nchunk, const format::IndexEntry& entry) {
    Move(nchunk, 1);
    chunks_[nchunk] = entry;
  }
  void Replace(int64_t nchunk, const format::IndexEntry& entry) { chunks_[nchunk] = entry; }
  void Erase(int64_t first, int64_t count) {
    chunks_.erase(chunks_.lower_bound(first), chunks_.lower_bound(first + count));
    Move(first, -count);
  }
  void Clear() { chunks_.clear(); }
  const std::map<int64_t, format::IndexEntry>& chunks() const { return chunks_; }

 private:
  // Changes the numbers from `first` on.
  void Move(int64_t first, int64_t by) {
    std::map<int64_t, format::IndexEntry> moved;
    const auto begin = chunks_.lower_bound(first);
    for (auto chunk = begin; chunk != chunks_.end(); ++chunk) {
      moved.emplace_hint(moved.end(), chunk->first + by, chunk->second);
    }
    chunks_.erase(begin, chunks_.end());
    chunks_.merge(moved);
  }

  std::map<int64_t, format::IndexEntry> chunks_;
};

// Returns the chunks that the commit stores and that its state refers to. Those of a commit that
// sorts chunks are only the ones after that.
StoredChunks StoredBy(const format::CommitRecord& commit) {
  StoredChunks stored;
  for (const format::ChunkEdit& edit : commit.chunks) {
    if (const auto* const insert = std::get_if<format::InsertEdit>(&edit)) {
      stored.Insert(insert->nchunk, insert->chunk.entry);
    } else if (const auto* const replace = std::get_if<format::ReplaceEdit>(&edit)) {
      stored.Replace(replace->nchunk, replace->chunk.entry);
    } else if (const auto* const erase = std::get_if<format::EraseEdit>(&edit)) {
      stored.Erase(erase->first, erase->count);
    } else {
      stored.Clear();
    }
  }
  return stored;
}

}  // namespace

void KnowCopies(const Site& site, const Snapshot& snapshot, const Ledger& ledger,
                const Ledger* before) {
  if (site.known == nullptr || before == &ledger) return;
  if (before == nullptr || before->checkpoint_id != ledger.checkpoint_id) {
    Know(site, ledger.table, ReadLayer(snapshot));
  }
  for (const auto& commit : ledger.commits) {
    if (before != nullptr && commit->number <= before->table.number) continue;
    Know(site, ledger.table, commit->copies);
  }
}

void AddCopy(const Site& site, const MemberEntry& entry, ObjectCopy copy, ObjectCopies& copies) {
  if (site.known == nullptr) return;
  const KnownObjects::BytesPtr known = site.known->Find(KnownName(site, entry, copy));
  if (known == nullptr || std::ssize(*known) > kMaxCopy) return;
  copy.bytes = *known;
  copies.push_back(std::move(copy));
}

void AddCopiesOfChunks(const Site& site, const MemberEntry& entry,
                       const format::CommitRecord& commit, const ObjectCopy& copy,
                       ObjectCopies& copies) {
  const StoredChunks chunks = StoredBy(commit);
  for (const auto& [nchunk, stored] : chunks.chunks()) {
    if (format::IsSpecialEntry(stored.value)) continue;
    ObjectCopy chunk = copy;
    chunk.kind = ObjectCopy::Kind::kChunk;
    chunk.number = static_cast<uint64_t>(stored.value);
    AddCopy(site, entry, std::move(chunk), copies);
  }
}

ObjectCopies LastCopies(ObjectCopies copies, int64_t nbytes) {
  std::set<std::tuple<uint64_t, ObjectCopy::Kind, uint64_t>> seen;
  ObjectCopies last;
  for (auto copy = copies.rbegin(); copy != copies.rend(); ++copy) {
    const int64_t size = std::ssize(copy->bytes);
    if (size > nbytes || !seen.insert(KeyOf(*copy)).second) continue;
    nbytes -= size;
    last.push_back(std::move(*copy));
  }
  std::ranges::reverse(last);
  return last;
}

ObjectCopies CopiesOfCheckpoint(
    const Snapshot& snapshot, const Ledger& ledger, const std::set<std::string>& changed,
    const std::function<std::set<uint64_t>(const std::string& member)>& chunks_of) {
  ObjectCopies copies = ReadLayer(snapshot);
  for (const auto& commit : ledger.commits) {
    copies.insert(copies.end(), commit->copies.begin(), commit->copies.end());
  }
  std::map<std::string, std::set<uint64_t>> chunks;
  std::erase_if(copies, [&](const ObjectCopy& copy) {
    if (FindMember(ledger.table, copy) == nullptr) return true;
    const bool is_index = copy.kind == ObjectCopy::Kind::kIndex;
    if (!changed.contains(copy.member)) {
      return is_index && copy.number != ledger.IndexOf(copy.member);
    }
    if (is_index) return true;
    auto found = chunks.find(copy.member);
    if (found == chunks.end()) found = chunks.emplace(copy.member, chunks_of(copy.member)).first;
    return !found->second.contains(copy.number);
  });
  return copies;
}

std::set<uint64_t> ChunkFilesOf(const frame::State& state) {
  std::set<uint64_t> numbers;
  // A page of the index that cannot be read names no chunk here, so none of its chunks is copied.
  state.chunks
      .ForEach([&](const format::IndexEntry& entry) {
        if (!format::IsSpecialEntry(entry.value)) {
          numbers.insert(static_cast<uint64_t>(entry.value));
        }
        return absl::OkStatus();
      })
      .IgnoreError();
  return numbers;
}

}  // namespace cairn::collection

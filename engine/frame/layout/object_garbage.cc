#include "engine/frame/layout/object_garbage.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"

#include "engine/base/bytes.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/stage/sparse_sink.h"
#include "engine/object/index_file.h"
#include "engine/object/object_names.h"

namespace cairn::frame {

namespace {

constexpr int64_t kNamesAtOnce = 1000;

// The objects that the frame needs.
struct Needed {
  std::vector<int64_t> chunks;  // in order
  int64_t journal_begin = 0;    // of the records after the checkpoint
  int64_t journal_end = 0;
  uint64_t generation = 0;  // of the checkpoint

  bool Has(const std::string& name) const;
};

// Returns true also for names of other kinds, which are not the frame's to remove.
bool Needed::Has(const std::string& name) const {
  if (const auto number = format::ParseChunkFileName(name); number.has_value()) {
    return std::ranges::binary_search(chunks, *number);
  }
  const auto position = object::ParseJournalObjectName(name);
  if (!position.has_value()) return true;
  // The objects were listed before the end of the journal was read, so an object after the end is
  // one of a frame that this one replaced. An object at the end may be the record that ends it.
  return *position >= journal_begin && *position <= journal_end;
}

// Reads the state, and then all that any state since its checkpoint needs.
absl::StatusOr<Needed> ReadNeeded(const FrameFile& source,
                                  const std::shared_ptr<const FrameContext>& env) {
  JournalFootprint footprint;
  CAIRN_ASSIGN_OR_RETURN(const StatePtr state, LoadState(source, env, &footprint));
  CAIRN_RETURN_IF_ERROR(state->JournalStatus());
  CAIRN_ASSIGN_OR_RETURN(const StatePtr checkpoint,
                         LoadCheckpoint(source, state->checkpoint->header_bytes, env));
  Needed needed;
  CAIRN_ASSIGN_OR_RETURN(needed.chunks, FileNumbersIn(checkpoint->chunks, SIZE_MAX));
  for (const JournalFootprint::Placed& chunk : footprint.placed) {
    needed.chunks.push_back(chunk.bytes.begin);
  }
  std::ranges::sort(needed.chunks);
  needed.journal_begin = checkpoint->journal->begin;
  needed.journal_end = state->journal->end;
  needed.generation = checkpoint->generation();
  return needed;
}

std::vector<std::string> NamesIn(Bytes list) {
  std::vector<std::string> names;
  for (std::string_view rest = AsText(list); !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

}  // namespace

absl::StatusOr<Inventory> ListObjects(ObjectStore& store) {
  Inventory inventory;
  for (std::string after;;) {
    CAIRN_ASSIGN_OR_RETURN(ObjectListing listing, store.List("", after, kNamesAtOnce));
    if (inventory.now == 0) inventory.now = listing.now;
    for (ObjectInfo& object : listing.objects) {
      after = object.name;
      inventory.objects.emplace(object.name, std::move(object));
    }
    if (!listing.more || listing.objects.empty()) return inventory;
  }
}

absl::StatusOr<int64_t> TimeOf(ObjectStore& store) {
  CAIRN_ASSIGN_OR_RETURN(const ObjectListing listing,
                         store.List(std::string(object::kGarbagePrefix), "", 1));
  return listing.now;
}

absl::StatusOr<std::vector<int64_t>> ChunksNamed(const FrameFile& source,
                                                 const std::shared_ptr<const FrameContext>& env) {
  CAIRN_ASSIGN_OR_RETURN(Needed needed, ReadNeeded(source, env));
  return std::move(needed.chunks);
}

absl::StatusOr<ReclaimReport> RemoveGarbage(ObjectStore& store, std::chrono::seconds grace,
                                            const Inventory& inventory, const std::string& lists,
                                            absl::FunctionRef<bool(const std::string&)> is_needed) {
  const int64_t seconds = grace.count();
  ReclaimReport report;
  std::vector<std::string> removed;
  std::set<std::string> listed;
  const auto remove = [&](const std::string& name) {
    const auto object = inventory.objects.find(name);
    if (object == inventory.objects.end() || is_needed(name)) return;
    removed.push_back(name);
    report.freed += object->second.size;
  };
  const auto made_at = [&lists](std::string_view name) {
    if (!name.starts_with(lists)) return std::optional<int64_t>();
    return object::ParseGarbageObjectName(name.substr(lists.size()));
  };
  for (const auto& [name, object] : inventory.objects) {
    const std::optional<int64_t> made = made_at(name);
    if (!made.has_value()) continue;
    const absl::StatusOr<ObjectPart> list = store.Get(name);
    if (absl::IsNotFound(list.status())) continue;  // another process has just done with it
    CAIRN_RETURN_IF_ERROR(list.status());
    const bool due = *made + seconds <= inventory.now;
    for (const std::string& garbage : NamesIn(list->bytes)) {
      listed.insert(garbage);
      if (due) remove(garbage);
    }
    if (due) removed.push_back(name);
    report.blocked |= !due;
  }
  std::vector<std::string> found;
  for (const auto& [name, object] : inventory.objects) {
    if (made_at(name).has_value() || is_needed(name) || listed.contains(name)) continue;
    // A chunk may wait for its commit for half of the grace.
    const bool old = object.modified + seconds / 2 <= inventory.now;
    report.blocked |= seconds > 0;
    if (seconds == 0) {
      remove(name);
    } else if (old) {
      found.push_back(name);
    }
  }
  if (!found.empty()) {
    const std::string list = absl::StrJoin(found, "\n");
    const std::string name = lists + object::GarbageObjectName(inventory.known, RandomNumber());
    CAIRN_RETURN_IF_ERROR(store.PutIfAbsent(name, AsBytes(list)).status());
  }
  if (!removed.empty()) CAIRN_RETURN_IF_ERROR(store.Delete(removed));
  return report;
}

absl::StatusOr<ReclaimReport> CollectGarbage(const std::shared_ptr<ObjectStore>& store,
                                             const std::shared_ptr<FileSystem>& directory,
                                             const std::shared_ptr<const FrameContext>& env) {
  CAIRN_ASSIGN_OR_RETURN(Inventory inventory, ListObjects(*store));
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<object::IndexFile> index,
                         object::IndexFile::Open(store, 0));
  CAIRN_ASSIGN_OR_RETURN(const Needed needed,
                         ReadNeeded(FrameFile::OfFile(index, 0, env->use_mmap, directory), env));
  // Up to this time, a reader may have opened an older state, which names more objects.
  CAIRN_ASSIGN_OR_RETURN(inventory.known, TimeOf(*store));
  CAIRN_ASSIGN_OR_RETURN(
      ReclaimReport report,
      RemoveGarbage(*store, directory->ObjectsIn(".").grace, inventory, "",
                    [&needed](const std::string& name) { return needed.Has(name); }));
  report.oldest_generation = needed.generation;
  return report;
}

}  // namespace cairn::frame

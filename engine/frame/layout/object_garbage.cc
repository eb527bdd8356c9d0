#include "engine/frame/layout/object_garbage.h"

#include <algorithm>
#include <chrono>
#include <map>
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

// Lists the objects that are there, and those that the frame needs.
struct Inventory {
  std::map<std::string, ObjectInfo> objects;
  int64_t now = 0;              // by the store's clock, when the listing began
  int64_t known = 0;            // by the store's clock, after the state was read
  std::vector<int64_t> chunks;  // named by the checkpoint or a record after it, in order
  int64_t journal_begin = 0;    // of the records after the checkpoint
  int64_t journal_end = 0;
  uint64_t generation = 0;  // of the checkpoint

  bool Needs(const std::string& name) const;
};

// Returns true also for names of other kinds, which are not the frame's to remove.
bool Inventory::Needs(const std::string& name) const {
  if (const auto number = format::ParseChunkFileName(name); number.has_value()) {
    return std::ranges::binary_search(chunks, *number);
  }
  const auto position = object::ParseJournalObjectName(name);
  if (!position.has_value()) return true;
  // The objects were listed before the end of the journal was read, so an object after the end is
  // one of a frame that this one replaced. An object at the end may be the record that ends it.
  return *position >= journal_begin && *position <= journal_end;
}

// Lists the objects, and reads the state after that: an object that was listed and that no state
// names by then was dropped, or waits for its commit.
absl::StatusOr<Inventory> TakeInventory(const std::shared_ptr<ObjectStore>& store,
                                        const std::shared_ptr<FileSystem>& directory,
                                        const std::shared_ptr<const FrameContext>& env) {
  Inventory inventory;
  for (std::string after;;) {
    CAIRN_ASSIGN_OR_RETURN(ObjectListing listing, store->List("", after, kNamesAtOnce));
    if (inventory.now == 0) inventory.now = listing.now;
    for (ObjectInfo& object : listing.objects) {
      after = object.name;
      inventory.objects.emplace(object.name, std::move(object));
    }
    if (!listing.more || listing.objects.empty()) break;
  }
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<object::IndexFile> index,
                         object::IndexFile::Open(store, 0));
  const FrameFile source = FrameFile::OfFile(index, 0, env->use_mmap, directory);
  JournalFootprint footprint;
  CAIRN_ASSIGN_OR_RETURN(const StatePtr state, LoadState(source, env, &footprint));
  CAIRN_RETURN_IF_ERROR(state->JournalStatus());
  // Up to this time, a reader may have opened an older state, which names more objects.
  CAIRN_ASSIGN_OR_RETURN(const ObjectListing later,
                         store->List(std::string(object::kGarbagePrefix), "", 1));
  inventory.known = later.now;
  CAIRN_ASSIGN_OR_RETURN(const StatePtr checkpoint,
                         LoadCheckpoint(source, state->checkpoint->header_bytes, env));
  CAIRN_ASSIGN_OR_RETURN(inventory.chunks, FileNumbersIn(checkpoint->chunks, SIZE_MAX));
  for (const JournalFootprint::Placed& chunk : footprint.placed) {
    inventory.chunks.push_back(chunk.bytes.begin);
  }
  std::ranges::sort(inventory.chunks);
  inventory.journal_begin = checkpoint->journal->begin;
  inventory.journal_end = state->journal->end;
  inventory.generation = checkpoint->generation();
  return inventory;
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

absl::StatusOr<ReclaimReport> CollectGarbage(const std::shared_ptr<ObjectStore>& store,
                                             const std::shared_ptr<FileSystem>& directory,
                                             const std::shared_ptr<const FrameContext>& env) {
  const int64_t grace = directory->ObjectsIn(".").grace.count();
  CAIRN_ASSIGN_OR_RETURN(const Inventory inventory, TakeInventory(store, directory, env));
  ReclaimReport report{.oldest_generation = inventory.generation};
  std::vector<std::string> removed;
  std::set<std::string> listed;
  const auto remove = [&](const std::string& name) {
    const auto object = inventory.objects.find(name);
    if (object == inventory.objects.end() || inventory.Needs(name)) return;
    removed.push_back(name);
    report.freed += object->second.size;
  };
  for (const auto& [name, object] : inventory.objects) {
    const std::optional<int64_t> made = object::ParseGarbageObjectName(name);
    if (!made.has_value()) continue;
    const absl::StatusOr<ObjectPart> list = store->Get(name);
    if (absl::IsNotFound(list.status())) continue;  // another process has just done with it
    CAIRN_RETURN_IF_ERROR(list.status());
    const bool due = *made + grace <= inventory.now;
    for (const std::string& garbage : NamesIn(list->bytes)) {
      listed.insert(garbage);
      if (due) remove(garbage);
    }
    if (due) removed.push_back(name);
    report.blocked |= !due;
  }
  std::vector<std::string> found;
  for (const auto& [name, object] : inventory.objects) {
    if (inventory.Needs(name) || listed.contains(name)) continue;
    // A chunk may wait for its commit for half of the grace.
    const bool old = object.modified + grace / 2 <= inventory.now;
    report.blocked |= grace > 0;
    if (grace == 0) {
      remove(name);
    } else if (old) {
      found.push_back(name);
    }
  }
  if (!found.empty()) {
    const std::string list = absl::StrJoin(found, "\n");
    CAIRN_RETURN_IF_ERROR(
        store
            ->PutIfAbsent(object::GarbageObjectName(inventory.known, RandomNumber()), AsBytes(list))
            .status());
  }
  if (!removed.empty()) CAIRN_RETURN_IF_ERROR(store->Delete(removed));
  return report;
}

}  // namespace cairn::frame

#include "engine/collection/objects/collect_objects.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/object_store.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/collection/objects/object_member.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/layout/object_garbage.h"
#include "engine/object/object_names.h"

namespace cairn::collection {

namespace {

// No member and no object of the ledger as a frame has such a name.
constexpr std::string_view kLists("embed.b2e/members/");

// The objects that states of a member since its index need.
struct NeededOf {
  std::vector<int64_t> chunks;  // their numbers, in order
  uint64_t id = 0;
  uint64_t index = 0;  // generation
};

// Returns the prefix of the member that an object belongs to, or nothing if it belongs to none.
std::string_view PrefixOfMember(std::string_view name) {
  for (size_t begin = 0, end = name.find('/'); end != name.npos;
       begin = end + 1, end = name.find('/', begin)) {
    if (KindOfFile(name.substr(begin, end - begin)).has_value()) return name.substr(0, end + 1);
  }
  return {};
}

// Tells which objects of a collection are needed.
class Needs {
 public:
  explicit Needs(const frame::Inventory& there);

  // Adds a member that the ledger lists.
  void Add(std::string prefix, NeededOf needed) {
    members_.emplace(std::move(prefix), std::move(needed));
  }
  // Returns true also for names that are not the collection's to remove.
  bool Has(std::string_view name) const;

 private:
  // Objects whose names begin in the same way.
  struct Found {
    bool has_index = false;  // only members of collections have one
    bool has_chunks = false;
    bool has_frame = false;  // which others may have made
  };

  bool IsOfOthers(std::string_view prefix) const;

  std::map<std::string, NeededOf, std::less<>> members_;  // by prefix
  std::map<std::string, Found, std::less<>> found_;       // likewise
  std::set<std::string> inner_;  // the beginnings of names in collections inside this one
};

Needs::Needs(const frame::Inventory& there) {
  constexpr std::string_view kInnerLedger = "/embed.b2e/";
  for (const auto& [name, object] : there.objects) {
    if (const size_t inner = name.find(kInnerLedger); inner != name.npos) {
      inner_.insert(name.substr(0, inner + 1));
    }
    const std::string_view prefix = PrefixOfMember(name);
    if (prefix.empty()) continue;
    const std::string_view rest = std::string_view(name).substr(prefix.size());
    Found& found = found_[std::string(prefix)];
    found.has_index |= ParseIndexObjectName(rest).has_value();
    found.has_chunks |= format::ParseChunkFileName(rest).has_value();
    found.has_frame |= rest == format::kIndexFileName;
  }
}

bool Needs::IsOfOthers(std::string_view prefix) const {
  return std::ranges::any_of(
      inner_, [prefix](const std::string& inner) { return prefix.starts_with(inner); });
}

bool Needs::Has(std::string_view name) const {
  const std::string_view prefix = PrefixOfMember(name);
  const auto found = found_.find(prefix);
  if (found == found_.end() || IsOfOthers(prefix)) return true;
  name.remove_prefix(prefix.size());
  const auto member = members_.find(prefix);
  const bool is_there = member != members_.end();
  // A frame that another program has put there stays.
  if (!is_there && found->second.has_frame && !found->second.has_index) return true;
  if (const auto number = format::ParseChunkFileName(name); number.has_value()) {
    return is_there && std::ranges::binary_search(member->second.chunks, *number);
  }
  if (name == format::kIndexFileName) return is_there;
  const auto index = ParseIndexObjectName(name);
  if (!index.has_value()) return true;
  // As long as there are chunks of a member that is gone, something has to tell that it was one.
  if (!is_there) return found->second.has_chunks;
  return index->id == member->second.id && index->generation >= member->second.index;
}

absl::StatusOr<NeededOf> ReadNeeds(const Site& site, std::string_view name, const Ledger& ledger) {
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<frame::FrameCore> core,
                         OpenListedMember(site, name, ledger));
  NeededOf needed;
  needed.id = ledger.table.members.find(name)->second.id;
  needed.index = ledger.IndexOf(name);
  CAIRN_ASSIGN_OR_RETURN(needed.chunks, frame::ChunksNamed(core->source(), core->env()));
  return needed;
}

// Whoever opens the member alone must not meet the index of a checkpoint whose chunks are garbage.
absl::Status RenewFrame(ObjectStore& store, const std::string& prefix, const NeededOf& needed,
                        const frame::Inventory& there) {
  const std::string name = IndexObjectName(needed.id, needed.index);
  const auto frame = there.objects.find(prefix + std::string(format::kIndexFileName));
  const auto index = there.objects.find(prefix + name);
  const bool is_known = index != there.objects.end();
  const bool is_shown = frame != there.objects.end();
  if (is_known && is_shown && frame->second.etag == index->second.etag) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const ObjectPart newest, store.Get(prefix + name));
  const std::string shown = prefix + std::string(format::kIndexFileName);
  if (!is_shown) return store.PutIfAbsent(shown, newest.bytes).status();
  return store.PutIfMatch(shown, frame->second.etag, newest.bytes).status();
}

}  // namespace

absl::StatusOr<bool> IsCollectionDue(const Site& site) {
  const ObjectDirectoryInfo root = site.files->ObjectsIn(site.root);
  if (root.grace.count() == 0) return false;
  const std::string lists = std::string(kLists) + std::string(object::kGarbagePrefix);
  CAIRN_ASSIGN_OR_RETURN(const ObjectListing listing, root.store->List(lists, "", 1000));
  if (listing.objects.empty()) return true;
  const std::string_view last = std::string_view(listing.objects.back().name);
  const std::optional<int64_t> made = object::ParseGarbageObjectName(last.substr(kLists.size()));
  return !made.has_value() || *made + root.grace.count() / 4 <= listing.now;
}

absl::Status CollectObjects(const Site& site, const Ledger& ledger,
                            absl::FunctionRef<absl::Status()> follow) {
  const ObjectDirectoryInfo root = site.files->ObjectsIn(site.root);
  ObjectStore& store = *root.store;
  CAIRN_ASSIGN_OR_RETURN(frame::Inventory there, frame::ListObjects(store));
  CAIRN_RETURN_IF_ERROR(follow());
  Needs needs(there);
  for (const auto& [name, entry] : ledger.table.members) {
    const std::string prefix = site.PathOf(name, entry.kind).substr(site.root.size() + 1) + "/";
    CAIRN_ASSIGN_OR_RETURN(NeededOf needed, ReadNeeds(site, name, ledger));
    CAIRN_RETURN_IF_ERROR(RenewFrame(store, prefix, needed, there));
    needs.Add(prefix, std::move(needed));
  }
  CAIRN_ASSIGN_OR_RETURN(there.known, frame::TimeOf(store));
  const std::string lists(kLists);
  // An empty list tells others when this was done.
  CAIRN_RETURN_IF_ERROR(
      store.PutIfAbsent(lists + object::GarbageObjectName(there.known, RandomNumber()), {})
          .status());
  CAIRN_RETURN_IF_ERROR(
      frame::RemoveGarbage(store, root.grace, there, lists, [&needs](const std::string& name) {
        return needs.Has(name);
      }).status());
  // The ledger is a frame of its own.
  const ObjectDirectoryInfo frame = site.files->ObjectsIn(site.LedgerPath());
  return frame::CollectGarbage(
             frame.store, frame.files,
             std::make_shared<const frame::FrameContext>(LedgerReading(site.files)))
      .status();
}

}  // namespace cairn::collection

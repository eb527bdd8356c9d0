#include "engine/collection/collection_increment.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "cairn/writer.h"
#include "engine/base/byte_writer.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/increment_layer.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/collection/members/members_writer.h"
#include "engine/collection/packed_store.h"

namespace cairn::collection {

namespace {

// A collection that others change all the time is not the content of an increment for long.
constexpr int kMaxTries = 8;

absl::Status IsNoIncrement() { return FailedPrecondition("not an increment of a collection"); }

absl::StatusOr<IncrementLayer> LayerOf(const View& increment) {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot ledger, increment.OpenPackedLedger());
  if (!ledger.HasVlmetalayer(kIncrementLayer)) return IsNoIncrement();
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> layer,
                         ledger.GetVlmetalayer(kIncrementLayer));
  return ParseIncrementLayer(layer);
}

struct Content {
  MemberKind kind = MemberKind::kArray;
  uint64_t hash = 0;
};
using Contents = std::map<std::string, Content>;  // by name

absl::StatusOr<uint64_t> HashOfMember(const View& view, const std::string& name) {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot member, view.OpenMember(name));
  const absl::StatusOr<uint64_t> hash = member.ContentHash();
  if (!hash.ok()) return AtPath(name, hash.status());
  return hash;
}

absl::StatusOr<Contents> ContentsOf(const View& view) {
  Contents contents;
  for (const auto& [name, entry] : view.table().members) {
    CAIRN_ASSIGN_OR_RETURN(const uint64_t hash, HashOfMember(view, name));
    contents[name] = {.kind = entry.kind, .hash = hash};
  }
  return contents;
}

uint64_t HashOf(const Contents& contents) {
  ByteWriter all;
  for (const auto& [name, content] : contents) {
    WriteName(name, all);
    all.U8(static_cast<uint8_t>(content.kind));
    all.Le(content.hash);
  }
  return Xxh3(all.written());
}

// Makes the contents those that the increment leads to.
absl::Status Apply(const View& increment, const IncrementLayer& layer, Contents& contents) {
  for (const std::string& name : layer.removed) contents.erase(name);
  for (const WholeMember& member : layer.whole) {
    CAIRN_ASSIGN_OR_RETURN(const uint64_t hash, HashOfMember(increment, member.name));
    contents[member.name] = {.kind = member.kind, .hash = hash};
  }
  for (const std::string& name : layer.changed) {
    CAIRN_ASSIGN_OR_RETURN(const Snapshot change, increment.OpenMember(name));
    CAIRN_ASSIGN_OR_RETURN(const IncrementInfo info, change.GetIncrementInfo());
    contents[name].hash = info.result_hash;
  }
  return absl::OkStatus();
}

// Adds to a store the frames that an increment needs.
class IncrementWriter {
 public:
  IncrementWriter(const View& view, const View& since, PackedStore& store)
      : view_(view), since_(since), store_(store) {
    layer_.info.base_generation = since.table().number;
    layer_.info.result_generation = view.table().number;
  }

  absl::Status Run() {
    CAIRN_ASSIGN_OR_RETURN(const Contents base, ContentsOf(since_));
    CAIRN_ASSIGN_OR_RETURN(const Contents result, ContentsOf(view_));
    layer_.info.base_hash = HashOf(base);
    layer_.info.result_hash = HashOf(result);
    for (const auto& [name, content] : result) {
      const auto before = base.find(name);
      const bool is_there = before != base.end();
      CAIRN_RETURN_IF_ERROR(AddMember(name, content, is_there ? &before->second : nullptr));
    }
    for (const auto& [name, content] : base) {
      if (!result.contains(name)) layer_.removed.push_back(name);
    }
    return store_.AddLedger(kIncrementLayer, EncodeIncrementLayer(layer_));
  }

 private:
  // Adds what leads to the content from the one before, which is null for a new member.
  absl::Status AddMember(const std::string& name, const Content& content, const Content* before) {
    CAIRN_ASSIGN_OR_RETURN(const Snapshot member, view_.OpenMember(name));
    if (before != nullptr && before->kind == content.kind) {
      if (before->hash == content.hash) return absl::OkStatus();
      CAIRN_ASSIGN_OR_RETURN(const Snapshot base, since_.OpenMember(name));
      const absl::Status added = store_.Add(name, MemberKind::kOther, member, base).status();
      if (added.ok()) layer_.changed.push_back(name);
      // A member that no increment leads to, as of another typesize, is stored as a whole.
      if (!absl::IsFailedPrecondition(added)) return added;
    }
    if (before != nullptr) layer_.removed.push_back(name);
    layer_.whole.push_back({.name = name, .kind = content.kind});
    return store_.Add(name, content.kind, member).status();
  }

  const View& view_;
  const View& since_;
  PackedStore& store_;
  IncrementLayer layer_;
};

absl::Status StageChange(const View& increment, const std::string& name, MembersWriter& writer) {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot change, increment.OpenMember(name));
  CAIRN_ASSIGN_OR_RETURN(Writer* const member, writer.Edit(name));
  return AtPath(name, member->ApplyIncrement(change));
}

absl::Status StageIncrement(const View& increment, const IncrementLayer& layer,
                            MembersWriter& writer) {
  for (const std::string& name : layer.removed) CAIRN_RETURN_IF_ERROR(writer.Remove(name));
  for (const WholeMember& member : layer.whole) {
    CAIRN_ASSIGN_OR_RETURN(const Snapshot content, increment.OpenMember(member.name));
    CAIRN_RETURN_IF_ERROR(writer.AddCopy(member.name, member.kind, content));
  }
  for (const std::string& name : layer.changed) {
    CAIRN_RETURN_IF_ERROR(StageChange(increment, name, writer));
  }
  return absl::OkStatus();
}

// Applies the increment to the newest commit, or fails with kAborted if another one comes before.
// Returns false if the collection has the content already.
absl::StatusOr<bool> ApplyOnce(CollectionCore& core, const View& increment,
                               const IncrementLayer& layer, MembersWriter& writer) {
  CAIRN_ASSIGN_OR_RETURN(ViewPtr before, core.Refresh());
  CAIRN_ASSIGN_OR_RETURN(Contents contents, ContentsOf(*before));
  const uint64_t content = HashOf(contents);
  if (content == layer.info.result_hash) return false;
  if (content != layer.info.base_hash) {
    return FailedPrecondition(
        "increment: made for a collection with content %016x, this one has %016x",
        layer.info.base_hash, content);
  }
  writer.CommitOnlyAfter(before->table().number);
  before.reset();  // a snapshot would keep what the commit replaces
  CAIRN_RETURN_IF_ERROR(Apply(increment, layer, contents));
  if (HashOf(contents) != layer.info.result_hash) {
    return DataLoss("increment: it does not lead to the content that it names");
  }
  CAIRN_RETURN_IF_ERROR(StageIncrement(increment, layer, writer));
  CAIRN_RETURN_IF_ERROR(writer.Commit().status());
  return true;
}

}  // namespace

absl::StatusOr<uint64_t> ContentHashOf(const View& view) {
  CAIRN_ASSIGN_OR_RETURN(const Contents contents, ContentsOf(view));
  return HashOf(contents);
}

absl::Status CheckIsNoIncrement(const View& view) {
  const absl::StatusOr<IncrementLayer> layer = LayerOf(view);
  if (absl::IsFailedPrecondition(layer.status())) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(layer.status());
  return FailedPrecondition(
      "an increment of a collection, from commit %d to %d: apply it to a copy of the collection",
      layer->info.base_generation, layer->info.result_generation);
}

absl::StatusOr<Snapshot> View::OpenPackedLedger() const { return IsNoIncrement(); }

absl::Status View::WriteIncrement(const std::string& path, const View& since) const {
  for (const View* state : {this, &since}) CAIRN_RETURN_IF_ERROR(CheckIsNoIncrement(*state));
  CAIRN_ASSIGN_OR_RETURN(const Site to, SiteOfCopy(path));
  if (IsInObjects(to)) {
    return Unimplemented("%s: an increment of a collection is a file", path);
  }
  CAIRN_ASSIGN_OR_RETURN(PackedStore store, PackedStore::Create(to));
  CAIRN_RETURN_IF_ERROR(IncrementWriter(*this, since, store).Run());
  return store.Publish();
}

absl::StatusOr<IncrementInfo> IncrementInfoOf(const View& increment) {
  CAIRN_ASSIGN_OR_RETURN(const IncrementLayer layer, LayerOf(increment));
  return layer.info;
}

absl::StatusOr<bool> ApplyIncrement(CollectionCore& core, const View& increment,
                                    const CollectionWriterOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(const IncrementLayer layer, LayerOf(increment));
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<MembersWriter> writer, core.OpenWriter(options));
  absl::StatusOr<bool> applied = ApplyOnce(core, increment, layer, *writer);
  // Another writer may have applied the increment meanwhile.
  for (int tries = 1; tries < kMaxTries && absl::IsAborted(applied.status()); ++tries) {
    writer->Rollback();
    applied = ApplyOnce(core, increment, layer, *writer);
  }
  CAIRN_RETURN_IF_ERROR(applied.status());
  CAIRN_RETURN_IF_ERROR(writer->Close());
  return applied;
}

}  // namespace cairn::collection

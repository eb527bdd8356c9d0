#include "engine/collection/collection_increment.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "cairn/writer.h"
#include "engine/base/byte_writer.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/increment_layer.h"
#include "engine/collection/members/members_writer.h"
#include "engine/collection/packed_store.h"

namespace cairn::collection {

namespace {

absl::Status IsNoIncrement() { return FailedPrecondition("not an increment of a collection"); }

absl::StatusOr<IncrementLayer> LayerOf(const View& increment) {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot ledger, increment.OpenPackedLedger());
  if (!ledger.HasVlmetalayer(kIncrementLayer)) return IsNoIncrement();
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> layer,
                         ledger.GetVlmetalayer(kIncrementLayer));
  return ParseIncrementLayer(layer);
}

absl::StatusOr<uint64_t> HashOfMember(const View& view, const std::string& name) {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot member, view.OpenMember(name));
  const absl::StatusOr<uint64_t> hash = member.ContentHash();
  if (!hash.ok()) return AtPath(name, hash.status());
  return hash;
}

void AddToHash(const std::string& name, MemberKind kind, uint64_t hash, ByteWriter& all) {
  all.Le(static_cast<uint16_t>(name.size()));
  all.Append(std::as_bytes(std::span(name)));
  all.U8(static_cast<uint8_t>(kind));
  all.Le(hash);
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
    CAIRN_ASSIGN_OR_RETURN(layer_.info.base_hash, ContentHashOf(since_));
    ByteWriter all;
    for (const auto& [name, entry] : view_.table().members) {
      CAIRN_ASSIGN_OR_RETURN(const uint64_t hash, HashOfMember(view_, name));
      AddToHash(name, entry.kind, hash, all);
      CAIRN_RETURN_IF_ERROR(AddMember(name, entry.kind, hash));
    }
    for (const auto& [name, entry] : since_.table().members) {
      if (!view_.table().members.contains(name)) layer_.removed.push_back(name);
    }
    layer_.info.result_hash = Xxh3(all.written());
    return store_.AddLedger(kIncrementLayer, EncodeIncrementLayer(layer_));
  }

 private:
  absl::Status AddMember(const std::string& name, MemberKind kind, uint64_t hash) {
    CAIRN_ASSIGN_OR_RETURN(const Snapshot member, view_.OpenMember(name));
    const auto base = since_.table().members.find(name);
    const bool is_there = base != since_.table().members.end();
    if (is_there && base->second.kind == kind) {
      CAIRN_ASSIGN_OR_RETURN(const Snapshot before, since_.OpenMember(name));
      CAIRN_ASSIGN_OR_RETURN(const uint64_t base_hash, before.ContentHash());
      if (base_hash == hash) return absl::OkStatus();
      const absl::Status added = store_.Add(name, MemberKind::kOther, member, before).status();
      if (added.ok()) layer_.changed.push_back(name);
      // A member that no increment leads to, as of another typesize, is stored as a whole.
      if (!absl::IsFailedPrecondition(added)) return added;
    }
    if (is_there) layer_.removed.push_back(name);
    layer_.whole.push_back({.name = name, .kind = kind});
    return store_.Add(name, kind, member).status();
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

}  // namespace

absl::StatusOr<uint64_t> ContentHashOf(const View& view) {
  ByteWriter all;
  for (const auto& [name, entry] : view.table().members) {
    CAIRN_ASSIGN_OR_RETURN(const uint64_t hash, HashOfMember(view, name));
    AddToHash(name, entry.kind, hash, all);
  }
  return Xxh3(all.written());
}

absl::StatusOr<Snapshot> View::OpenPackedLedger() const { return IsNoIncrement(); }

absl::Status View::WriteIncrement(const std::string& path, const View& since) const {
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
  CAIRN_ASSIGN_OR_RETURN(ViewPtr before, core.Refresh());
  CAIRN_ASSIGN_OR_RETURN(const uint64_t content, ContentHashOf(*before));
  if (content == layer.info.result_hash) {
    CAIRN_RETURN_IF_ERROR(writer->Close());
    return false;
  }
  if (content != layer.info.base_hash) {
    return FailedPrecondition(
        "increment: made for a collection with content %016x, this one has %016x",
        layer.info.base_hash, content);
  }
  before.reset();  // a snapshot would keep what the commit replaces
  CAIRN_RETURN_IF_ERROR(StageIncrement(increment, layer, *writer));
  CAIRN_RETURN_IF_ERROR(writer->Commit().status());
  CAIRN_RETURN_IF_ERROR(writer->Close());
  return true;
}

}  // namespace cairn::collection

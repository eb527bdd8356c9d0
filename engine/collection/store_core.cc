#include "engine/collection/store_core.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/collection/collection_verify.h"
#include "engine/collection/member_files.h"
#include "engine/collection/store/embedded_file.h"
#include "engine/collection/writer_core.h"

namespace cairn::collection {

namespace {

// The files of members. Where two differ only in this, the first one is the member.
constexpr std::array<std::string_view, 3> kSuffixes = {".b2nd", ".b2f", ".b2b"};

// Adds a file whose path in the store is `inside`, if it is that of a member.
void AddFile(std::string_view inside, StoredAt place, StoreContent& content) {
  const auto suffix =
      std::ranges::find_if(kSuffixes, [&](std::string_view end) { return inside.ends_with(end); });
  if (suffix == kSuffixes.end() || inside.size() == suffix->size()) return;
  inside.remove_suffix(suffix->size());
  const std::string name = absl::StrCat(inside.starts_with('/') ? "" : "/", std::string(inside));
  const MemberKind kind = suffix == kSuffixes.begin() ? MemberKind::kArray : MemberKind::kOther;
  const auto known = content.table.members.find(name);
  const bool is_first = known == content.table.members.end();
  if (!is_first && (known->second.kind == MemberKind::kArray || kind == MemberKind::kOther)) return;
  content.table.members.insert_or_assign(name, MemberEntry{.kind = kind});
  content.places.insert_or_assign(name, std::move(place));
}

// Adds the values that a frame has, if it is a store of values.
absl::Status AddValues(const Snapshot& store, StoreContent& content) {
  if (!store.HasVlmetalayer(kEmbeddedLayer)) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> layer, store.GetVlmetalayer(kEmbeddedLayer));
  CAIRN_ASSIGN_OR_RETURN(EmbeddedValues values, ParseEmbeddedValues(layer));
  for (const auto& [name, value] : values) {
    if (content.table.members.emplace(name, MemberEntry{.kind = MemberKind::kOther}).second) {
      content.places.emplace(name, value);
    }
  }
  content.values = store;
  return absl::OkStatus();
}

absl::StatusOr<Snapshot> OpenFrameAt(const Site& site, const std::string& path, int64_t offset) {
  OpenOptions options = site.MemberOptions();
  options.offset = offset;
  CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path, options));
  return frame.snapshot();
}

absl::StatusOr<StoreContent> ListDirectory(const Site& site) {
  StoreContent content;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> files, FindMembers(site));
  for (const std::string& path : files) {
    AddFile(std::string_view(path).substr(site.root.size()), path, content);
  }
  CAIRN_ASSIGN_OR_RETURN(const Snapshot store, OpenFrameAt(site, site.LedgerPath(), 0));
  CAIRN_RETURN_IF_ERROR(AddValues(store, content));
  return content;
}

absl::StatusOr<Snapshot> OpenEntry(const Site& site, const File& zip, const ZipEntry& entry) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t begin, FindZipData(zip, entry));
  CAIRN_ASSIGN_OR_RETURN(const Snapshot frame, OpenFrameAt(site, site.root, begin));
  const absl::StatusOr<FileIdentity> listed = zip.Identity();
  if (listed.ok() && frame.file().has_value() && *frame.file() != *listed) {
    return FailedPrecondition("another file has taken the place of the store; refresh it");
  }
  if (frame.info().frame_size <= entry.size) return frame;
  return DataLoss("zip entry: of %d bytes, and its frame has %d", entry.size,
                  frame.info().frame_size);
}

absl::StatusOr<StoreContent> ListZip(const Site& site, std::shared_ptr<const File> zip) {
  StoreContent content;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<ZipEntry> entries, ReadZipDirectory(*zip));
  std::optional<ZipEntry> values;
  for (const ZipEntry& entry : entries) {
    AddFile(entry.name, entry, content);
    if (entry.name == kLedgerName) values = entry;
  }
  if (values.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(const Snapshot store, OpenEntry(site, *zip, *values));
    CAIRN_RETURN_IF_ERROR(AddValues(store, content));
  }
  content.zip = std::move(zip);
  return content;
}

absl::StatusOr<StoreContent> ListFrame(const Site& site) {
  StoreContent content;
  CAIRN_ASSIGN_OR_RETURN(const Snapshot store, OpenFrameAt(site, site.root, 0));
  CAIRN_RETURN_IF_ERROR(store.info().trailer_damaged
                            ? DataLoss("store of values: its trailer is damaged")
                            : absl::OkStatus());
  CAIRN_RETURN_IF_ERROR(AddValues(store, content));
  if (content.values.has_value()) return content;
  return InvalidArgument("a frame, and neither a collection nor a store of python-blosc2");
}

absl::StatusOr<StoreContent> List(const Site& site) {
  if (site.files->OpenDirectory(site.root).ok()) return ListDirectory(site);
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file, site.files->Open(site.root, FileMode::kRead));
  if (IsZip(*file)) return ListZip(site, std::move(file));
  return ListFrame(site);
}

}  // namespace

bool StoreView::ListsSame(const StoreView& other) const {
  const auto identity = [](const StoreContent& content) -> std::optional<FileIdentity> {
    if (content.zip == nullptr)
      return content.values.has_value() ? content.values->file() : std::nullopt;
    const absl::StatusOr<FileIdentity> file = content.zip->Identity();
    return file.ok() ? std::optional(*file) : std::nullopt;
  };
  return content_.table == other.content_.table && content_.places == other.content_.places &&
         identity(content_) == identity(other.content_);
}

absl::StatusOr<Snapshot> StoreView::OpenFile(const std::string& path) const {
  return OpenFrameAt(site(), path, 0);
}

absl::StatusOr<Snapshot> StoreView::OpenZipped(const ZipEntry& entry) const {
  return OpenEntry(site(), *content_.zip, entry);
}

absl::StatusOr<Snapshot> StoreView::OpenEmbedded(const std::string& path,
                                                 const EmbeddedValue& value) const {
  if (value.is_elsewhere) {
    return Unimplemented("the store has only the address of this array, which is on a server");
  }
  const int64_t size = content_.values->info().nbytes;
  if (!RangeFits(value.offset, value.length, size)) {
    return DataLoss("store of values: expected %d bytes at byte %d, got a store of %d",
                    value.length, value.offset, size);
  }
  OpenOptions options = site().MemberOptions();
  options.use_mmap = false;
  options.file_system = ShowEmbedded(*content_.values, value.offset, value.length);
  CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path, options));
  return frame.snapshot();
}

absl::StatusOr<Snapshot> StoreView::OpenMember(std::string_view name) const {
  const auto place = content_.places.find(name);
  if (place == content_.places.end()) {
    return NotFound("%s: no member of the store %s", name.substr(0, 256), site().root);
  }
  const std::string shown = absl::StrCat(site().root, std::string(name));
  absl::StatusOr<Snapshot> member;
  if (const auto* path = std::get_if<std::string>(&place->second)) member = OpenFile(*path);
  if (const auto* entry = std::get_if<ZipEntry>(&place->second)) member = OpenZipped(*entry);
  if (const auto* value = std::get_if<EmbeddedValue>(&place->second))
    member = OpenEmbedded(shown, *value);
  if (member.ok()) return member;
  return AtPath(shown, member.status());
}

// A zip file has checksums of all that is in it.
absl::StatusOr<VerifyReport> StoreView::Verify(const VerifyOptions& options) const {
  WholeReport whole(options);
  for (const auto& [name, place] : content_.places) {
    CAIRN_RETURN_IF_ERROR(whole.Add(name, OpenMember(name)));
    const auto* const entry = std::get_if<ZipEntry>(&place);
    if (entry == nullptr || !entry->plain || options.depth == VerifyDepth::kStructure) continue;
    const absl::StatusOr<int64_t> begin = FindZipData(*content_.zip, *entry);
    if (!begin.ok()) continue;  // told already
    CAIRN_ASSIGN_OR_RETURN(const uint32_t crc, ZipChecksum(*content_.zip, *begin, entry->size));
    if (crc == entry->crc) continue;
    whole.AddFinding(name, {.begin = 0,
                            .end = entry->size,
                            .section = "zip entry",
                            .reason = "the checksum of the zip file differs"});
  }
  return std::move(whole).Take();
}

absl::StatusOr<std::shared_ptr<StoreCore>> StoreCore::Open(std::shared_ptr<const Site> site) {
  const std::shared_ptr<StoreCore> core(new StoreCore(std::move(site)));
  CAIRN_RETURN_IF_ERROR(core->Refresh().status());
  return core;
}

ViewPtr StoreCore::newest() const {
  const MutexLock lock(mutex_);
  return newest_;
}

absl::StatusOr<ViewPtr> StoreCore::Refresh() {
  const MutexLock lock(mutex_);
  absl::StatusOr<StoreContent> content = List(*site_);
  if (!content.ok()) return AtPath(site_->root, content.status());
  auto found = std::make_shared<const StoreView>(site_, *std::move(content));
  if (newest_ == nullptr || !found->ListsSame(*newest_)) newest_ = std::move(found);
  return newest_;
}

absl::StatusOr<std::unique_ptr<WriterCore>> StoreCore::OpenWriter(
    const CollectionWriterOptions&) const {
  return FailedPrecondition(
      "%s: a store of python-blosc2, which Cairn only reads; a copy of it is a collection",
      site_->root);
}

}  // namespace cairn::collection

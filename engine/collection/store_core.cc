#include "engine/collection/store_core.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/collection/collection_verify.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/store/embedded_file.h"
#include "engine/collection/write/writer_core.h"

namespace cairn::collection {

namespace {

// Adds a file whose path in the store is `inside`, in place of one of the same name. Returns false
// if it is not that of a member.
bool AddFile(std::string_view inside, StoredAt place, StoreContent& content) {
  const std::optional<MemberKind> kind = KindOfFile(inside);
  if (!kind.has_value() || inside.size() == SuffixOf(*kind).size()) return false;
  inside.remove_suffix(SuffixOf(*kind).size());
  const std::string name = absl::StrCat(inside.starts_with('/') ? "" : "/", std::string(inside));
  content.table.members.insert_or_assign(name, MemberEntry{.kind = *kind});
  content.places.insert_or_assign(name, std::move(place));
  return true;
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
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::string> files, FindMembers(site));
  std::ranges::sort(files);  // whatever the order of the directory is
  for (const std::string& path : files) {
    AddFile(std::string_view(path).substr(site.root.size()), path, content);
  }
  CAIRN_ASSIGN_OR_RETURN(const Snapshot store, OpenFrameAt(site, site.LedgerPath(), 0));
  CAIRN_RETURN_IF_ERROR(AddValues(store, content));
  return content;
}

// Errors: kFailedPrecondition if the zip file is no longer at its path.
absl::Status CheckIsThere(const Site& site, const File& zip) {
  const absl::StatusOr<FileIdentity> listed = zip.Identity();
  const absl::StatusOr<FileIdentity> there = site.files->Identity(site.root);
  if (!listed.ok() || (there.ok() && *there == *listed)) return absl::OkStatus();
  return FailedPrecondition("another file has taken the place of the store; refresh it");
}

absl::StatusOr<Snapshot> OpenEntry(const Site& site, const File& zip, const ZipEntry& entry) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t begin, FindZipData(zip, entry));
  const absl::StatusOr<Snapshot> frame = OpenFrameAt(site, site.root, begin);
  CAIRN_RETURN_IF_ERROR(CheckIsThere(site, zip));
  if (!frame.ok() || frame->info().frame_size <= entry.size) return frame;
  return DataLoss("zip entry: of %d bytes, and its frame has %d", entry.size,
                  frame->info().frame_size);
}

absl::StatusOr<StoreContent> ListZip(const Site& site, std::shared_ptr<const File> zip) {
  StoreContent content;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<ZipEntry> entries, ReadZipDirectory(*zip));
  std::optional<ZipEntry> values;
  for (const ZipEntry& entry : entries) {
    if (AddFile(entry.name, entry, content)) continue;
    content.others.push_back(entry);
    if (entry.name == kLedgerName) values = entry;
    // A damaged name must not make a member vanish.
    const absl::Status found = FindZipData(*zip, entry).status();
    if (absl::IsDataLoss(found)) return AtPath(entry.name, found);
  }
  if (values.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(const Snapshot store, OpenEntry(site, *zip, *values));
    CAIRN_RETURN_IF_ERROR(AddValues(store, content));
    content.ledger = store;
    // Whoever unpacks a collection goes on to keep as many commits.
    if (const auto table = ReadTable(store); table.ok()) content.table.keep = table->keep;
  }
  content.zip = std::move(zip);
  return content;
}

absl::StatusOr<StoreContent> ListFrame(const Site& site) {
  StoreContent content;
  CAIRN_ASSIGN_OR_RETURN(const Snapshot store, OpenFrameAt(site, site.root, 0));
  if (store.info().trailer_damaged) return DataLoss("store of values: its trailer is damaged");
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
    if (content.zip == nullptr) {
      return content.values.has_value() ? content.values->file() : std::nullopt;
    }
    const absl::StatusOr<FileIdentity> file = content.zip->Identity();
    return file.ok() ? std::optional(*file) : std::nullopt;
  };
  return content_.table == other.content_.table && content_.places == other.content_.places &&
         identity(content_) == identity(other.content_);
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
  if (const auto* const path = std::get_if<std::string>(&place->second)) {
    member = OpenFrameAt(site(), *path, 0);
  } else if (const auto* const entry = std::get_if<ZipEntry>(&place->second)) {
    member = OpenEntry(site(), *content_.zip, *entry);
  } else {
    member = OpenEmbedded(shown, std::get<EmbeddedValue>(place->second));
  }
  if (member.ok()) return member;
  return AtPath(shown, member.status());
}

absl::StatusOr<Snapshot> StoreView::OpenPackedLedger() const {
  return content_.ledger.has_value() ? *content_.ledger : View::OpenPackedLedger();
}

absl::Status StoreView::CheckEntry(const std::string& name, const ZipEntry& entry,
                                   WholeReport& whole) const {
  const absl::StatusOr<int64_t> begin = FindZipData(*content_.zip, entry);
  if (!begin.ok()) return absl::OkStatus();  // is told, or cannot be read
  CAIRN_ASSIGN_OR_RETURN(const uint32_t crc, ZipChecksum(*content_.zip, *begin, entry.size));
  if (crc == entry.crc) return absl::OkStatus();
  whole.AddFinding(name, {.begin = 0,
                          .end = entry.size,
                          .section = "zip entry",
                          .reason = "the checksum of the zip file differs"});
  return absl::OkStatus();
}

absl::StatusOr<VerifyReport> StoreView::Verify(const VerifyOptions& options) const {
  WholeReport whole(options);
  const bool reads_all = options.depth != VerifyDepth::kStructure;
  if (content_.values.has_value()) {
    CAIRN_RETURN_IF_ERROR(whole.Add(std::string(kLedgerName), *content_.values));
  }
  for (const auto& [name, place] : content_.places) {
    CAIRN_RETURN_IF_ERROR(whole.Add(name, OpenMember(name)));
    const auto* const entry = std::get_if<ZipEntry>(&place);
    if (entry != nullptr && reads_all) CAIRN_RETURN_IF_ERROR(CheckEntry(name, *entry, whole));
  }
  if (!reads_all) return std::move(whole).Take();
  for (const ZipEntry& entry : content_.others) {
    CAIRN_RETURN_IF_ERROR(CheckEntry(entry.name, entry, whole));
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

absl::Status StoreCore::HasNoCommits() const {
  return FailedPrecondition(
      "%s: has no commits, as it is a packed collection or a store of python-blosc2", site_->root);
}

absl::StatusOr<std::vector<CommitInfo>> StoreCore::History() { return HasNoCommits(); }

absl::StatusOr<ViewPtr> StoreCore::OpenCommit(uint64_t) { return HasNoCommits(); }

absl::StatusOr<std::unique_ptr<MembersWriter>> StoreCore::OpenWriter(
    const CollectionWriterOptions&) const {
  return FailedPrecondition(
      "%s: a store of python-blosc2, which Cairn only reads; a copy of it is a collection",
      site_->root);
}

}  // namespace cairn::collection

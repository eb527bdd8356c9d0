#include "engine/collection/ledger/ledger_codec.h"

#include <algorithm>
#include <utility>

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/member_name.h"

namespace cairn::collection {

namespace {

constexpr uint32_t kVersion = 1;
// Versions of a table. In the older one of them each past commit leads to the number before its
// own.
constexpr uint32_t kVersionWithHistory = 2;
constexpr uint32_t kVersionWithNumbers = 3;
// Versions of a commit.
constexpr uint32_t kVersionWithCopies = 2;     // of objects
constexpr uint32_t kVersionWithReplacing = 3;  // with members that take the place of others
constexpr uint8_t kCheckpointFlag = 1;
constexpr uint8_t kSyncedFlag = 2;
constexpr uint8_t kReplacesFlag = 4;

void WritePosition(const Position& position, uint8_t flags, ByteWriter& writer) {
  writer.Le(position.generation, position.hash);
  writer.U8(flags | (position.checkpoint ? kCheckpointFlag : 0));
}

// Returns the flags beside those of the position, of which `known` may be set.
uint8_t ReadPosition(Position& position, uint8_t known, ByteReader& reader) {
  position.generation = reader.Le<uint64_t>("generation");
  position.hash = reader.Le<uint64_t>("hash");
  const uint8_t flags = reader.U8("flags");
  if ((flags & ~(kCheckpointFlag | known)) != 0) reader.Fail("flags", "unknown: %d", flags);
  position.checkpoint = (flags & kCheckpointFlag) != 0;
  return flags & known;
}

void WriteEntry(const MemberEntry& entry, uint8_t flags, ByteWriter& writer) {
  writer.Le(entry.id);
  writer.U8(static_cast<uint8_t>(entry.kind));
  WritePosition(entry.position, flags, writer);
}

// Returns the flags as ReadPosition does.
uint8_t ReadEntry(MemberEntry& entry, uint8_t known, ByteReader& reader) {
  entry.id = reader.Le<uint64_t>("id");
  const uint8_t kind = reader.U8("kind");
  entry.kind = static_cast<MemberKind>(kind);
  if (SuffixOf(entry.kind).empty()) reader.Fail("kind", "unknown: %d", kind);
  return ReadPosition(entry.position, known, reader);
}

ByteWriter BeginLayer(uint32_t version) {
  ByteWriter writer = BeginBinary();
  writer.Le(version);
  return writer;
}

// Returns the status of a reader that has read a whole layer.
absl::Status EndOf(ByteReader& reader) {
  if (reader.ok() && reader.remaining() > 0) {
    reader.Fail("end", "%d bytes too many", reader.remaining());
  }
  return reader.status();
}

// Returns a count of things that take at least `least` bytes each.
uint32_t ReadCount(std::string_view field, size_t least, ByteReader& reader) {
  const auto count = reader.Le<uint32_t>(field);
  if (!reader.ok()) return 0;
  if (count > reader.remaining() / least) reader.Fail(field, "%d of them", count);
  return reader.ok() ? count : 0;
}

constexpr size_t kLeastName = 2 + 2;
constexpr size_t kLeastPosition = 8 + 8 + 1;
constexpr size_t kLeastEntry = 8 + 1 + kLeastPosition;

FilePatch ReadPatch(ByteReader& reader) {
  FilePatch patch{.offset = reader.Le<int64_t>("offset"), .bytes = {}};
  const auto size = reader.Le<uint32_t>("size of a patch");
  const Bytes bytes = reader.Take(size, "patch");
  if (patch.offset < 0 || !CheckedAdd(patch.offset, std::ssize(bytes)).has_value()) {
    reader.Fail("offset", "%d", patch.offset);
  }
  patch.bytes.assign(bytes.begin(), bytes.end());
  return patch;
}

MemberPart ReadPart(ByteReader& reader) {
  MemberPart part{.name = ReadName(reader)};
  part.synced = ReadPosition(part.position, kSyncedFlag, reader) != 0;
  const uint32_t count = ReadCount("patches", 8 + 4, reader);
  for (uint32_t i = 0; i < count && reader.ok(); ++i) part.patches.push_back(ReadPatch(reader));
  return part;
}

absl::Status CheckVersion(uint32_t version, uint32_t newest, std::string_view layer) {
  if (version >= kVersion && version <= newest) return absl::OkStatus();
  return Unimplemented("%s: version %d; this Cairn reads version %d", layer, version, newest);
}

bool ChangesPosition(const PastEdit& edit) {
  return edit.kind == PastEdit::Kind::kChanged || edit.kind == PastEdit::Kind::kCheckpointed;
}

void WritePast(const LedgerTable& table, ByteWriter& writer) {
  writer.Le(table.keep, static_cast<uint32_t>(table.past.size()));
  for (const auto& commit : table.past) {
    writer.Le(commit->before, static_cast<uint32_t>(commit->edits.size()));
    for (const PastEdit& edit : commit->edits) {
      WriteName(edit.name, writer);
      writer.U8(static_cast<uint8_t>(edit.kind));
      if (edit.has_entry()) WriteEntry(edit.before, 0, writer);
      if (ChangesPosition(edit)) WritePosition(edit.before.position, 0, writer);
    }
  }
}

PastEdit ReadPastEdit(uint32_t version, ByteReader& reader) {
  PastEdit edit{.name = ReadName(reader)};
  const uint8_t kind = reader.U8("kind of an edit");
  edit.kind = static_cast<PastEdit::Kind>(kind);
  const bool is_newer = edit.kind == PastEdit::Kind::kReplaced && version < kVersionWithNumbers;
  if (edit.has_entry() && !is_newer) {
    ReadEntry(edit.before, 0, reader);
  } else if (ChangesPosition(edit)) {
    ReadPosition(edit.before.position, 0, reader);
  } else if (edit.kind != PastEdit::Kind::kAdded) {
    reader.Fail("kind of an edit", "unknown: %d", kind);
  }
  return edit;
}

void FailPast(uint32_t commits, const LedgerTable& table, ByteReader& reader) {
  reader.Fail("past commits", "%d of %d, of which %d are kept", commits, table.number, table.keep);
}

// Commits of the older version that change no content are joined here, as a writer joins them now.
void ReadPast(uint32_t version, LedgerTable& table, ByteReader& reader) {
  const bool has_numbers = version >= kVersionWithNumbers;
  table.keep = reader.Le<uint64_t>("kept commits");
  const uint32_t commits = ReadCount("past commits", 4, reader);
  if (reader.ok() && (commits > table.number || table.keep == 0)) FailPast(commits, table, reader);
  for (uint32_t i = 0; i < commits && reader.ok(); ++i) {
    PastCommit commit{.before = table.number - commits + i};
    if (has_numbers) commit.before = reader.Le<uint64_t>("number of a past commit");
    const bool follows = commit.before < table.number &&
                         (table.past.empty() || table.past.back()->before < commit.before);
    const bool is_joined = has_numbers && !table.past.empty();
    if (!follows || (is_joined && !table.past.back()->changes_content())) {
      reader.Fail("number of a past commit", "%d", commit.before);
    }
    const uint32_t edits = ReadCount("past edits", kLeastName + 1, reader);
    for (uint32_t j = 0; j < edits && reader.ok(); ++j) {
      commit.edits.push_back(ReadPastEdit(version, reader));
    }
    AddPast(std::move(commit), table);
  }
  if (reader.ok() && CountPast(table) > table.keep) FailPast(commits, table, reader);
}

}  // namespace

std::string_view SuffixOf(MemberKind kind) {
  switch (kind) {
    case MemberKind::kArray:
      return ".b2nd";
    case MemberKind::kOther:
      return ".b2f";
    case MemberKind::kBatches:
      return ".b2b";
  }
  return "";
}

std::optional<MemberKind> KindOfFile(std::string_view file) {
  for (const MemberKind kind : {MemberKind::kArray, MemberKind::kOther, MemberKind::kBatches}) {
    if (file.ends_with(SuffixOf(kind))) return kind;
  }
  return std::nullopt;
}

bool LedgerTable::operator==(const LedgerTable& other) const {
  const auto same = [](const auto& a, const auto& b) { return *a == *b; };
  return number == other.number && keep == other.keep && members == other.members &&
         std::ranges::equal(past, other.past, same);
}

// A Cairn that knows no history would use the space of kept commits again, so it must not write.
std::vector<std::byte> EncodeTable(const LedgerTable& table) {
  const bool has_history = table.keep > 0;
  ByteWriter writer = BeginLayer(has_history ? kVersionWithNumbers : kVersion);
  writer.Le(table.number, static_cast<uint32_t>(table.members.size()));
  for (const auto& [name, entry] : table.members) {
    WriteName(name, writer);
    WriteEntry(entry, 0, writer);
  }
  if (has_history) WritePast(table, writer);
  return EndBinary(std::move(writer));
}

// A Cairn that does not know which members replace others would count them as changes.
std::vector<std::byte> EncodeCommit(const LedgerCommit& commit) {
  const bool replaces = std::ranges::any_of(commit.added, &AddedMember::replaces);
  uint32_t version = commit.copies.empty() ? kVersion : kVersionWithCopies;
  if (replaces) version = kVersionWithReplacing;
  ByteWriter writer = BeginLayer(version);
  writer.Le(commit.number, static_cast<uint32_t>(commit.removed.size()));
  for (const std::string& name : commit.removed) WriteName(name, writer);
  writer.Le(static_cast<uint32_t>(commit.added.size()));
  for (const AddedMember& added : commit.added) {
    WriteName(added.name, writer);
    WriteEntry(added.entry, added.replaces ? kReplacesFlag : 0, writer);
  }
  writer.Le(static_cast<uint32_t>(commit.parts.size()));
  for (const MemberPart& part : commit.parts) {
    WriteName(part.name, writer);
    WritePosition(part.position, part.synced ? kSyncedFlag : 0, writer);
    writer.Le(static_cast<uint32_t>(part.patches.size()));
    for (const FilePatch& patch : part.patches) {
      writer.Le(patch.offset, static_cast<uint32_t>(patch.bytes.size()));
      writer.Append(patch.bytes);
    }
  }
  if (!commit.copies.empty()) WriteCopies(commit.copies, writer);
  return EndBinary(std::move(writer));
}

absl::StatusOr<LedgerTable> ParseTable(Bytes layer) {
  ByteReader reader(layer, kTableLayer);
  ReadBinaryHead(reader);
  const auto version = reader.Le<uint32_t>("version");
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckVersion(version, kVersionWithNumbers, kTableLayer));
  LedgerTable table{.number = reader.Le<uint64_t>("number")};
  const uint32_t count = ReadCount("members", kLeastName + kLeastEntry, reader);
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    std::string name = ReadName(reader);
    MemberEntry entry;
    ReadEntry(entry, 0, reader);
    const bool is_next = table.members.empty() || table.members.rbegin()->first < name;
    if (!is_next) reader.Fail("name", "number %d is not in order", i);
    table.members.emplace_hint(table.members.end(), std::move(name), entry);
  }
  if (version >= kVersionWithHistory) ReadPast(version, table, reader);
  CAIRN_RETURN_IF_ERROR(EndOf(reader));
  return table;
}

absl::StatusOr<LedgerCommit> ParseLedgerCommit(Bytes layer) {
  ByteReader reader(layer, kCommitLayer);
  ReadBinaryHead(reader);
  const auto version = reader.Le<uint32_t>("version");
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckVersion(version, kVersionWithReplacing, kCommitLayer));
  LedgerCommit commit{.number = reader.Le<uint64_t>("number")};
  const uint32_t removed = ReadCount("removed members", kLeastName, reader);
  for (uint32_t i = 0; i < removed && reader.ok(); ++i) commit.removed.push_back(ReadName(reader));
  const uint8_t known = version == kVersionWithReplacing ? kReplacesFlag : 0;
  const uint32_t added = ReadCount("added members", kLeastName + kLeastEntry, reader);
  for (uint32_t i = 0; i < added && reader.ok(); ++i) {
    AddedMember member{.name = ReadName(reader), .entry = {}};
    member.replaces = ReadEntry(member.entry, known, reader) != 0;
    commit.added.push_back(std::move(member));
  }
  const uint32_t parts = ReadCount("parts", kLeastName + kLeastPosition + 4, reader);
  for (uint32_t i = 0; i < parts && reader.ok(); ++i) commit.parts.push_back(ReadPart(reader));
  if (version == kVersionWithCopies) commit.copies = ReadCopies(reader);
  if (reader.ok() && version == kVersionWithCopies && commit.copies.empty()) {
    reader.Fail("copies", "none in a commit of version %d", version);
  }
  CAIRN_RETURN_IF_ERROR(EndOf(reader));
  return commit;
}

}  // namespace cairn::collection

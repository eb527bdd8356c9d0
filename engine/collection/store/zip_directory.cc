#include "engine/collection/store/zip_directory.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/base/byte_reader.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/codec/crc32.h"
#include "engine/collection/store/zip_format.h"

namespace cairn::collection {

namespace {

constexpr std::string_view kSection("zip directory");

// A range of the file.
struct Directory {
  int64_t begin = 0;
  int64_t size = 0;
};

absl::StatusOr<std::vector<std::byte>> ReadRange(const File& file, int64_t offset, int64_t size) {
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(file.ReadAt(offset, bytes));
  return bytes;
}

std::string TakeText(ByteReader& reader, uint64_t size, std::string_view field) {
  const Bytes text = reader.Take(size, field);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

// Returns a number of 64 bits, or one that lies nowhere.
int64_t OffsetOf(uint64_t value) {
  return static_cast<int64_t>(std::min(value, uint64_t{1} << 62));
}

// The last record of the file, and the comment after it, which may look like anything.
absl::StatusOr<int64_t> FindEnd(const File& file, int64_t size) {
  constexpr int64_t kMostComment = 0xFFFF;
  const int64_t first = std::max<int64_t>(size - zip::kEndSize - kMostComment, 0);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> tail, ReadRange(file, first, size - first));
  for (int64_t at = size - zip::kEndSize; at >= first; --at) {
    const std::byte* const record = tail.data() + (at - first);
    if (LoadLe<uint32_t>(record) != zip::kEnd) continue;
    const int64_t comment = LoadLe<uint16_t>(record + zip::kEndSize - 2);
    if (at + zip::kEndSize + comment == size) return at;
  }
  return DataLoss("zip: expected its directory at the end, got none; the file may have been cut");
}

// Reads where the directory of a large file lies, if this is one: a locator precedes the end then.
absl::StatusOr<std::optional<Directory>> ReadEnd64(const File& file, int64_t end) {
  const int64_t locator_at = end - zip::kLocator64Size;
  if (locator_at < 0) return std::nullopt;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> locator,
                         ReadRange(file, locator_at, zip::kLocator64Size));
  ByteReader reader(locator, kSection);
  if (reader.Le<uint32_t>("locator") != zip::kLocator64) return std::nullopt;
  reader.Take(4, "disk");
  const int64_t at = OffsetOf(reader.Le<uint64_t>("end record"));
  CAIRN_RETURN_IF_ERROR(reader.status());
  if (!RangeFits(at, zip::kEnd64Size, locator_at)) {
    return DataLoss("zip: end record of 64 bits at byte %d, of %d", at, locator_at);
  }
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> record, ReadRange(file, at, zip::kEnd64Size));
  ByteReader fields(record, kSection);
  if (fields.Le<uint32_t>("end record") != zip::kEnd64) {
    fields.Fail("end record", "has another signature");
  }
  fields.Take(36, "disks and counts");
  Directory directory;
  directory.size = OffsetOf(fields.Le<uint64_t>("size"));
  directory.begin = OffsetOf(fields.Le<uint64_t>("offset"));
  CAIRN_RETURN_IF_ERROR(fields.status());
  return directory;
}

absl::StatusOr<Directory> FindDirectory(const File& file, int64_t end) {
  CAIRN_ASSIGN_OR_RETURN(std::optional<Directory> found, ReadEnd64(file, end));
  if (!found.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> record,
                           ReadRange(file, end, zip::kEndSize));
    ByteReader reader(record, kSection);
    reader.Take(12, "disks and counts");
    found.emplace();
    found->size = reader.Le<uint32_t>("size");
    found->begin = reader.Le<uint32_t>("offset");
    CAIRN_RETURN_IF_ERROR(reader.status());
  }
  if (RangeFits(found->begin, found->size, end)) return *found;
  return DataLoss("zip: directory of %d bytes at byte %d, of %d", found->size, found->begin, end);
}

// Takes the numbers that do not fit from the extra field, where they stand in this order.
void ReadExtra64(Bytes extra, uint64_t& unpacked, uint64_t& packed, uint64_t& header) {
  ByteReader reader(extra, kSection);
  while (reader.ok() && reader.remaining() > 0) {
    const auto kind = reader.Le<uint16_t>("extra field");
    const Bytes field = reader.Take(reader.Le<uint16_t>("extra field"), "extra field");
    if (kind != zip::kExtra64) continue;
    ByteReader numbers(field, kSection);
    for (uint64_t* const number : {&unpacked, &packed, &header}) {
      if (*number == zip::kElsewhere32) *number = numbers.Le<uint64_t>("size of 64 bits");
    }
    return;
  }
}

ZipEntry ReadZipEntry(ByteReader& reader) {
  if (reader.Le<uint32_t>("signature") != zip::kDirectoryHeader) {
    reader.Fail("entry", "has another signature");
  }
  ZipEntry entry;
  reader.Take(4, "versions");
  const auto flags = reader.Le<uint16_t>("flags");
  const auto method = reader.Le<uint16_t>("method");
  reader.Take(4, "time");
  entry.crc = reader.Le<uint32_t>("checksum");
  uint64_t packed = reader.Le<uint32_t>("size");
  uint64_t unpacked = reader.Le<uint32_t>("size");
  const auto name_size = reader.Le<uint16_t>("size of name");
  const auto extra_size = reader.Le<uint16_t>("size of extra field");
  const auto comment_size = reader.Le<uint16_t>("size of comment");
  reader.Take(8, "attributes");
  uint64_t header = reader.Le<uint32_t>("offset");
  entry.name = TakeText(reader, name_size, "name");
  ReadExtra64(reader.Take(extra_size, "extra field"), unpacked, packed, header);
  reader.Take(comment_size, "comment");
  entry.header = OffsetOf(header);
  entry.size = OffsetOf(packed);
  entry.plain = method == zip::kStored && (flags & zip::kEncrypted) == 0 && packed == unpacked;
  return entry;
}

// Entries must not share bytes: a small file could stand for any number of large ones.
absl::Status SetEnds(int64_t directory, std::vector<ZipEntry>& entries) {
  std::vector<ZipEntry*> from_the_end;
  for (ZipEntry& entry : entries) from_the_end.push_back(&entry);
  std::ranges::sort(from_the_end, std::ranges::greater(), &ZipEntry::header);
  int64_t end = directory;
  for (ZipEntry* const each : from_the_end) {
    ZipEntry& entry = *each;
    entry.end = end;
    const int64_t least = zip::kLocalHeaderSize + static_cast<int64_t>(entry.name.size());
    const std::optional<int64_t> size = CheckedAdd(entry.size, least);
    if (!size.has_value() || !RangeFits(entry.header, *size, end)) {
      return DataLoss("zip: %s: %d bytes at byte %d reach into what follows at byte %d",
                      entry.name.substr(0, 256), entry.size, entry.header, end);
    }
    end = entry.header;
  }
  return absl::OkStatus();
}

}  // namespace

bool IsZip(const File& file) {
  std::byte head[4];
  if (!file.ReadAt(0, head).ok()) return false;
  const auto signature = LoadLe<uint32_t>(head);
  return signature == zip::kLocalHeader || signature == zip::kEnd;
}

absl::StatusOr<std::vector<ZipEntry>> ReadZipDirectory(const File& file) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file.Size());
  if (size < zip::kEndSize) return DataLoss("zip: of %d bytes", size);
  CAIRN_ASSIGN_OR_RETURN(const int64_t end, FindEnd(file, size));
  CAIRN_ASSIGN_OR_RETURN(const Directory directory, FindDirectory(file, end));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                         ReadRange(file, directory.begin, directory.size));
  std::vector<ZipEntry> entries;
  ByteReader reader(bytes, kSection);
  while (reader.ok() && reader.remaining() > 0) entries.push_back(ReadZipEntry(reader));
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(SetEnds(directory.begin, entries));
  return entries;
}

absl::StatusOr<int64_t> FindZipData(const File& file, const ZipEntry& entry) {
  const auto name_size = static_cast<int64_t>(entry.name.size());
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                         ReadRange(file, entry.header, zip::kLocalHeaderSize + name_size));
  ByteReader reader(bytes, "zip entry");
  const auto signature = reader.Le<uint32_t>("signature");
  reader.Take(22, "what the directory has");
  const auto own_name_size = reader.Le<uint16_t>("size of name");
  const auto extra_size = reader.Le<uint16_t>("size of extra field");
  if (signature != zip::kLocalHeader || own_name_size != name_size ||
      TakeText(reader, own_name_size, "name") != entry.name) {
    return DataLoss("zip entry: its header at byte %d is not that of the directory", entry.header);
  }
  if (!entry.plain) {
    return Unimplemented(
        "zip entry: is compressed or encrypted, so it cannot be read where it lies; unzip the file "
        "and open the directory");
  }
  const int64_t begin = entry.header + zip::kLocalHeaderSize + name_size + extra_size;
  if (RangeFits(begin, entry.size, entry.end)) return begin;
  return DataLoss("zip entry: %d bytes at byte %d reach into what follows at byte %d", entry.size,
                  begin, entry.end);
}

absl::StatusOr<uint32_t> ZipChecksum(const File& file, int64_t begin, int64_t size) {
  constexpr int64_t kPiece = int64_t{1} << 20;
  std::vector<std::byte> piece;
  uint32_t crc = 0;
  for (int64_t done = 0; done < size; done += kPiece) {
    piece.resize(static_cast<size_t>(std::min(size - done, kPiece)));
    CAIRN_RETURN_IF_ERROR(file.ReadAt(begin + done, piece));
    crc = codec::Crc32(piece, crc);
  }
  return crc;
}

}  // namespace cairn::collection

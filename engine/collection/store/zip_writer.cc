#include "engine/collection/store/zip_writer.h"

#include <cstddef>
#include <span>
#include <utility>

#include "engine/base/byte_writer.h"
#include "engine/base/status.h"
#include "engine/collection/store/file_part.h"
#include "engine/collection/store/zip_format.h"

namespace cairn::collection {

namespace {

// The first day that a zip file can name. The same files give the same bytes, whenever.
constexpr uint32_t kTime = 1u << 16 | 1u << 21;

Bytes BytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

uint32_t LowOrElsewhere(int64_t value) {
  return value < zip::kElsewhere32 ? static_cast<uint32_t>(value) : zip::kElsewhere32;
}

// Both sizes stand in the extra field of each header of its own, whatever they are: where the bytes
// of the file begin must not depend on their number.
std::vector<std::byte> LocalHeader(const ZipEntry& entry) {
  ByteWriter out;
  out.Le(zip::kLocalHeader, zip::kVersion64, zip::kUtf8, zip::kStored, kTime, entry.crc,
         zip::kElsewhere32, zip::kElsewhere32, static_cast<uint16_t>(entry.name.size()),
         uint16_t{20});
  out.Append(BytesOf(entry.name));
  out.Le(zip::kExtra64, uint16_t{16}, entry.size, entry.size);
  return std::move(out).Take();
}

void AddToDirectory(const ZipEntry& entry, ByteWriter& out) {
  const uint32_t size = LowOrElsewhere(entry.size);
  const uint32_t header = LowOrElsewhere(entry.header);
  ByteWriter extra;
  if (size == zip::kElsewhere32) extra.Le(entry.size, entry.size);
  if (header == zip::kElsewhere32) extra.Le(entry.header);
  const auto extra_size = static_cast<uint16_t>(extra.size() == 0 ? 0 : extra.size() + 4);
  constexpr uint16_t kUnix = 3 << 8;
  constexpr uint32_t kReadableFile = 0100644u << 16;
  out.Le(zip::kDirectoryHeader, static_cast<uint16_t>(kUnix | zip::kVersion64), zip::kVersion64,
         zip::kUtf8, zip::kStored, kTime, entry.crc, size, size,
         static_cast<uint16_t>(entry.name.size()), extra_size, uint16_t{0}, uint16_t{0},
         uint16_t{0}, kReadableFile, header);
  out.Append(BytesOf(entry.name));
  if (extra_size == 0) return;
  out.Le(zip::kExtra64, static_cast<uint16_t>(extra.size()));
  out.Append(extra.written());
}

void AddEnd(uint64_t count, int64_t begin, int64_t size, ByteWriter& out) {
  const int64_t end = begin + size;
  const bool is_large = count >= zip::kElsewhere16 || end >= zip::kElsewhere32;
  if (is_large) {
    out.Le(zip::kEnd64, int64_t{zip::kEnd64Size - 12}, zip::kVersion64, zip::kVersion64,
           uint32_t{0}, uint32_t{0}, count, count, size, begin);
    out.Le(zip::kLocator64, uint32_t{0}, end, uint32_t{1});
  }
  const auto low = static_cast<uint16_t>(is_large ? zip::kElsewhere16 : count);
  out.Le(zip::kEnd, uint16_t{0}, uint16_t{0}, low, low,
         is_large ? zip::kElsewhere32 : static_cast<uint32_t>(size),
         is_large ? zip::kElsewhere32 : static_cast<uint32_t>(begin), uint16_t{0});
}

}  // namespace

absl::Status ZipWriter::Add(const std::string& name,
                            absl::FunctionRef<absl::Status(std::shared_ptr<FileSystem>)> write) {
  ZipEntry entry = {.name = name, .header = end_, .plain = true};
  const int64_t begin = end_ + static_cast<int64_t>(LocalHeader(entry).size());
  CAIRN_RETURN_IF_ERROR(write(MakePart(file_, begin)));
  CAIRN_ASSIGN_OR_RETURN(end_, file_->Size());
  entry.size = end_ - begin;
  // A frame is not written in the order of its bytes, so they are read once it is complete.
  CAIRN_ASSIGN_OR_RETURN(entry.crc, ZipChecksum(*file_, begin, entry.size));
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(entry.header, LocalHeader(entry)));
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status ZipWriter::Finish() {
  ByteWriter out;
  for (const ZipEntry& entry : entries_) AddToDirectory(entry, out);
  AddEnd(entries_.size(), end_, static_cast<int64_t>(out.size()), out);
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(end_, out.written()));
  return file_->Sync(SyncMode::kAll);
}

}  // namespace cairn::collection

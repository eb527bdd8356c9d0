#include "engine/format/seal.h"

#include <optional>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"

namespace cairn::format {

namespace {

// Version 1 has no list of space, version 2 no journal that is inherited.
constexpr uint32_t kSealVersion = 3;
// A count and a hash.
constexpr size_t kRunSize = sizeof(uint32_t) + sizeof(uint64_t);

// There is a run for almost every page of a large frame, and opening it waits for this.
std::vector<uint64_t> ReadPages(int64_t max_pages, ByteReader& reader) {
  const uint32_t runs = reader.Le<uint32_t>("page runs");
  const Bytes table = reader.Take(uint64_t{runs} * kRunSize, "page counts");
  std::vector<uint64_t> pages;
  pages.reserve(table.size() / kRunSize);
  for (size_t at = 0; at < table.size(); at += kRunSize) {
    const auto count = LoadLe<uint32_t>(&table[at]);
    if (count > static_cast<uint64_t>(max_pages) - pages.size()) {
      reader.Fail("page count", absl::StrFormat("more than %d pages", max_pages));
      break;
    }
    pages.resize(pages.size() + count, LoadLe<uint64_t>(&table[at + sizeof(count)]));
  }
  return pages;
}

// Bytes of the file that follow those before, which end at `after`.
Extent ReadExtent(int64_t after, ByteReader& reader) {
  const int64_t begin = reader.Le<int64_t>("space: begin");
  const int64_t size = reader.Le<int64_t>("space: size");
  const std::optional<int64_t> end = CheckedAdd(begin, size);
  if (begin >= after && size > 0 && end.has_value()) return {begin, *end};
  reader.Fail("space", absl::StrFormat("%d bytes from %d on, after byte %d", size, begin, after));
  return {};
}

SpaceList ReadSpace(uint64_t generation, ByteReader& reader) {
  SpaceList space;
  int64_t end = 0;
  for (auto left = reader.Le<uint32_t>("free extents"); left > 0 && reader.ok(); --left) {
    space.free.push_back(ReadExtent(end, reader));
    end = space.free.back().end;
  }
  end = 0;
  for (auto left = reader.Le<uint32_t>("dead extents"); left > 0 && reader.ok(); --left) {
    const Extent bytes = ReadExtent(end, reader);
    const uint64_t born = reader.Le<uint64_t>("space: born");
    const uint64_t died = reader.Le<uint64_t>("space: died");
    if (reader.ok() && (born > died || died > generation)) {
      reader.Fail("space", absl::StrFormat("born with generation %d, died with %d", born, died));
    }
    space.dead.push_back({.bytes = bytes, .born = born, .died = died});
    end = bytes.end;
  }
  return space;
}

std::optional<InheritedJournal> ReadJournal(uint64_t generation, ByteReader& reader) {
  const uint32_t inherits = reader.Le<uint32_t>("journal");
  if (inherits > 1) reader.Fail("journal", absl::StrFormat("%d is neither 0 nor 1", inherits));
  if (inherits != 1) return std::nullopt;
  InheritedJournal journal = {.generation = generation};
  journal.begin = reader.Le<int64_t>("journal: begin");
  journal.base = reader.Le<uint64_t>("journal: base");
  journal.last = reader.Le<uint64_t>("journal: last");
  journal.since = reader.Le<uint64_t>("journal: since");
  if (journal.begin < 0) {
    reader.Fail("journal", absl::StrFormat("begins at byte %d", journal.begin));
  }
  return journal;
}

void WriteJournal(const std::optional<InheritedJournal>& journal, ByteWriter& writer) {
  writer.Le(uint32_t{journal.has_value()});
  if (!journal.has_value()) return;
  writer.Le(journal->begin);
  writer.Le(journal->base);
  writer.Le(journal->last);
  writer.Le(journal->since);
}

void WriteExtent(const Extent& bytes, ByteWriter& writer) {
  writer.Le(bytes.begin);
  writer.Le(bytes.size());
}

void WriteSpace(const SpaceList& space, ByteWriter& writer) {
  writer.Le(static_cast<uint32_t>(space.free.size()));
  for (const Extent& bytes : space.free) WriteExtent(bytes, writer);
  writer.Le(static_cast<uint32_t>(space.dead.size()));
  for (const DeadExtent& dead : space.dead) {
    WriteExtent(dead.bytes, writer);
    writer.Le(dead.born);
    writer.Le(dead.died);
  }
}

absl::Status CheckRanges(const Seal& seal, int64_t max_pages) {
  if (seal.generation > kMaxGeneration || seal.oldest_generation > kMaxGeneration) {
    return DataLoss("seal: generations %d and %d, at most %d", seal.generation,
                    seal.oldest_generation, kMaxGeneration);
  }
  if (seal.dead_bytes < -1 || seal.uncovered < 0 || seal.uncovered > max_pages * kPageEntries ||
      seal.chunksize < 0 || seal.chunksize > kMaxChunkBytes) {
    return DataLoss("seal: %d dead bytes, %d uncovered chunks, chunksize %d", seal.dead_bytes,
                    seal.uncovered, seal.chunksize);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Seal> ParseSeal(Bytes payload, int64_t max_pages) {
  ByteReader reader(payload, "seal");
  const uint32_t version = reader.Le<uint32_t>("version");
  if (reader.ok() && (version < 1 || version > kSealVersion)) {
    return Unimplemented("seal: version %d is not 1 to %d", version, kSealVersion);
  }
  Seal seal;
  const uint32_t header_len = reader.Le<uint32_t>("header length");
  seal.nonce = reader.Le<uint64_t>("nonce");
  seal.generation = reader.Le<uint64_t>("generation");
  seal.previous_end = reader.Le<int64_t>("previous end");
  seal.oldest_generation = reader.Le<uint64_t>("oldest generation");
  seal.dead_bytes = reader.Le<int64_t>("dead bytes");
  seal.uncovered = reader.Le<int64_t>("uncovered chunks");
  const uint32_t type = reader.Le<uint32_t>("fingerprint type");
  if (type > static_cast<uint32_t>(FingerprintType::k128Bit)) {
    reader.Fail("fingerprint type", absl::StrFormat("%d is not known", type));
  }
  seal.type = static_cast<FingerprintType>(type);
  seal.chunksize = reader.Le<int32_t>("chunksize");
  seal.header_hash = reader.Le<uint64_t>("header hash");
  seal.index_hash = reader.Le<uint64_t>("index hash");
  seal.header_copy = ToVector(reader.Take(header_len, "header copy"));
  seal.pages = ReadPages(max_pages, reader);
  if (version > 1) seal.space = ReadSpace(seal.generation, reader);
  if (version > 2) seal.journal = ReadJournal(seal.generation, reader);
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckRanges(seal, max_pages));
  return seal;
}

std::vector<std::byte> EncodeSeal(const Seal& seal) {
  ByteWriter runs;
  uint32_t nruns = 0;
  for (size_t i = 0; i < seal.pages.size();) {
    size_t end = i + 1;
    while (end < seal.pages.size() && seal.pages[end] == seal.pages[i]) ++end;
    runs.Le(static_cast<uint32_t>(end - i));
    runs.Le(seal.pages[i]);
    ++nruns;
    i = end;
  }
  ByteWriter writer;
  writer.Le(kSealVersion);
  writer.Le(static_cast<uint32_t>(seal.header_copy.size()));
  writer.Le(seal.nonce);
  writer.Le(seal.generation);
  writer.Le(seal.previous_end);
  writer.Le(seal.oldest_generation);
  writer.Le(seal.dead_bytes);
  writer.Le(seal.uncovered);
  writer.Le(static_cast<uint32_t>(seal.type));
  writer.Le(seal.chunksize);
  writer.Le(seal.header_hash);
  writer.Le(seal.index_hash);
  writer.Append(seal.header_copy);
  writer.Le(nruns);
  writer.Append(runs.written());
  WriteSpace(seal.space, writer);
  WriteJournal(seal.journal, writer);
  return std::move(writer).Take();
}

uint64_t HashPage(Bytes entries, Bytes fingerprints, Bytes sizes) {
  const Bytes parts[] = {entries, fingerprints, sizes};
  const auto field = Fingerprint(FingerprintType::k64Bit, parts);
  return LoadBe<uint64_t>(field.data() + 8);
}

uint64_t HashChunk(Bytes chunk) {
  const uint64_t hash = Xxh3(chunk);
  return hash == 0 ? 1 : hash;
}

}  // namespace cairn::format

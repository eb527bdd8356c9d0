#include "engine/format/seal.h"

#include <bit>
#include <optional>

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"

namespace cairn::format {

namespace {

// Version 1 has no list of space, version 2 has no inherited journal, version 3 gives each number
// of the list in eight bytes, and version 4 is no value of MessagePack.
constexpr uint32_t kSealVersion = 5;
// A run is a count and a hash.
constexpr size_t kRunSize = sizeof(uint32_t) + sizeof(uint64_t);

// Reads runs of equal pages. A large frame has a run for almost every page, and opening it waits
// for this.
std::vector<uint64_t> ReadPages(int64_t max_pages, ByteReader& reader) {
  const uint32_t runs = reader.Le<uint32_t>("page runs");
  const Bytes table = reader.Take(uint64_t{runs} * kRunSize, "page counts");
  std::vector<uint64_t> pages;
  pages.reserve(table.size() / kRunSize);
  for (size_t at = 0; at < table.size(); at += kRunSize) {
    const auto count = LoadLe<uint32_t>(&table[at]);
    if (count > static_cast<uint64_t>(max_pages) - pages.size()) {
      reader.Fail("page count", "more than %d pages", max_pages);
      break;
    }
    pages.resize(pages.size() + count, LoadLe<uint64_t>(&table[at + sizeof(count)]));
  }
  return pages;
}

// Reads the next bytes of the file after those that end at `after`. Before version 4 their begin is
// given, and from then on the gap.
Extent ReadExtent(uint32_t version, int64_t after, ByteReader& reader) {
  constexpr uint64_t kMost = INT64_MAX;
  const auto last = static_cast<uint64_t>(after);
  const bool is_packed = version > 3;
  const uint64_t gap =
      is_packed ? reader.Varint("space: gap") : reader.Le<uint64_t>("space: begin") - last;
  const uint64_t size =
      is_packed ? reader.Varint("space: size") : reader.Le<uint64_t>("space: size");
  if (gap <= kMost - last && size > 0 && size <= kMost - last - gap) {
    return {static_cast<int64_t>(last + gap), static_cast<int64_t>(last + gap + size)};
  }
  reader.Fail("space", "%d bytes, %d after byte %d", size, gap, after);
  return {};
}

// Reads both generations. `died` is given as how long before this generation, and `born` as how
// long before `died`. 0 is the first generation of all.
void ReadLife(uint32_t version, uint64_t generation, DeadExtent& dead, ByteReader& reader) {
  if (version > 3) {
    dead.died = generation - reader.Varint("space: died");
    const uint64_t age = reader.Varint("space: age");
    dead.born = age == 0 ? 0 : dead.died - (age - 1);
  } else {
    dead.born = reader.Le<uint64_t>("space: born");
    dead.died = reader.Le<uint64_t>("space: died");
  }
  if (reader.ok() && (dead.born > dead.died || dead.died > generation)) {
    reader.Fail("space", "born with generation %d, died with %d", dead.born, dead.died);
  }
}

SpaceList ReadSpace(uint32_t version, uint64_t generation, ByteReader& reader) {
  SpaceList space;
  int64_t end = 0;
  for (auto left = reader.Le<uint32_t>("free extents"); left > 0 && reader.ok(); --left) {
    space.free.push_back(ReadExtent(version, end, reader));
    end = space.free.back().end;
  }
  end = 0;
  for (auto left = reader.Le<uint32_t>("dead extents"); left > 0 && reader.ok(); --left) {
    DeadExtent& dead = space.dead.emplace_back();
    dead.bytes = ReadExtent(version, end, reader);
    ReadLife(version, generation, dead, reader);
    end = dead.bytes.end;
  }
  return space;
}

// Reads the extents that came last, so versions that do not know them pass over them. If there are
// none, there are no bytes.
std::vector<BornExtent> ReadBorn(uint64_t generation, ByteReader& reader) {
  std::vector<BornExtent> born;
  if (!reader.ok() || reader.remaining() == 0) return born;
  int64_t end = 0;
  for (auto left = reader.Le<uint32_t>("born extents"); left > 0 && reader.ok(); --left) {
    BornExtent& each = born.emplace_back();
    each.bytes = ReadExtent(kSealVersion, end, reader);
    const uint64_t age = reader.Varint("space: age");
    if (age > generation) reader.Fail("space", "born %d before generation %d", age, generation);
    each.generation = generation - age;
    end = each.bytes.end;
  }
  return born;
}

std::optional<InheritedJournal> ReadJournal(uint64_t generation, ByteReader& reader) {
  const uint32_t inherits = reader.Le<uint32_t>("journal");
  if (inherits > 1) reader.Fail("journal", "%d is neither 0 nor 1", inherits);
  if (inherits != 1) return std::nullopt;
  InheritedJournal journal = {.generation = generation};
  journal.begin = reader.Le<int64_t>("journal: begin");
  journal.base = reader.Le<uint64_t>("journal: base");
  journal.last = reader.Le<uint64_t>("journal: last");
  journal.since = reader.Le<uint64_t>("journal: since");
  if (journal.begin < 0) {
    reader.Fail("journal", "begins at byte %d", journal.begin);
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

void WriteExtent(const Extent& bytes, int64_t after, ByteWriter& writer) {
  writer.Varint(static_cast<uint64_t>(bytes.begin - after));
  writer.Varint(static_cast<uint64_t>(bytes.size()));
}

void WriteSpace(const SpaceList& space, uint64_t generation, ByteWriter& writer) {
  writer.Le(static_cast<uint32_t>(space.free.size()));
  int64_t end = 0;
  for (const Extent& bytes : space.free) {
    WriteExtent(bytes, end, writer);
    end = bytes.end;
  }
  writer.Le(static_cast<uint32_t>(space.dead.size()));
  end = 0;
  for (const DeadExtent& dead : space.dead) {
    WriteExtent(dead.bytes, end, writer);
    writer.Varint(generation - dead.died);
    writer.Varint(dead.born == 0 ? 0 : dead.died - dead.born + 1);
    end = dead.bytes.end;
  }
}

void WriteBorn(const std::vector<BornExtent>& born, uint64_t generation, ByteWriter& writer) {
  if (born.empty()) return;
  writer.Le(static_cast<uint32_t>(born.size()));
  int64_t end = 0;
  for (const BornExtent& each : born) {
    WriteExtent(each.bytes, end, writer);
    writer.Varint(generation - each.generation);
    end = each.bytes.end;
  }
}

// A number takes at most one byte and a seventh of its bits. The sum of that is largest if all
// numbers are equal.
int64_t MostBytesOf(int64_t numbers, int64_t sum) {
  if (numbers == 0) return 0;
  const auto bits = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(sum / numbers) + 1));
  return numbers + CeilDiv(numbers * bits, int64_t{7});
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

int64_t SpaceList::MostBytes(int64_t free, int64_t dead, int64_t born, int64_t end,
                             uint64_t generation) {
  constexpr int64_t kCounts = 12;
  const int64_t most = CeilDiv(static_cast<int64_t>(std::bit_width(generation + 1)), int64_t{7});
  return kCounts + MostBytesOf(2 * free, end) + MostBytesOf(2 * dead, end) +
         MostBytesOf(2 * born, end) + most * (2 * dead + born);
}

absl::StatusOr<Seal> ParseSeal(Bytes payload, int64_t max_pages) {
  ByteReader reader(payload, "seal");
  ReadHeadIfAny(reader);
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
    reader.Fail("fingerprint type", "%d is not known", type);
  }
  seal.type = static_cast<FingerprintType>(type);
  seal.chunksize = reader.Le<int32_t>("chunksize");
  seal.header_hash = reader.Le<uint64_t>("header hash");
  seal.index_hash = reader.Le<uint64_t>("index hash");
  seal.header_copy = ToVector(reader.Take(header_len, "header copy"));
  seal.pages = ReadPages(max_pages, reader);
  if (version > 1) seal.space = ReadSpace(version, seal.generation, reader);
  if (version > 2) seal.journal = ReadJournal(seal.generation, reader);
  if (version > 3) seal.space.born = ReadBorn(seal.generation, reader);
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
  ByteWriter writer = BeginBinary();
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
  WriteSpace(seal.space, seal.generation, writer);
  WriteJournal(seal.journal, writer);
  WriteBorn(seal.space.born, seal.generation, writer);
  return EndBinary(std::move(writer));
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

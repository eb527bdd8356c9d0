// The input is a summary of a journal, or what one is made of. What parses can be looked up: every
// chunk is of the checkpoint's index or of a table.

#include "engine/format/journal_summary.h"

#include <algorithm>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/frame/index/summarized_index.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

constexpr int64_t kCommitted = 1000;
constexpr uint64_t kIdentity = 0;  // the sum of hash and position is then the input's to choose

void LookUp(const format::JournalSummary& summary, Bytes bytes, int64_t position) {
  std::vector<frame::SummarizedIndex::Table> tables;
  for (const format::EntryTable& table : summary.tables) {
    if (table.position < position) return;  // it lies in an earlier one
    const Bytes entries = bytes.subspan(static_cast<size_t>(table.position - position),
                                        static_cast<size_t>(table.size()));
    tables.push_back({.place = table, .entries = Chunk(entries, nullptr)});
  }
  const int64_t size = summary.record.totals->nchunks;
  const frame::SummarizedIndex index(summary.pieces, std::move(tables), size);
  constexpr int64_t kMost = 1000;
  for (int64_t i = 0; i < std::min(size, kMost); ++i) {
    Check(index.Find(i).committed < kCommitted, "a chunk is one of the index");
    Check(index.Find(size - 1 - i).entry.cbytes >= 0, "a size is one");
  }
  int64_t count = 0;
  const auto visit = [&](int64_t /*source*/, int64_t part) {
    count += part;
    return absl::OkStatus();
  };
  if (size > 0) Check(index.ForEachPart(0, size, visit).ok() && count == size, "all are there");
}

void Parse(Bytes bytes, const format::SummarySlot& slot) {
  const auto parsed = format::ParseSummary(bytes, slot, kIdentity, kCommitted);
  if (parsed.ok()) LookUp(*parsed, bytes, slot.position);
}

// Pieces and entries of the input, whatever they are.
void Encode(Input& input, const format::SummarySlot& slot) {
  format::JournalSummary summary;
  for (size_t left = input.Below(20); left > 0; --left) {
    summary.pieces.push_back({.begin = input.Number<int16_t>(), .source = input.Number<int16_t>()});
  }
  std::vector<format::IndexEntry> entries(input.Below(20));
  for (format::IndexEntry& entry : entries) entry.cbytes = input.Number<int32_t>();
  const format::EncodedEdits none;
  const format::CommitRecordParts commit{
      .links = {.base = kIdentity, .generation = slot.generation, .previous = slot.last},
      .totals = format::CommitTotals{.nchunks = input.Number<int16_t>()},
      .chunks = none,
      .layers = {}};
  const Buffer bytes = format::EncodeSummary(summary, commit, format::EncodeEntries(entries),
                                             slot.position, kIdentity);
  const format::SummarySlot own = {.position = slot.position,
                                   .size = std::ssize(bytes),
                                   .generation = slot.generation,
                                   .last = slot.last};
  Parse(bytes, own);
  Buffer changed = bytes;
  changed[input.Below(changed.size())] ^= std::byte{1};
  Parse(changed, own);
}

void Run(Bytes bytes) {
  Input input(bytes);
  format::FindSlot(bytes, kIdentity);
  format::SummarySlot slot = {.position = input.Number<uint16_t>(), .generation = 2, .last = 3};
  if (input.Flag()) return Encode(input, slot);
  slot.size = std::ssize(input.rest());
  Parse(input.rest(), slot);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Run(cairn::fuzz::AsBytes(data, size));
  return 0;
}

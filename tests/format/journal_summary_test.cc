#include "engine/format/journal_summary.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/bytes.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr uint64_t kIdentity = 77;
constexpr int64_t kPosition = 5000;
constexpr int64_t kInIndex = 100;

struct Summary {
  format::JournalSummary content;
  format::SummarySlot slot;
  Buffer bytes;
};

// Chunks 0 to 9 of the index, two new ones, and chunk 50.
Summary Make() {
  Summary made;
  format::JournalSummary& content = made.content;
  content.edits = 12;
  content.reused = 34;
  content.pieces = {{.begin = 0, .source = 0}, {.begin = 10, .source = ~0}, {12, 50}};
  const std::vector<format::IndexEntry> entries = {{1, 2, 3}, {4, 5, 6}};
  const format::EncodedEdits none;
  const std::vector<format::LayerEdit> layers = {
      {format::LayerEdit::Kind::kSetVlmeta, "name", MakeNoise(5, 1)}};
  const format::CommitRecordParts commit{
      .links = {.base = kIdentity, .generation = 8, .previous = 9, .durable_end = 10},
      .totals = format::CommitTotals{.nchunks = 13, .nbytes = 99, .chunksize = 8},
      .chunks = none,
      .layers = layers,
      .partial_replaced = true,
      .partial_head = std::nullopt,
      .partial_items = {}};
  made.bytes =
      format::EncodeSummary(content, commit, format::EncodeEntries(entries), kPosition, kIdentity);
  made.slot = {kPosition, std::ssize(made.bytes), 8, 9, 0};
  return made;
}

TEST(JournalSummaryTest, IsReadAsItWasWritten) {
  const Summary made = Make();
  const auto parsed = format::ParseSummary(made.bytes, made.slot, kIdentity, kInIndex);
  ASSERT_TRUE(IsOk(parsed));
  EXPECT_EQ(parsed->pieces, made.content.pieces);
  EXPECT_EQ(parsed->tables, made.content.tables);
  EXPECT_EQ(parsed->edits, 12);
  EXPECT_EQ(parsed->reused, 34);
  EXPECT_EQ(parsed->record.layers.size(), 1u);
  const format::EntryTable& table = parsed->tables.back();
  EXPECT_EQ(table.position + table.size(), made.slot.end());
  const Bytes entries = Bytes(made.bytes).last(static_cast<size_t>(table.size()));
  EXPECT_EQ(format::EntryAt(entries, 1), (format::IndexEntry{4, 5, 6}));
}

TEST(JournalSummaryTest, EveryFlippedBitBeforeTheEntriesIsFound) {
  const Summary made = Make();
  Buffer bytes = made.bytes;
  const auto end = bytes.size() - static_cast<size_t>(made.content.tables.back().size());
  for (size_t at = chunk::kHeaderSize; at < end; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] ^= std::byte{1} << bit;
      EXPECT_FALSE(format::ParseSummary(bytes, made.slot, kIdentity, kInIndex).ok()) << at;
      bytes[at] ^= std::byte{1} << bit;
    }
  }
}

TEST(JournalSummaryTest, OfAnotherCheckpointOrPlaceIsNone) {
  const Summary made = Make();
  EXPECT_FALSE(format::ParseSummary(made.bytes, made.slot, kIdentity + 1, kInIndex).ok());
  format::SummarySlot moved = made.slot;
  moved.position += 8;
  EXPECT_FALSE(format::ParseSummary(made.bytes, moved, kIdentity, kInIndex).ok());
  // Chunk 50 is not there.
  EXPECT_FALSE(format::ParseSummary(made.bytes, made.slot, kIdentity, 50).ok());
}

TEST(SummarySlotTest, IsBoundToItsCheckpoint) {
  const format::SummarySlot slot = Make().slot;
  Buffer bytes = format::EncodeSlot(slot, kIdentity);
  EXPECT_EQ(std::ssize(bytes), format::kSlotSize);
  EXPECT_EQ(format::FindSlot(bytes, kIdentity), slot);
  EXPECT_EQ(format::FindSlot(bytes, kIdentity + 1), std::nullopt);
  EXPECT_EQ(format::FindSlot(Bytes(bytes).first(47), kIdentity), std::nullopt);
  bytes[4] ^= std::byte{1};
  EXPECT_EQ(format::FindSlot(bytes, kIdentity), std::nullopt);
}

}  // namespace
}  // namespace cairn::test

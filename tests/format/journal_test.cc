#include "engine/format/journal.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "tests/support/encode_commit.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::format {
namespace {

std::vector<std::byte> Text(std::string_view text) { return ToVector(AsBytes(text)); }

// A commit record that has some of everything.
CommitRecord FullCommit() {
  const IndexedChunk chunk{
      .entry = {.value = 4711, .fingerprint = 0x0123456789ABCDEF, .cbytes = 50}, .nbytes = 64};
  CommitRecord commit;
  commit.links = {.base = 1, .generation = 2, .previous = 3, .durable_end = 4};
  commit.totals = {
      .nchunks = 5, .nbytes = 6, .stored_bytes = -1, .chunksize = 64, .vlblocks = true};
  commit.chunks = {InsertEdit{.nchunk = 7, .chunk = chunk},
                   ReplaceEdit{.nchunk = 8, .chunk = chunk}, EraseEdit{.first = 9, .count = 10},
                   ReorderEdit{.order = {2, 0, 1}}};
  commit.layers = {{.kind = LayerEdit::Kind::kSetMetalayer, .name = "m", .content = Text("one")},
                   {.kind = LayerEdit::Kind::kSetVlmeta, .name = "v", .content = Text("two")},
                   {.kind = LayerEdit::Kind::kDeleteVlmeta, .name = "w"}};
  commit.partial = {.replaces = true, .head = chunk, .items = Text("items")};
  return commit;
}

// Returns the record with a hash that fits again, as only an attacker would make it.
std::vector<std::byte> Resealed(std::vector<std::byte> record) {
  record.resize(record.size() - 8);
  ByteWriter writer;
  writer.Append(record);
  writer.Le(Xxh3(record));
  return std::move(writer).Take();
}

TEST(JournalTest, CommitRecordComesBackAsItWas) {
  const std::vector<std::byte> record = EncodeCommit(FullCommit(), 0);
  const auto head = FindRecordHead(record);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->kind, RecordKind::kCommit);
  EXPECT_EQ(head->size, std::ssize(record));
  EXPECT_TRUE(ChecksumMatches(record));
  const absl::StatusOr<CommitRecord> parsed = ParseCommit(record, 0);
  ASSERT_TRUE(IsOk(parsed));
  EXPECT_EQ(*parsed, FullCommit());
}

TEST(JournalTest, CommitRecordLiesInTheFileAsDescribed) {
  const std::string chunk =
      "67 12 00 00 00 00 00 00  ef cd ab 89 67 45 23 01  40 00 00 00  32 00 00 00";
  std::vector<std::byte> expected = Hex(
      absl::StrCat("43 41 49 52 4e 4a 4e 4c  03 00 00 00  01 00 00 00  3e 01 00 00 00 00 00 00"
                   "01 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00"
                   "03 00 00 00 00 00 00 00  04 00 00 00 00 00 00 00"
                   "05 00 00 00 00 00 00 00  06 00 00 00 00 00 00 00  ff ff ff ff ff ff ff ff"
                   "40 00 00 00  01 00 00 00",
                   "04 00 00 00",                                  // edits of chunks
                   "01 00 00 00  07 00 00 00 00 00 00 00", chunk,  // insert
                   "02 00 00 00  08 00 00 00 00 00 00 00", chunk,  // replace
                   "03 00 00 00  09 00 00 00 00 00 00 00  0a 00 00 00 00 00 00 00",
                   "04 00 00 00  03 00 00 00 00 00 00 00  02 00 00 00  00 00 00 00  01 00 00 00",
                   "03 00 00 00",  // of metadata
                   "01 00 00 00  01 00 00 00  03 00 00 00 00 00 00 00  6d  6f 6e 65",
                   "02 00 00 00  01 00 00 00  03 00 00 00 00 00 00 00  76  74 77 6f",
                   "03 00 00 00  01 00 00 00  00 00 00 00 00 00 00 00  77", "03 00 00 00", chunk,
                   "05 00 00 00 00 00 00 00  69 74 65 6d 73",  // the pending items
                   "00 00 00 00 00 00 00 00"));                // the hash
  expected = Resealed(std::move(expected));
  EXPECT_EQ(ToHex(EncodeCommit(FullCommit(), 0)), ToHex(expected));
  EXPECT_EQ(ParseCommit(expected, 0).value(), FullCommit());
}

CommitRecord AppendedItems(int64_t durable_end) {
  return {.links = {.base = 1, .generation = 2, .previous = 3, .durable_end = durable_end},
          .partial = {.items = Text("items")}};
}

TEST(JournalTest, CommitThatAddsItemsOnlyLiesInTheFileAsDescribed) {
  const std::vector<std::byte> durable = EncodeCommit(AppendedItems(100), 100);
  EXPECT_EQ(ToHex(durable), ToHex(Resealed(Hex("43 41 49 52 4e 4a 4e 4c  03 00 00 00  05 00 00 00"
                                               "3e 00 00 00 00 00 00 00  65 00 00 00 00 00 00 00"
                                               "02 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00"
                                               "01  69 74 65 6d 73  00 00 00 00 00 00 00 00"))));
  const std::vector<std::byte> earlier = EncodeCommit(AppendedItems(90), 100);
  EXPECT_EQ(ToHex(earlier), ToHex(Resealed(Hex("43 41 49 52 4e 4a 4e 4c  03 00 00 00  05 00 00 00"
                                               "46 00 00 00 00 00 00 00  65 00 00 00 00 00 00 00"
                                               "02 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00"
                                               "00  5a 00 00 00 00 00 00 00  69 74 65 6d 73"
                                               "00 00 00 00 00 00 00 00"))));
  EXPECT_EQ(FindRecordHead(durable)->kind, RecordKind::kAppend);
  EXPECT_EQ(ParseCommit(durable, 100).value(), AppendedItems(100));
  EXPECT_EQ(ParseCommit(earlier, 100).value(), AppendedItems(90));
}

TEST(JournalTest, CommitThatAddsItemsOnlyIsRefusedWithFlagsToCome) {
  std::vector<std::byte> record = EncodeCommit(AppendedItems(100), 100);
  record[48] = std::byte{2};
  EXPECT_TRUE(IsDamage(ParseCommit(Resealed(record), 100), "flags"));
}

TEST(JournalTest, EmptyCommitRecordIsSmall) {
  const std::vector<std::byte> record = EncodeCommit({}, 0);
  EXPECT_LE(record.size(), 128u);
  EXPECT_EQ(ParseCommit(record, 0).value(), CommitRecord());
}

TEST(JournalTest, EveryFlippedBitIsSeen) {
  const std::vector<std::byte> record = EncodeCommit(FullCommit(), 0);
  for (size_t bit = 0; bit < 8 * record.size(); ++bit) {
    std::vector<std::byte> flipped = record;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto head = FindRecordHead(flipped);
    EXPECT_FALSE(head.has_value() && head->size == std::ssize(record) && ChecksumMatches(flipped))
        << bit;
  }
}

TEST(JournalTest, RecordThatEndsEarlyIsRefusedWhereverItEnds) {
  const std::vector<std::byte> record = EncodeCommit(FullCommit(), 0);
  for (size_t size = kMinRecordSize; size < record.size(); ++size) {
    const std::vector<std::byte> cut =
        Resealed({record.begin(), record.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_TRUE(IsDamage(ParseCommit(cut, 0), "commit")) << size;
  }
}

TEST(JournalTest, BytesAfterTheLastFieldAreRefused) {
  std::vector<std::byte> record = EncodeCommit(FullCommit(), 0);
  record.insert(record.end() - 8, std::byte{0});
  EXPECT_TRUE(IsDamage(ParseCommit(Resealed(record), 0), "1 more bytes"));
}

TEST(JournalTest, CountsThatTheRecordCannotHoldCostNothing) {
  CommitRecord commit{.links = {}, .totals = CommitTotals()};
  commit.chunks = {ReorderEdit{.order = {0}}};
  std::vector<std::byte> record = EncodeCommit(commit, 0);
  // The order's length, which claims 2^61 chunks.
  const std::vector<std::byte> reorder = {std::byte{4}, {}, {}, {}, std::byte{1}};
  const auto at = std::search(record.begin(), record.end(), reorder.begin(), reorder.end());
  ASSERT_NE(at, record.end());
  *(at + 4 + 7) = std::byte{0x20};
  EXPECT_TRUE(IsDamage(ParseCommit(Resealed(record), 0), "order"));
}

TEST(JournalTest, WhatIsNoRecordIsNotFound) {
  EXPECT_FALSE(FindRecordHead({}).has_value());
  EXPECT_FALSE(FindRecordHead(std::vector<std::byte>(64)).has_value());
  std::vector<std::byte> later = EncodeReplaced();
  EXPECT_EQ(FindRecordHead(later)->kind, RecordKind::kReplaced);
  later[8] = std::byte{4};  // a version to come
  EXPECT_EQ(FindRecordHead(later)->kind, RecordKind::kUnknown);
}

TEST(JournalTest, RecordOfWhereItGoesOnIsTiedToItsPlace) {
  const InheritedJournal journal = {
      .generation = 3, .begin = 900, .base = 5, .last = 6, .since = 2};
  std::vector<std::byte> record = EncodeGoesOn(journal, 800);
  EXPECT_EQ(std::ssize(record), kGoesOnSize);
  EXPECT_EQ(FindGoesOn(record, 800), journal);
  EXPECT_NE(FindGoesOn(record, 801), journal);
  EXPECT_EQ(FindGoesOn(record, 900), std::nullopt) << "it goes on after the record";
  record[40] ^= std::byte{1};
  EXPECT_EQ(FindGoesOn(record, 800), std::nullopt);
}

TEST(JournalTest, RecordOfHowItEndedIsTiedToItsPlaceAndToAllItsBytes) {
  const EndedJournal ended = {.base = 7, .last = 41, .generation = 42, .frame_size = 5000};
  const std::vector<std::byte> record = EncodeEnded(ended, 800);
  ASSERT_EQ(std::ssize(record), kEndedSize);
  EXPECT_EQ(FindEnded(record, 800), ended);
  EXPECT_NE(FindEnded(record, 801), ended);
  for (size_t i = 0; i < record.size(); ++i) {
    std::vector<std::byte> damaged = record;
    damaged[i] ^= std::byte{1};
    EXPECT_EQ(FindEnded(damaged, 800), std::nullopt) << i;
  }
  EXPECT_EQ(FindEnded(EncodeEnded({.last = 43, .generation = 42}, 800), 800), std::nullopt)
      << "no checkpoint is older than what it followed";
}

TEST(JournalTest, ReceiptLiesInTheFileAsDescribed) {
  const Receipt receipt{.base = 1, .generation = 4, .boot = 3, .durable_generation = 2};
  std::vector<std::byte> bytes;
  AppendReceipt(receipt, 0, bytes);
  const std::vector<std::byte> expected =
      Hex("43 41 49 52 4e 52 43 54  01 00 00 00 00 00 00 00  04 00 00 00 00 00 00 00"
          "03 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00");
  EXPECT_EQ(ToHex(bytes), ToHex(Resealed(expected)));
  EXPECT_EQ(std::ssize(bytes), kReceiptSize);
  EXPECT_EQ(FindReceipt(bytes, 0), receipt);
}

TEST(JournalTest, ReceiptOfVersion2IsFound) {
  const std::vector<std::byte> bytes =
      Resealed(Hex("43 41 49 52 4e 4a 4e 4c  02 00 00 00  03 00 00 00  40 00 00 00 00 00 00 00"
                   "0b 00 00 00 00 00 00 00  04 00 00 00 00 00 00 00"
                   "03 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"));
  const Receipt receipt{
      .base = 1, .generation = 4, .boot = 3, .durable_generation = 2, .size = kMaxReceiptSize};
  EXPECT_EQ(FindReceipt(bytes, 10), receipt);
  EXPECT_EQ(FindReceipt(Bytes(bytes).first(63), 10), std::nullopt);
}

TEST(JournalTest, ReceiptThatIsNotIntactIsNotFound) {
  std::vector<std::byte> bytes;
  AppendReceipt({.base = 1, .generation = 4, .boot = 3, .durable_generation = 2}, 0, bytes);
  EXPECT_EQ(FindReceipt(Bytes(bytes).first(bytes.size() - 1), 0), std::nullopt);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<std::byte> flipped = bytes;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(FindReceipt(flipped, 0), std::nullopt) << bit;
  }
}

TEST(JournalTest, BaseFollowsFromTheSizesTheTrailerAndTheNonce) {
  FrameHeader header;
  header.frame_size = 1000;
  header.nbytes = 500;
  header.cbytes = 300;
  const std::vector<std::byte> trailer = EncodeTrailer({}, FingerprintType::kNone);
  const uint64_t base = BaseIdentity(header, trailer, {}, 7);
  EXPECT_EQ(BaseIdentity(header, trailer, {}, 7), base);
  EXPECT_NE(BaseIdentity(header, trailer, {}, 8), base);
  // Metalayers may be changed by another Blosc2, which leaves the journal as it is.
  header.metalayers = {{"m", Text("x")}};
  EXPECT_EQ(BaseIdentity(header, trailer, {}, 7), base);
  header.nbytes = 501;
  EXPECT_NE(BaseIdentity(header, trailer, {}, 7), base);
}

}  // namespace
}  // namespace cairn::format

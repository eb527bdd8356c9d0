// Verify of frames whose readers begin after a summary of the journal.
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/frame/replay/summary.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/summarized_frame.h"

namespace cairn::test {
namespace {

// The findings of Verify about a section, and its notes.
struct FoundInJournal {
  std::vector<std::string> findings;
  std::vector<std::string> notes;
  bool operator==(const FoundInJournal&) const = default;
};
std::ostream& operator<<(std::ostream& out, const FoundInJournal& found) {
  for (const std::string& line : found.findings) out << line << "; ";
  for (const std::string& line : found.notes) out << "note: " << line << "; ";
  return out;
}

class JournalCheckTest : public SummarizedFrameTest {
 protected:
  void CommitSummaries() {
    Writer writer = OpenWriter();
    CommitMany(writer, 300, Durability::kMachine);
    ASSERT_TRUE(IsOk(writer.Suspend()));
    const Snapshot snapshot = Read();
    ASSERT_TRUE(SkipsCommits(snapshot));
    const frame::State& state = frame::HandleAccess::StateOf(snapshot);
    anchor_ = frame::AnchorOf(state);
    newest_ = frame::FindSummaries(state.checkpoint->source, state, false).front();
    entries_ = state.chunks.summary()->tables().back().place.size();
  }
  FoundInJournal Find(const std::string& section) const {
    const auto report = Read().Verify();
    EXPECT_TRUE(IsOk(report));
    FoundInJournal found{.findings = {}, .notes = report->notes};
    for (const Finding& finding : report->findings) {
      if (finding.section != section) continue;
      found.findings.push_back(
          absl::StrFormat("[%d, %d) %s", finding.begin, finding.end, finding.reason));
    }
    return found;
  }
  // Finds the same section after the anchor was damaged, so that there are no summaries.
  FoundInJournal FindWithoutAnchor(const std::string& section) {
    const Buffer bytes = FileBytes(path_);
    for (int64_t slot = 0; slot < format::kSlots; ++slot) FlipByte(anchor_.slot(slot));
    EXPECT_FALSE(SkipsCommits(Read()));
    const FoundInJournal found = Find(section);
    PutFileBytes(path_, bytes);
    return found;
  }

  frame::AnchorPlace anchor_;
  format::SummarySlot newest_;
  int64_t entries_ = 0;  // bytes of its table
};

TEST_F(JournalCheckTest, FindsTheSameInCommitsThatAreSummedUpAsWithoutSummaries) {
  CommitSummaries();
  int64_t hidden = 0;  // damage that no reader sees
  for (int64_t at = anchor_.slot(format::kSlots); at < newest_.position; at += 2999) {
    FlipByte(at);
    const FoundInJournal found = Find("journal");
    EXPECT_EQ(found, FindWithoutAnchor("journal")) << "byte " << at;
    hidden += SkipsCommits(Read()) && !found.findings.empty() ? 1 : 0;
    FlipByte(at);
  }
  EXPECT_GT(hidden, 10);
  EXPECT_EQ(Find("journal"), FoundInJournal());
}

TEST_F(JournalCheckTest, NamesTheSummaryThatIsDamaged) {
  CommitSummaries();
  const std::string place = absl::StrFormat("[%d, %d) ", newest_.position, newest_.end());
  for (const int64_t at : {newest_.position + 40, newest_.end() - 1}) {
    FlipByte(at);
    const FoundInJournal found = Find("summary");
    ASSERT_FALSE(found.findings.empty()) << at - newest_.position;
    EXPECT_TRUE(found.findings.front().starts_with(place)) << found;
    EXPECT_EQ(Find("journal").findings, std::vector<std::string>());
    FlipByte(at);
  }
  EXPECT_EQ(Find("summary"), FoundInJournal());
}

// The summary describes some commits, but not these.
TEST_F(JournalCheckTest, NamesTheSummaryThatSaysAnotherThingThanTheCommits) {
  CommitSummaries();
  const auto payload = static_cast<size_t>(newest_.position + chunk::kHeaderSize);
  const auto hash_at = static_cast<size_t>(newest_.end() - entries_) - sizeof(uint64_t);
  Buffer bytes = FileBytes(path_);
  // This byte is the distance of the last piece in a table. It now leads to the entry next to it.
  std::byte& source = bytes[hash_at - 1];
  ASSERT_GT(source, std::byte{2});
  ASSERT_LT(source, std::byte{128});
  source = std::byte(static_cast<unsigned>(source) - 2);
  const uint64_t hash = Xxh3(Bytes(bytes).subspan(payload, hash_at - payload));
  StoreLe(bytes.data() + hash_at,
          hash + anchor_.identity + static_cast<uint64_t>(newest_.position));
  PutFileBytes(path_, bytes);
  EXPECT_TRUE(SkipsCommits(Read())) << "nothing shows it to a reader";
  const FoundInJournal found = Find("summary");
  ASSERT_EQ(found.findings.size(), 1);
  EXPECT_TRUE(found.findings.front().ends_with("say another thing")) << found;
}

TEST_F(JournalCheckTest, FindsNothingInAStateBeforeTheNewestSummary) {
  Writer writer = OpenWriter();
  CommitMany(writer, 50);
  const Snapshot before = Read();
  const Buffer data = data_;
  CommitMany(writer, 100);
  ExpectHolds(before, data);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  CommitMany(writer, 100);
  ExpectHolds(before, data);
}

}  // namespace
}  // namespace cairn::test

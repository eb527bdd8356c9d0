// Salvage of frames whose file was cut off: whatever the cut took, no item appears that the frame
// did not hold, each saved item is in its place, and the report names what is not there.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "tests/frame/repair/salvaging.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int32_t kNumberBytes = 8;
constexpr int32_t kNumbersPerChunk = 50;

// Items that are all different, and none of which is zero. `version` tells updates apart.
Buffer Numbered(int64_t first, int64_t count, uint8_t version = 1) {
  Buffer items(static_cast<size_t>(count * kNumberBytes));
  for (int64_t i = 0; i < count; ++i) {
    std::byte* const item = items.data() + i * kNumberBytes;
    item[0] = static_cast<std::byte>((first + i) & 0xFF);
    item[1] = static_cast<std::byte>((first + i) >> 8);
    item[2] = static_cast<std::byte>((first + i) * 37 % 251);
    item[7] = static_cast<std::byte>(version);
  }
  return items;
}

ArrayInfo LineOf(int64_t length) {
  return {.shape = {length},
          .chunkshape = {kNumbersPerChunk},
          .blockshape = {kNumbersPerChunk},
          .dtype = "<u8"};
}

// How a frame was written. The last checkpoint ends its file.
enum class Past {
  kPlain,
  kPlainAppended,
  kLine,
  kLineInOneGo,
  kLineAppended,
  kLineShortened,
  kLineUpdated,
  kPlane
};

// The chunks of a frame without their padding. A hole is nothing.
using SavedChunks = std::vector<std::optional<Buffer>>;

SavedChunks DataOfChunks(const Snapshot& snapshot) {
  const bool is_line = snapshot.array().has_value() && snapshot.array()->shape.size() == 1;
  int64_t rest = is_line ? snapshot.array()->shape[0] * kNumberBytes : INT64_MAX;
  SavedChunks chunks;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const int64_t nbytes = snapshot.ChunkNbytes(i).value_or(kNumberBytes * kNumbersPerChunk);
    Buffer items(static_cast<size_t>(nbytes));
    const bool is_hole = !snapshot.ReadChunk(i, items).ok();
    items.resize(static_cast<size_t>(std::clamp<int64_t>(rest, 0, nbytes)));
    rest -= nbytes;
    if (is_hole) {
      chunks.emplace_back();
    } else if (!items.empty()) {
      chunks.emplace_back(std::move(items));
    }
  }
  return chunks;
}

// Returns true if each chunk is there in its place, at least the first bytes of it.
bool IsPartOf(const SavedChunks& saved, const SavedChunks& state) {
  if (saved.size() > state.size()) return false;
  for (size_t i = 0; i < saved.size(); ++i) {
    if (!saved[i].has_value()) continue;
    if (saved[i]->size() > state[i]->size()) return false;
    if (!std::equal(saved[i]->begin(), saved[i]->end(), state[i]->begin())) return false;
  }
  return true;
}

class SalvageTruncatedTest : public Salvaging, public testing::WithParamInterface<Past> {
 protected:
  bool IsLine() const { return GetParam() >= Past::kLine && GetParam() <= Past::kLineUpdated; }

  void Note(const absl::StatusOr<Snapshot>& committed) {
    ASSERT_TRUE(IsOk(committed));
    states_.push_back(DataOfChunks(*committed));
  }

  void Append(Writer& writer, int64_t count) {
    const Buffer items = Numbered(end_, count);
    ASSERT_TRUE(IsOk(IsLine() ? writer.AppendSlices(0, items) : writer.Append(items)));
    end_ += count;
  }

  // Each part is written by a writer of its own.
  void AppendAll(const std::vector<int64_t>& parts, bool journal) {
    for (const int64_t count : parts) {
      auto writer = Frame::Open(path_)->OpenWriter();
      ASSERT_TRUE(IsOk(writer));
      for (int64_t rest = count; rest > 0; rest -= 30) {
        Append(*writer, std::min<int64_t>(rest, 30));
        if (journal) Note(writer->Commit(Durability::kProcess));
      }
      ASSERT_TRUE(IsOk(writer->Checkpoint()));
      ASSERT_TRUE(IsOk(writer->Close()));
      Note(Frame::Open(path_)->snapshot());
    }
  }

  void Edit(const std::function<void(Writer&)>& edit) {
    auto writer = Frame::Open(path_)->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    edit(*writer);
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    ASSERT_TRUE(IsOk(writer->Close()));
    Note(Frame::Open(path_)->snapshot());
  }

  Buffer MakeWhole() {
    CreateOptions options = Cut(kNumberBytes, kNumberBytes * kNumbersPerChunk);
    const Past kind = GetParam();
    if (IsLine()) options = OfArray(LineOf(0), kNumberBytes);
    if (kind == Past::kPlane) {
      options =
          OfArray({.shape = {13, 17}, .chunkshape = {5, 10}, .blockshape = {5, 10}}, kNumberBytes);
    }
    if (kind == Past::kPlain || kind == Past::kLineInOneGo || kind == Past::kPlane) {
      auto writer = Frame::BeginCreate(path_, options);
      EXPECT_TRUE(IsOk(writer));
      if (kind == Past::kPlane) {
        EXPECT_TRUE(IsOk(writer->WriteBox(std::vector<int64_t>{0, 0}, std::vector<int64_t>{13, 17},
                                          Numbered(0, 13 * 17))));
      } else {
        Append(*writer, 230);
      }
      EXPECT_TRUE(IsOk(writer->SetVlmetalayer("unit", MakeItems(40))));
      EXPECT_TRUE(IsOk(writer->Close()));
      Note(Frame::Open(path_)->snapshot());
    } else {
      EXPECT_TRUE(IsOk(Frame::Create(path_, options)));
      const bool journal = kind != Past::kLine && kind != Past::kLineUpdated;
      AppendAll(
          kind == Past::kLine ? std::vector<int64_t>{230} : std::vector<int64_t>{130, 45, 5, 95},
          journal);
    }
    if (kind == Past::kLineShortened) {
      Edit([](Writer& writer) {
        ASSERT_TRUE(IsOk(writer.DeleteSlices(0, 0, 2 * kNumbersPerChunk)));
      });
      AppendAll({40}, true);
    }
    if (kind == Past::kLineUpdated) {
      Edit([](Writer& writer) {
        for (const int64_t i : {1, 3}) {
          ASSERT_TRUE(
              IsOk(writer.UpdateChunk(i, Numbered(i * kNumbersPerChunk, kNumbersPerChunk, 2))));
        }
      });
    }
    return FileBytes(path_);
  }

  const std::string path_ = dir_.Path("whole");
  int64_t end_ = 0;
  std::vector<SavedChunks> states_;  // all that were committed
};

// Returns true if each item is one of those that were committed, and none is there twice.
bool AreItemsOf(const SavedChunks& saved, const std::vector<SavedChunks>& states) {
  const auto items_of = [](const SavedChunks& chunks, bool numbers) {
    std::vector<std::string> items;
    for (const std::optional<Buffer>& chunk : chunks) {
      if (!chunk.has_value()) continue;
      for (size_t i = 0; i < chunk->size(); i += kNumberBytes) {
        items.emplace_back(AsText(*chunk).substr(i, numbers ? kNumberBytes - 1 : kNumberBytes));
      }
    }
    return items;
  };
  std::set<std::string> all;
  for (const SavedChunks& state : states) {
    const std::vector<std::string> items = items_of(state, false);
    all.insert(items.begin(), items.end());
  }
  const std::vector<std::string> items = items_of(saved, false);
  std::vector<std::string> numbers = items_of(saved, true);
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) == numbers.end() &&
         std::ranges::all_of(items, [&](const auto& item) { return all.contains(item); });
}

std::string DescribeSaved(const SalvageReport& report, const SavedChunks& chunks) {
  std::string text = report.scanned ? ": scanned" : ": not scanned";
  for (const std::optional<Buffer>& chunk : chunks) {
    absl::StrAppend(&text, " ", chunk.has_value() ? chunk->size() / kNumberBytes : -1);
  }
  for (const LostBytes& lost : report.lost) {
    absl::StrAppend(&text, "; [", lost.begin, ", ", lost.end, "): ", lost.reason);
  }
  return text;
}

TEST_P(SalvageTruncatedTest, WhereverAFileIsCutOffNothingIsInvented) {
  Buffer whole;
  ASSERT_NO_FATAL_FAILURE(whole = MakeWhole());
  const FrameParts parts = PartsOf(whole);
  ASSERT_EQ(parts.frame_size, std::ssize(whole));
  const Frame frame = *Frame::OpenBuffer(whole);
  const Snapshot& truth = frame.snapshot();
  std::set<int64_t> cuts;
  for (int64_t at = parts.header_len; at < parts.frame_size; at += 23) cuts.insert(at);
  for (const int64_t part : {parts.index_begin, parts.trailer_begin, parts.frame_size}) {
    for (const int64_t near : {-1, 0, 1}) {
      if (part + near < parts.frame_size) cuts.insert(part + near);
    }
  }
  int64_t dropped = 0;
  for (const int64_t at : cuts) {
    const auto report = SalvageBytes(Bytes(whole).first(static_cast<size_t>(at)));
    if (!report.ok()) {
      // Only before the end of the first chunk.
      EXPECT_TRUE(absl::IsNotFound(report.status())) << report.status();
      EXPECT_LT(at, PlacesOf(whole).front().end + parts.header_len) << at;
      continue;
    }
    const Snapshot saved = Saved();
    EXPECT_FALSE(report->lost.empty()) << at;
    if (truth.array().has_value() && !saved.array().has_value()) {
      ++dropped;
      EXPECT_TRUE(report->scanned) << at;
      EXPECT_TRUE(std::ranges::any_of(report->lost, [](const LostBytes& lost) {
        return absl::StrContains(lost.reason, "metalayer b2nd");
      })) << at;
      continue;
    }
    const SavedChunks chunks = DataOfChunks(saved);
    EXPECT_TRUE(report->scanned && IsLine() ? AreItemsOf(chunks, states_)
                                            : std::ranges::any_of(states_,
                                                                  [&](const SavedChunks& state) {
                                                                    return IsPartOf(chunks, state);
                                                                  }))
        << at << DescribeSaved(*report, chunks);
    // Without an index, what was only appended is known from an older checkpoint and its journal,
    // or because nothing else lies in the file.
    if (at >= parts.index_begin && GetParam() < Past::kLineShortened) {
      EXPECT_EQ(ContentOf(saved), ContentOf(truth)) << at << DescribeSaved(*report, chunks);
    }
    if (at >= parts.trailer_begin) {
      EXPECT_EQ(ContentOf(saved), ContentOf(truth)) << at;
      EXPECT_FALSE(report->scanned) << at;
      EXPECT_TRUE(report->holes.empty()) << at;
    }
  }
  // Only where chunks of several states may lie in the file is the order of its items not known.
  const bool has_history = GetParam() >= Past::kLineShortened;
  EXPECT_TRUE(has_history || dropped == 0) << dropped;
}

INSTANTIATE_TEST_SUITE_P(Kinds, SalvageTruncatedTest,
                         testing::Values(Past::kPlain, Past::kPlainAppended, Past::kLine,
                                         Past::kLineInOneGo, Past::kLineAppended,
                                         Past::kLineShortened, Past::kLineUpdated, Past::kPlane));

}  // namespace
}  // namespace cairn::test

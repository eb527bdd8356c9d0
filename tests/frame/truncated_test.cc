// Files that are cut short while they are read without a map: every answer is the data or
// kDataLoss, and no signal.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int32_t kChunk = 1000;
constexpr int64_t kItems = 8 * kChunk;

enum class Form { kContiguous, kSparse, kJournaled };

class TruncatedTest : public testing::TestWithParam<Form> {
 protected:
  void Make() {
    CreateOptions options = Cut(1, kChunk);
    options.compression.blocksize = 256;
    options.overwrite = true;
    if (GetParam() == Form::kSparse) options.layout = Layout::kSparse;
    auto frame = Frame::Create(path_, options);
    ASSERT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    for (int64_t done = 0; done < kItems; done += kItems / 4) {
      ASSERT_TRUE(
          IsOk(writer->Append(Bytes(items_).subspan(static_cast<size_t>(done), kItems / 4))));
      ASSERT_TRUE(IsOk(writer->SetVlmetalayer("note", Bytes(items_).first(300))));
      ASSERT_TRUE(IsOk(writer->Commit()));
    }
    // Closing it makes a checkpoint of the commits, except for those of the journal.
    if (GetParam() == Form::kJournaled) {
      ASSERT_GT(writer->StagedSnapshot()->info().journal_size, kItems / 2);
      return;
    }
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  // The files of the frame.
  std::vector<std::string> Files() const {
    if (GetParam() != Form::kSparse) return {path_};
    std::vector<std::string> files;
    for (const std::string& name : NamesIn(path_)) files.push_back(path_ + "/" + name);
    return files;
  }
  // Data of these bytes, or that they are gone.
  void ExpectDataOrLoss(const absl::Status& status, Bytes read, Bytes data) {
    if (status.ok()) {
      EXPECT_TRUE(std::ranges::equal(read, data));
    } else {
      EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      ++losses_;
    }
  }
  // Reads in every way.
  void ReadAll(const Frame& frame) {
    const Snapshot snapshot = frame.snapshot();
    Buffer chunk(kChunk);
    for (int64_t i = 0; i < kItems / kChunk; ++i) {
      const Bytes data = Bytes(items_).subspan(static_cast<size_t>(i * kChunk), kChunk);
      ExpectDataOrLoss(snapshot.ReadChunk(i, chunk), chunk, data);
      Buffer few(3);
      ExpectDataOrLoss(snapshot.ReadItems(i * kChunk + 7, few), few, data.subspan(7, 3));
      const std::vector<int64_t> places = {i * kChunk + 2, i * kChunk + 900};
      Buffer two(2);
      ExpectDataOrLoss(snapshot.ReadItemsAt(places, two), two, Buffer{data[2], data[900]});
      const auto stored = snapshot.GetChunk(i);
      ExpectDataOrLoss(stored.status(), {}, {});
    }
    if (losses_ > 0) {
      const auto report = snapshot.Verify();
      EXPECT_TRUE(!report.ok() || !report->ok());
    }
    const auto note = snapshot.GetVlmetalayer("note");
    ExpectDataOrLoss(note.status(), note.value_or(Buffer()), Bytes(items_).first(300));
    ExpectDataOrLoss(frame.snapshot().ToBuffer().status(), {}, {});
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  const Buffer items_ = MakeNoise(kItems);
  int64_t losses_ = 0;
};

TEST_P(TruncatedTest, FrameThatIsCutWhileItIsOpenGivesItsDataOrDataLoss) {
  // Touched before it is cut, or not.
  for (const bool touched : {false, true}) {
    for (const int64_t sixteenths : {0, 1, 5, 10, 15}) {
      SCOPED_TRACE(sixteenths);
      Make();
      auto frame = Frame::Open(path_, {.use_mmap = false, .verify = VerifyPolicy::kAlways});
      ASSERT_TRUE(IsOk(frame));
      if (touched) ReadAll(*frame);
      ASSERT_EQ(losses_, 0);
      for (const std::string& file : Files()) {
        std::filesystem::resize_file(
            file, std::filesystem::file_size(file) * static_cast<uintmax_t>(sixteenths) / 16);
      }
      ReadAll(*frame);
      EXPECT_GT(losses_, 0);
      losses_ = 0;
      const auto newer = frame->Refresh();
      EXPECT_TRUE(newer.ok() || absl::IsDataLoss(newer.status())) << newer.status();
      const auto history = frame->History();
      EXPECT_TRUE(history.ok() || absl::IsDataLoss(history.status())) << history.status();
      const auto compacted = frame->Compact();
      // Fewer commits are a frame too, for a reader that opens the file again.
      const bool fewer = compacted.ok() && GetParam() == Form::kJournaled;
      EXPECT_TRUE(fewer || absl::IsDataLoss(compacted.status())) << compacted.status();
      std::filesystem::remove_all(path_);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, TruncatedTest,
                         testing::Values(Form::kContiguous, Form::kSparse, Form::kJournaled),
                         [](const auto& form) {
                           return form.param == Form::kContiguous ? "Contiguous"
                                  : form.param == Form::kSparse   ? "Sparse"
                                                                  : "Journaled";
                         });

}  // namespace
}  // namespace cairn::test

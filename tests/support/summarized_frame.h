// A frame whose journal has a summary every few commits.
#ifndef CAIRN_TESTS_SUPPORT_SUMMARIZED_FRAME_H_
#define CAIRN_TESTS_SUPPORT_SUMMARIZED_FRAME_H_

#include <cstdint>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/edited_frame.h"
#include "tests/support/unowned.h"

namespace cairn::test {

class SummarizedFrameTest : public EditedFrameTest {
 protected:
  SummarizedFrameTest() : EditedFrameTest(400) {}
  static constexpr int64_t kEditsOfSummary = 40;

  Writer OpenWriter(bool gradual = false, int64_t edits_of_summary = kEditsOfSummary) {
    frame::CheckpointPolicy checkpoints = {.least_gradual = gradual ? 1 : INT64_MAX,
                                           .use_thread = false,
                                           .least_summarized = 1,
                                           .edits_of_summary = edits_of_summary};
    if (gradual) checkpoints.least_edits = 300;
    return EditedFrameTest::OpenWriter(checkpoints, Unowned(&files_));
  }
  static bool SkipsCommits(const Snapshot& snapshot) {
    return frame::HandleAccess::StateOf(snapshot).chunks.summary() != nullptr;
  }

  using EditedFrameTest::Update;
  void Update(Writer& writer) { Update(writer, AnyChunk()); }
  void Insert(Writer& writer) {
    const int64_t nchunk = AnyChunk();
    const Buffer items = MakeNoise(kSmallChunk, random_());
    ASSERT_TRUE(IsOk(writer.InsertChunk(nchunk, items)));
    data_.insert(At(nchunk), items.begin(), items.end());
  }
  void Delete(Writer& writer) {
    const int64_t nchunk = AnyChunk(2);
    const auto count = static_cast<int64_t>(1 + random_() % 2);
    ASSERT_TRUE(IsOk(writer.DeleteChunks(nchunk, count)));
    data_.erase(At(nchunk), At(nchunk + count));
  }
  void CommitSomething(Writer& writer, Durability durability = Durability::kProcess) {
    for (uint64_t left = 1 + random_() % 3; left > 0; --left) {
      switch (random_() % 5) {
        case 0:
          Update(writer);
          break;
        case 1:
          Insert(writer);
          break;
        case 2:
          Delete(writer);
          break;
        default:
          Append(writer);
      }
    }
    ASSERT_TRUE(IsOk(writer.Commit(durability)));
  }
  void CommitMany(Writer& writer, int64_t commits, Durability durability = Durability::kProcess) {
    for (int64_t i = 0; i < commits; ++i) CommitSomething(writer, durability);
  }
  void FlipByte(int64_t at) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(at);
    file.put(byte);
  }

  UnsyncedFileSystem files_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_SUMMARIZED_FRAME_H_

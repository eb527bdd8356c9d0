// A frame of plain chunks that a test edits at random, and what it has to hold.
#ifndef CAIRN_TESTS_SUPPORT_EDITED_FRAME_H_
#define CAIRN_TESTS_SUPPORT_EDITED_FRAME_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/state/frame_context.h"
#include "engine/frame/writer/frame_writer.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/opened_core.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {

// The chunks of the frame have kSmallChunk items of one byte.
class EditedFrameTest : public testing::Test {
 protected:
  explicit EditedFrameTest(int64_t chunks)
      : data_(MakeNoise(static_cast<size_t>(chunks * kSmallChunk), 1)) {}
  void SetUp() override { ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kSmallChunk), data_))); }

  Writer OpenWriter(const frame::CheckpointPolicy& checkpoints,
                    const std::shared_ptr<FileSystem>& files) const {
    auto env = std::make_shared<frame::FrameContext>(OpenOptions{.file_system = files});
    env->checkpoints = checkpoints;
    auto core = OpenCore(path_, env);
    EXPECT_TRUE(IsOk(core));
    auto writer = frame::OpenWriter(*core, {});
    EXPECT_TRUE(IsOk(writer));
    return frame::HandleAccess::Make(*std::move(writer));
  }
  Snapshot Read(const OpenOptions& options = {}) const {
    auto frame = Frame::Open(path_, options);
    EXPECT_TRUE(IsOk(frame));
    return frame->snapshot();
  }
  // Returns true if its checkpoint was made during commits.
  static bool Inherits(const Snapshot& snapshot) {
    const frame::Checkpoint& checkpoint = *frame::HandleAccess::StateOf(snapshot).checkpoint;
    return checkpoint.seal_holds && checkpoint.seal->journal.has_value();
  }

  // Chooses one of the full chunks.
  int64_t AnyChunk(int64_t but_last = 0) {
    const int64_t chunks = std::ssize(data_) / kSmallChunk - but_last;
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(chunks));
  }
  auto At(int64_t nchunk) { return data_.begin() + nchunk * kSmallChunk; }
  void Update(Writer& writer, int64_t nchunk) {
    const Buffer items = MakeNoise(kSmallChunk, random_());
    ASSERT_TRUE(IsOk(writer.UpdateChunk(nchunk, items)));
    std::ranges::copy(items, At(nchunk));
  }
  void Append(Writer& writer) {
    const Buffer items = MakeNoise(1 + random_() % 100, random_());
    ASSERT_TRUE(IsOk(writer.Append(items)));
    data_.insert(data_.end(), items.begin(), items.end());
  }

  const TempDir dir_;
  std::string path_ = dir_.Path("f");
  Buffer data_;
  std::mt19937_64 random_{7};
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_EDITED_FRAME_H_

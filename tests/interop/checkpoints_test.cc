// C-Blosc2 reads each checkpoint of a frame that is updated for long, and appends to it.
#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/interop/data.h"
#include "tests/interop/figures.h"
#include "tests/interop/peer_edits.h"
#include "tests/interop/peer_frame.h"
#include "tests/support/status.h"

namespace cairn::interop {
namespace {

struct Life {
  int32_t chunksize = 1024;
  int64_t chunks = 300;
  int64_t commits = 60'000;
  bool any_size = false;  // stored
  bool is_log = false;    // deletes its front as it grows
};

// A chunk that was made of this number comes: in the place of another one, or at the end.
struct Edit {
  uint64_t generation = 0;
  std::optional<size_t> place;
  uint32_t number = 0;
};

class Checkpoints {
 public:
  explicit Checkpoints(const Life& life) : life_(life) {}

  void Run() {
    Start();
    if (testing::Test::HasFatalFailure()) return;
    Frame first = *Frame::Open(path_);
    Frame second = *Frame::Open(path_);
    std::optional<Snapshot> held;
    for (int64_t i = 0; i < life_.commits; ++i) {
      ASSERT_TRUE(IsOk(StageEdit()));
      const auto snapshot = writer_->Commit(Durability::kProcess);
      ASSERT_TRUE(IsOk(snapshot));
      edits_.back().generation = snapshot->info().generation;
      ASSERT_TRUE(i % 10 != 0 || IsOk(first.Refresh()));
      ASSERT_TRUE(i % 10 != 5 || IsOk(second.Refresh()));
      if (i == life_.commits / 5) held = *snapshot;
      if (i == life_.commits * 2 / 5) held.reset();
      LookAtCheckpoint();
      if (testing::Test::HasFailure()) return;
    }
    ASSERT_TRUE(IsOk(writer_->Checkpoint()));
    LookAtCheckpoint();
    std::filesystem::remove(path_);
  }
  int64_t count() const { return count_; }

 private:
  Buffer ChunkOf(uint32_t number) const {
    Buffer chunk(static_cast<size_t>(life_.chunksize));
    std::minstd_rand random(number + 1);
    // As much noise takes as much space.
    const size_t noise = life_.any_size ? number % chunk.size() : chunk.size() / 2;
    for (size_t i = 0; i < noise; ++i) chunk[i] = static_cast<std::byte>(random());
    return chunk;
  }
  void Start() {
    CreateOptions options;
    options.chunksize = life_.chunksize;
    options.compression.codec = Codec::kLz4;
    options.compression.clevel = 1;
    options.overwrite = true;
    frame_ = *Frame::Create(path_, options);
    writer_ = *frame_->OpenWriter();
    for (; next_ < life_.chunks; ++next_) {
      checkpoint_.push_back(next_);
      ASSERT_TRUE(IsOk(writer_->Append(ChunkOf(next_))));
    }
    ASSERT_TRUE(IsOk(writer_->Checkpoint()));
    LookAtCheckpoint();
  }
  absl::Status StageEdit() {
    const uint32_t number = next_++;
    if (life_.is_log) {
      edits_.push_back({.place = std::nullopt, .number = number});
      const absl::Status status = writer_->Append(ChunkOf(number));
      return status.ok() ? writer_->DeleteChunks(0, 1) : status;
    }
    const size_t place = random_() % checkpoint_.size();
    edits_.push_back({.place = place, .number = number});
    return writer_->UpdateChunk(static_cast<int64_t>(place), ChunkOf(number));
  }
  // Returns the frame's content in this generation, which is not before the last one that was asked
  // for.
  const std::vector<uint32_t>& NumbersAt(uint64_t generation) {
    for (; !edits_.empty() && edits_.front().generation <= generation; edits_.pop_front()) {
      const Edit& edit = edits_.front();
      if (edit.place.has_value()) {
        checkpoint_[*edit.place] = edit.number;
      } else {
        checkpoint_.push_back(edit.number);
        checkpoint_.erase(checkpoint_.begin());
      }
    }
    return checkpoint_;
  }

  // Copies what C-Blosc2 sees of the frame if that has another checkpoint now.
  void LookAtCheckpoint() {
    std::array<char, 64> header{};
    std::ifstream(path_, std::ios::binary).read(header.data(), header.size());
    if (header == header_) return;
    header_ = header;
    ++count_;
    std::filesystem::copy_file(path_, copy_, std::filesystem::copy_options::overwrite_existing);
    const auto all = Frame::Open(copy_);
    ASSERT_TRUE(IsOk(all));
    std::filesystem::resize_file(copy_, static_cast<uintmax_t>(all->snapshot().info().frame_size));
    const auto checkpoint = Frame::Open(copy_);
    ASSERT_TRUE(IsOk(checkpoint));
    std::vector<Buffer> expected;
    for (const uint32_t number : NumbersAt(checkpoint->snapshot().info().generation)) {
      expected.push_back(ChunkOf(number));
    }
    ExpectPeerReadsAndAppends(std::move(expected));
    std::filesystem::remove(copy_);
  }
  void ExpectPeerReadsAndAppends(std::vector<Buffer> expected) const {
    auto peer = PeerFrame::Open(copy_);
    ASSERT_TRUE(peer.has_value());
    ASSERT_EQ(peer->ReadChunks(), expected);
    expected.push_back(ChunkOf(0));
    ASSERT_TRUE(peer->Append(expected.back()));
    peer.reset();
    const auto appended = Frame::Open(copy_);
    ASSERT_TRUE(IsOk(appended));
    const Snapshot snapshot = appended->snapshot();
    ASSERT_EQ(snapshot.info().nchunks, std::ssize(expected));
    Buffer chunk(static_cast<size_t>(life_.chunksize));
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(IsOk(snapshot.ReadChunk(static_cast<int64_t>(i), chunk)));
      ASSERT_EQ(chunk, expected[i]) << i;
    }
  }

  const Life life_;
  const std::string path_ = FreshPath("life");
  const std::string copy_ = FreshPath("checkpoint");
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  Random random_{1};
  uint32_t next_ = 0;
  std::vector<uint32_t> checkpoint_;  // of what its chunks were made
  std::deque<Edit> edits_;            // after it
  std::array<char, 64> header_{};
  int64_t count_ = 0;
};

int64_t CountOf(const Life& life) {
  Checkpoints checkpoints(life);
  checkpoints.Run();
  return checkpoints.count();
}

TEST(CheckpointsTest, PeerReadsAndAppendsToEachOfAFrameThatIsUpdatedAtRandom) {
  const int64_t count = CountOf({});
  EXPECT_GT(count, 20);
  Report("checkpoints_of_updates", count);
}

TEST(CheckpointsTest, PeerReadsAndAppendsToEachWhereChunksAreStoredInAnySize) {
  const int64_t count = CountOf({.any_size = true});
  EXPECT_GT(count, 20);
  Report("checkpoints_of_any_size", count);
}

TEST(CheckpointsTest, PeerReadsAndAppendsToEachOfALogThatDeletesItsFront) {
  const int64_t count = CountOf({.is_log = true});
  EXPECT_GT(count, 20);
  Report("checkpoints_of_a_log", count);
}

// Made during commits; see docs/guarantees.md.
TEST(CheckpointsTest, PeerReadsAndAppendsToEachOfALargeFrame) {
  const int64_t count = CountOf({.chunksize = 32, .chunks = 140'000, .commits = 40'000});
  EXPECT_GT(count, 3);
  Report("checkpoints_of_a_large_frame", count);
}

}  // namespace
}  // namespace cairn::interop

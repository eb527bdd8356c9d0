// Long sequences in which Cairn and C-Blosc2 edit one frame in turn, contiguous and sparse.
//
// Left out is what C-Blosc2 breaks by itself (docs/errata.md): special values of the index where
// chunks may become variable, dictionaries, block sizes that are asked for, and in sparse frames
// chunks so small that the numbers of the files pass what it opens again.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/interop/cairn_edits.h"
#include "tests/interop/figures.h"
#include "tests/interop/frame_case.h"
#include "tests/interop/peer_edits.h"
#include "tests/support/status.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::interop {
namespace {

constexpr uint64_t kSequences = 500;
constexpr int kTurns = 6;

struct Figures {
  int64_t handovers = 0;
  int64_t cairn_edits = 0;
  int64_t peer_edits = 0;
};

void ExpectBothRead(const std::string& path, const FrameCase& c, Random& random) {
  {
    SCOPED_TRACE("read by Cairn");
    OpenOptions options;
    options.use_mmap = random() % 2 == 0;
    const auto frame = Frame::Open(path, options);
    ASSERT_TRUE(IsOk(frame));
    EXPECT_EQ(frame->snapshot().info().layout, c.options.layout);
    ExpectHolds(frame->snapshot(), c);
  }
  SCOPED_TRACE("read by the peer");
  ExpectPeerReadsFile(path, c, random);
}

void RunSequence(const std::string& path, Layout layout, Random& random, Figures* figures) {
  test::UnsyncedFileSystem files;
  FrameCase c = MakeEditableFrameCase(random);
  c.birth = Birth::kCreated;
  c.options.layout = layout;
  c.options.file_system = Unowned(&files);
  SCOPED_TRACE(testing::Message() << c);
  bool peers_turn = random() % 2 == 0;
  if (peers_turn) {
    CreateByPeer(path, random, &c);
  } else {
    const auto frame = Frame::Create(path, c.options);
    ASSERT_TRUE(IsOk(frame));
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    SCOPED_TRACE(testing::Message() << "turn " << turn);
    ExpectBothRead(path, c, random);
    if (testing::Test::HasFailure()) return;
    peers_turn = !peers_turn;
    ++figures->handovers;
    const int64_t before = c.nedits;
    peers_turn ? EditByPeer(path, random, &c) : EditChunksByCairn(path, random, &c);
    if (testing::Test::HasFailure()) return;
    (peers_turn ? figures->peer_edits : figures->cairn_edits) += c.nedits - before;
  }
  ExpectBothRead(path, c, random);
}

void RunSequences(Layout layout, uint64_t first_seed) {
  const std::string path = FreshPath("turns");
  Figures figures;
  for (uint64_t seed = first_seed; seed < first_seed + kSequences / 2; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    RunSequence(path, layout, random, &figures);
    std::filesystem::remove_all(path);
    if (testing::Test::HasFailure()) return;
  }
  Report("sequences", kSequences / 2);
  Report("handovers", figures.handovers);
  Report("edits_by_cairn", figures.cairn_edits);
  Report("edits_by_the_peer", figures.peer_edits);
}

TEST(PeerSequencesTest, BothEditOneContiguousFrameInTurn) { RunSequences(Layout::kContiguous, 1); }

TEST(PeerSequencesTest, BothEditOneSparseFrameInTurn) { RunSequences(Layout::kSparse, 1001); }

}  // namespace
}  // namespace cairn::interop

// Frames go back and forth between Cairn and C-Blosc2, which both read and edit them.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/interop/chunk_case.h"
#include "tests/interop/frame_case.h"

namespace cairn::interop {
namespace {

constexpr int kWrittenFrames = 400;
constexpr int kEditedFrames = 200;
constexpr int kForeignFrames = 200;

// A path where nothing is.
std::string FreshPath() {
  const std::string path = testing::TempDir() + "cairn-interop-" + std::to_string(getpid());
  std::filesystem::remove(path);
  return path;
}

void Report(const char* what, int ncases) {
  std::cout << "[ figures  ] " << what << ": " << ncases << " cases\n";
  testing::Test::RecordProperty(what, ncases);
}

Buffer Join(const std::vector<Buffer>& chunks) {
  Buffer joined;
  for (const Buffer& chunk : chunks) joined.insert(joined.end(), chunk.begin(), chunk.end());
  return joined;
}

// The peer's slices of delta chunks are wrong, and of uninitialised ones undefined.
void ExpectSlices(const PeerFrame& peer, const FrameCase& c, Random& random) {
  const int64_t nitems = std::ssize(c.content) / c.typesize();
  if (Uses(c.options.compression, Filter::kDelta) || c.has_uninit || nitems == 0) return;
  for (int i = 0; i < 3; ++i) {
    const int64_t start = Between(random, 0, nitems - 1);
    const int64_t count = Between(random, 1, nitems - start);
    const auto items = peer.ReadItems(start, count);
    ASSERT_TRUE(items.has_value()) << start << " + " << count;
    const Bytes wanted = Bytes(c.content).subspan(static_cast<size_t>(start * c.typesize()),
                                                  static_cast<size_t>(count * c.typesize()));
    ASSERT_TRUE(std::ranges::equal(*items, wanted)) << start << " + " << count;
  }
}

// All that the peer reads equals the model.
void ExpectPeerReads(const std::optional<PeerFrame>& peer, const FrameCase& c, Random& random) {
  ASSERT_TRUE(peer.has_value()) << "the peer refuses the frame";
  EXPECT_EQ(peer->typesize(), c.typesize());
  ASSERT_EQ(peer->nbytes(), std::ssize(c.content));
  const auto chunks = peer->ReadChunks();
  ASSERT_TRUE(chunks.has_value()) << "the peer cannot read a chunk";
  ASSERT_TRUE(Join(*chunks) == c.content);
  ExpectSlices(*peer, c, random);
  const auto metalayers = peer->metalayers();
  ASSERT_TRUE(metalayers.has_value());
  EXPECT_EQ(*metalayers, c.metalayers);
  auto vlmetalayers = peer->vlmetalayers();
  ASSERT_TRUE(vlmetalayers.has_value());
  vlmetalayers->erase("cairn");
  vlmetalayers->erase("cairn.fp");
  EXPECT_EQ(*vlmetalayers, c.vlmetalayers);
}

void ExpectPeerReadsFile(const std::string& path, const FrameCase& c, Random& random) {
  {
    SCOPED_TRACE("file");
    ExpectPeerReads(PeerFrame::Open(path), c, random);
  }
  SCOPED_TRACE("mapped");
  ExpectPeerReads(PeerFrame::OpenMapped(path), c, random);
}

void ExpectCairnReads(const std::string& path, const FrameCase& c) {
  for (const bool use_mmap : {true, false}) {
    SCOPED_TRACE(use_mmap ? "mapped" : "read");
    OpenOptions options;
    options.use_mmap = use_mmap;
    const auto frame = Frame::Open(path, options);
    ASSERT_TRUE(frame.ok()) << frame.status();
    ExpectHolds(frame->snapshot(), c);
  }
}

TEST(Blosc2FrameTest, PeerReadsWhatCairnWrites) {
  const std::string path = FreshPath();
  Random random(1);
  int64_t nchunks = 0;
  for (int i = 0; i < kWrittenFrames; ++i) {
    std::filesystem::remove(path);
    FrameCase c = MakeFrameCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const absl::Status status = WriteFrame(path, random, &c);
    ASSERT_TRUE(status.ok()) << status;
    ExpectCairnReads(path, c);
    ExpectPeerReadsFile(path, c, random);
    const auto frame = Frame::Open(path);
    ASSERT_TRUE(frame.ok()) << frame.status();
    const FrameInfo info = frame->snapshot().info();
    EXPECT_EQ(info.sealed, c.options.fingerprint != FingerprintType::kNone);
    nchunks += info.nchunks;
    const auto buffer = frame->ToBuffer();
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    SCOPED_TRACE("buffer");
    ExpectPeerReads(PeerFrame::OpenBuffer(*buffer), c, random);
    if (HasFailure()) return;
  }
  std::filesystem::remove(path);
  Report("frames_written_by_cairn", kWrittenFrames);
  Report("chunks_in_them", static_cast<int>(nchunks));
}

Buffer NonzeroItems(int64_t nitems, int32_t typesize, Random& random) {
  return MakeData(DataKind::kRandom, static_cast<size_t>(nitems * typesize), typesize, random);
}

// One edit of a chunk by the peer; `chunks` is what the frame then holds.
bool EditChunk(PeerFrame* peer, int32_t typesize, Random& random, std::vector<Buffer>* chunks) {
  const int64_t last = std::ssize(*chunks) - 1;
  const int64_t at = Between(random, 0, std::max<int64_t>(last, 0));
  switch (chunks->empty() ? 0 : random() % 4) {
    case 0:
      chunks->push_back(NonzeroItems(Between(random, 1, 200), typesize, random));
      return peer->Append(chunks->back());
    case 1:
      (*chunks)[at] = NonzeroItems(std::ssize((*chunks)[at]) / typesize, typesize, random);
      return peer->Update(at, (*chunks)[at]);
    case 2:
      chunks->insert(chunks->begin() + at, NonzeroItems(Between(random, 1, 200), typesize, random));
      return peer->Insert(at, (*chunks)[at]);
    default:
      chunks->erase(chunks->begin() + at);
      return peer->Delete(at);
  }
}

bool EditMetadata(PeerFrame* peer, Random& random, FrameCase* c) {
  if (!c->metalayers.empty() && random() % 3 == 0) {
    auto& [name, content] = *c->metalayers.begin();
    std::ranges::reverse(content);
    return peer->UpdateMetalayer(name, content);
  }
  if (!c->vlmetalayers.empty() && random() % 3 == 0) {
    const std::string name = c->vlmetalayers.begin()->first;
    c->vlmetalayers.erase(name);
    return peer->DeleteVlmeta(name);
  }
  Buffer& content = c->vlmetalayers["by the peer"];
  content = MakeContent(random);
  return peer->SetVlmeta("by the peer", content);
}

void EditByPeer(const std::string& path, Random& random, FrameCase* c) {
  auto peer = PeerFrame::Open(path);
  ASSERT_TRUE(peer.has_value());
  auto chunks = peer->ReadChunks();
  ASSERT_TRUE(chunks.has_value());
  const int64_t nedits = Between(random, 1, 6);
  for (int64_t i = 0; i < nedits; ++i) {
    if (random() % 3 == 0) {
      ASSERT_TRUE(EditMetadata(&*peer, random, c)) << "metadata edit " << i;
    } else {
      ASSERT_TRUE(EditChunk(&*peer, c->typesize(), random, &*chunks)) << "chunk edit " << i;
    }
  }
  c->content = Join(*chunks);
}

void EditByCairn(const std::string& path, Random& random, FrameCase* c) {
  auto frame = Frame::Open(path);
  ASSERT_TRUE(frame.ok()) << frame.status();
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(writer.ok()) << writer.status();
  absl::Status status = EditAtRandom(&*writer, random, c);
  ASSERT_TRUE(status.ok()) << status;
  status = writer->Close();
  ASSERT_TRUE(status.ok()) << status;
}

TEST(Blosc2FrameTest, BothEditOneFrameInTurn) {
  const std::string path = FreshPath();
  Random random(2);
  for (int i = 0; i < kEditedFrames; ++i) {
    std::filesystem::remove(path);
    FrameCase c = MakeEditableFrameCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const absl::Status status = WriteFrame(path, random, &c);
    ASSERT_TRUE(status.ok()) << status;
    for (int turn = 0; turn < 2; ++turn) {
      SCOPED_TRACE(testing::Message() << "turn " << turn);
      EditByPeer(path, random, &c);
      if (HasFailure()) return;
      ExpectPeerReadsFile(path, c, random);
      ExpectCairnReads(path, c);
      const auto edited = Frame::Open(path);
      ASSERT_TRUE(edited.ok()) << edited.status();
      EXPECT_FALSE(edited->snapshot().info().sealed);
      EditByCairn(path, random, &c);
      if (HasFailure()) return;
      ExpectCairnReads(path, c);
      ExpectPeerReadsFile(path, c, random);
      if (HasFailure()) return;
    }
  }
  std::filesystem::remove(path);
  Report("frames_edited_in_turn", kEditedFrames);
}

// Writes the frame of the case by the peer alone.
void CreateByPeer(const std::string& path, Random& random, FrameCase* c) {
  auto peer = PeerFrame::Create(path, c->options.compression, c->metalayers);
  ASSERT_TRUE(peer.has_value());
  const int64_t chunk_items = Between(random, 64, 2000);
  const int64_t nchunks = Between(random, 0, 8);
  for (int64_t i = 0; i < nchunks; ++i) {
    // At times a short last one.
    const bool shorter = i == nchunks - 1 && random() % 2 == 0;
    const int64_t nitems = shorter ? Between(random, 1, chunk_items) : chunk_items;
    const Buffer chunk = NonzeroItems(nitems, c->typesize(), random);
    ASSERT_TRUE(peer->Append(chunk));
    c->content.insert(c->content.end(), chunk.begin(), chunk.end());
  }
  for (int64_t i = Between(random, 0, 3); i > 0; --i) ASSERT_TRUE(EditMetadata(&*peer, random, c));
}

TEST(Blosc2FrameTest, CairnGoesOnInFramesOfThePeer) {
  const std::string path = FreshPath();
  Random random(3);
  for (int i = 0; i < kForeignFrames; ++i) {
    std::filesystem::remove(path);
    FrameCase c = MakeEditableFrameCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    CreateByPeer(path, random, &c);
    if (HasFailure()) return;
    ExpectPeerReadsFile(path, c, random);
    ExpectCairnReads(path, c);
    EditByCairn(path, random, &c);
    if (HasFailure()) return;
    ExpectCairnReads(path, c);
    ExpectPeerReadsFile(path, c, random);
    if (HasFailure()) return;
  }
  std::filesystem::remove(path);
  Report("frames_created_by_the_peer", kForeignFrames);
}

}  // namespace
}  // namespace cairn::interop

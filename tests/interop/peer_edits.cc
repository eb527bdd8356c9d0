#include "tests/interop/peer_edits.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/interop/chunk_case.h"
#include "tests/interop/chunk_list.h"

namespace cairn::interop {
namespace {

// The peer's slices of uninitialised chunks are undefined, in frames of variable chunks it divides
// by zero, and of items over 255 bytes it misreads those that end in the last block of a plain
// copy.
void ExpectSlices(const PeerFrame& peer, const FrameCase& c, Random& random) {
  const int64_t nitems = std::ssize(c.content) / c.typesize();
  if (!PeerCanSlice(c.options.compression) || c.has_uninit) return;
  if (peer.chunksize() <= 0 || nitems == 0 || c.typesize() > 255) return;
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

// Items for a new chunk. The peer fails to add a short one to a lone one that is shorter than
// chunksize, and a longer one to a frame that was emptied.
Buffer NewChunk(const PeerFrame& peer, const std::vector<Buffer>& chunks, Random& random) {
  const int64_t chunk_items = std::max(peer.chunksize(), 0) / peer.typesize();
  const bool emptied = chunks.empty() && chunk_items > 0;
  const bool lone = chunks.size() == 1 && std::ssize(chunks[0]) < peer.chunksize();
  const int64_t nitems = emptied || lone ? chunk_items : Between(random, 1, 200);
  return NonzeroItems(nitems, peer.typesize(), random);
}

// Edits a chunk by the peer. `chunks` is the content of the frame after that.
bool EditChunk(PeerFrame* peer, Random& random, std::vector<Buffer>* chunks) {
  const int64_t last = std::ssize(*chunks) - 1;
  const int64_t at = Between(random, 0, std::max<int64_t>(last, 0));
  switch (chunks->empty() ? 0 : random() % 5) {
    case 0:
      chunks->push_back(NewChunk(*peer, *chunks, random));
      return peer->Append(chunks->back());
    case 1:
      (*chunks)[at] =
          NonzeroItems(std::ssize((*chunks)[at]) / peer->typesize(), peer->typesize(), random);
      return peer->Update(at, (*chunks)[at]);
    case 2:
      chunks->insert(chunks->begin() + at, NewChunk(*peer, *chunks, random));
      return peer->Insert(at, (*chunks)[at]);
    case 3: {
      const std::vector<int64_t> order = MakeOrder(*chunks, random);
      *chunks = Reordered(*chunks, order);
      return peer->ReorderChunks(order);
    }
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
    return peer->DeleteVlmetalayer(name);
  }
  Buffer& content = c->vlmetalayers["by the peer"];
  content = MakeContent(random);
  return peer->SetVlmetalayer("by the peer", content);
}

}  // namespace

std::string FreshPath(std::string_view name) {
  const std::string path =
      testing::TempDir() + "cairn-" + std::string(name) + "-" + std::to_string(getpid());
  std::filesystem::remove_all(path);
  return path;
}

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
  // The peer maps contiguous frames only.
  if (std::filesystem::is_directory(path)) return;
  SCOPED_TRACE("mapped");
  ExpectPeerReads(PeerFrame::OpenMapped(path), c, random);
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
      ASSERT_TRUE(EditChunk(&*peer, random, &*chunks)) << "chunk edit " << i;
    }
    ++c->nedits;
  }
  c->content = Join(*chunks);
}

void CreateByPeer(const std::string& path, Random& random, FrameCase* c) {
  auto peer = PeerFrame::Create(path, c->options.compression, c->metalayers, c->options.layout);
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

}  // namespace cairn::interop

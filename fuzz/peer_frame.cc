// The input is a frame of today. When C-Blosc2 takes it too, both count the same chunks, and what
// both read of chunks, metalayers and vlmetalayers has the same size and bytes. It runs in a
// process of its own, for it may not outlive the input.

#include <algorithm>
#include <blosc2.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "engine/base/endian.h"
#include "fuzz/apart.h"
#include "fuzz/check.h"
#include "fuzz/mutator.h"
#include "fuzz/peer_defects.h"
#include "fuzz/read_all.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

constexpr int64_t kMostChunks = 64;
constexpr size_t kMostLayers = 64;
constexpr int32_t kMostRoom = 1 << 20;

// The questions to both libraries.
struct Questions {
  std::vector<int32_t> rooms;  // for the chunks, in bytes
  std::vector<std::string> metalayers;
  std::vector<std::string> vlmetalayers;
};

// The answers come from another process in one piece: the number of chunks, and if that is ours,
// for each question a byte, 1 when there is an answer, its size and its bytes.
void Put(const std::optional<Buffer>& answer, Buffer& all) {
  std::byte head[5] = {std::byte{answer.has_value()}};
  StoreLe(head + 1, static_cast<uint32_t>(answer.has_value() ? answer->size() : 0));
  all.insert(all.end(), std::begin(head), std::end(head));
  if (answer.has_value()) all.insert(all.end(), answer->begin(), answer->end());
}

std::optional<Bytes> Take(Bytes& rest) {
  const bool answered = rest[0] != std::byte{0};
  const size_t size = LoadLe<uint32_t>(rest.data() + 1);
  const Bytes answer = rest.subspan(5, size);
  rest = rest.subspan(5 + size);
  return answered ? std::optional(answer) : std::nullopt;
}

std::optional<Buffer> TheirChunk(blosc2_schunk& frame, size_t nchunk, int32_t room) {
  Buffer chunk(static_cast<size_t>(room));
  const int size =
      blosc2_schunk_decompress_chunk(&frame, static_cast<int64_t>(nchunk), chunk.data(), room);
  if (size < 0) return std::nullopt;
  chunk.resize(static_cast<size_t>(size));
  return chunk;
}

// `get` is blosc2_meta_get or blosc2_vlmeta_get.
template <typename Get>
std::optional<Buffer> TheirLayer(Get get, blosc2_schunk& frame, const std::string& name) {
  uint8_t* content = nullptr;
  int32_t size = 0;
  if (get(&frame, name.c_str(), &content, &size) < 0 || size < 0) return std::nullopt;
  const Bytes bytes = AsBytes(content, static_cast<size_t>(size));
  return Buffer(bytes.begin(), bytes.end());
}

// Empty when the frame is refused.
Buffer AskThem(Bytes file, const Questions& questions) {
  Buffer copy(file.begin(), file.end());
  blosc2_init();
  blosc2_schunk* const frame =
      blosc2_schunk_from_buffer(reinterpret_cast<uint8_t*>(copy.data()), std::ssize(copy), true);
  if (frame == nullptr) return {};
  Buffer answers(sizeof(uint64_t));
  StoreLe(answers.data(), static_cast<uint64_t>(frame->nchunks));
  if (frame->nchunks != std::ssize(questions.rooms)) return answers;
  for (size_t i = 0; i < questions.rooms.size(); ++i) {
    Put(TheirChunk(*frame, i, questions.rooms[i]), answers);
  }
  for (const std::string& name : questions.metalayers) {
    Put(TheirLayer(blosc2_meta_get, *frame, name), answers);
  }
  for (const std::string& name : questions.vlmetalayers) {
    Put(TheirLayer(blosc2_vlmeta_get, *frame, name), answers);
  }
  return answers;
}

// Names that are the same to C.
std::vector<std::string> AskableNames(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return name.find('\0') != name.npos; });
  names.resize(std::min(names.size(), kMostLayers));
  return names;
}

Questions QuestionsOf(const Snapshot& snapshot) {
  Questions questions;
  const FrameInfo& info = snapshot.info();
  for (int64_t i = 0; i < info.nchunks; ++i) {
    // Memory for a chunk of full size must suffice, too.
    const int32_t room = std::min(info.chunksize.value_or(1), kMostRoom);
    questions.rooms.push_back(std::max(snapshot.ChunkNbytes(i).value_or(0), room));
  }
  std::vector<std::string> metalayers;
  for (const Metalayer& layer : snapshot.metalayers()) metalayers.push_back(layer.name);
  questions.metalayers = AskableNames(std::move(metalayers));
  questions.vlmetalayers = AskableNames(snapshot.vlmetalayers());
  return questions;
}

void CompareChunk(const Snapshot& snapshot, int64_t nchunk, Bytes theirs) {
  const absl::StatusOr<int32_t> size = snapshot.ChunkNbytes(nchunk);
  const absl::StatusOr<Chunk> stored = snapshot.GetChunk(nchunk);
  if (!size.ok() || !stored.ok()) return;
  Buffer chunk(static_cast<size_t>(*size));
  if (!snapshot.ReadChunk(nchunk, chunk).ok()) return;
  if (!PeerIsKnownToDiffer(stored->bytes())) CheckSame(chunk, theirs, "what both read is the same");
}

void Compare(Bytes file) {
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(file, SmallLimits());
  if (!frame.ok()) return;
  const Snapshot snapshot = frame->snapshot();
  const FrameInfo& info = snapshot.info();
  if (info.era != Era::kCurrent || info.nchunks > kMostChunks || info.journal_size > 0) return;
  const Questions questions = QuestionsOf(snapshot);
  const std::optional<Buffer> theirs = RunApart([&] { return AskThem(file, questions); });
  if (!theirs.has_value() || theirs->empty()) return;
  Bytes rest = *theirs;
  const auto nchunks = static_cast<int64_t>(LoadLe<uint64_t>(rest.data()));
  Check(nchunks == info.nchunks, "both count the same chunks",
        absl::StrFormat("%d, they %d", info.nchunks, nchunks));
  rest = rest.subspan(sizeof(uint64_t));
  for (size_t i = 0; i < questions.rooms.size(); ++i) {
    const std::optional<Bytes> answer = Take(rest);
    if (answer.has_value()) CompareChunk(snapshot, static_cast<int64_t>(i), *answer);
  }
  for (const std::string& name : questions.metalayers) {
    const std::optional<Bytes> answer = Take(rest);
    const auto ours = snapshot.GetMetalayer(name);
    if (answer.has_value() && ours.ok()) CheckSame(*ours, *answer, "a metalayer is the same");
  }
  for (const std::string& name : questions.vlmetalayers) {
    const std::optional<Bytes> answer = Take(rest);
    const auto ours = snapshot.GetVlmetalayer(name);
    if (answer.has_value() && ours.ok()) CheckSame(*ours, *answer, "a vlmetalayer is the same");
  }
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Compare(cairn::fuzz::AsBytes(data, size));
  return 0;
}

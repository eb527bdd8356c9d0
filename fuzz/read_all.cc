#include "fuzz/read_all.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/check.h"
#include "tests/support/dice.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

constexpr int64_t kMostChunks = 200;
constexpr int64_t kMostBytes = 4 << 20;
constexpr uint64_t kMostGenerations = 4;
constexpr int kRanges = 4;

size_t Size(int64_t n) { return static_cast<size_t>(n); }

absl::StatusOr<Buffer> ReadChunk(const Snapshot& snapshot, int64_t nchunk) {
  const absl::StatusOr<int32_t> size = snapshot.ChunkNbytes(nchunk);
  const absl::StatusOr<Chunk> stored = snapshot.GetChunk(nchunk);
  IsAnswer(stored.status());
  if (!IsAnswer(size.status())) return size.status();
  Buffer chunk(Size(*size), std::byte{0xA5});
  const absl::Status status = snapshot.ReadChunk(nchunk, chunk);
  if (!IsAnswer(status)) return status;
  // The chunk alone may lack what only its frame tells (typesize, block shape).
  if (stored.ok()) {
    Buffer decoded(Size(*size), std::byte{0x5A});
    IsAnswer(DecompressChunk(stored->bytes(), decoded));
  }
  return chunk;
}

// Everything, when every chunk can be read; else why one cannot.
absl::StatusOr<Buffer> ReadChunks(const Snapshot& snapshot) {
  absl::StatusOr<Buffer> all = Buffer();
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    IsAnswer(snapshot.GetEntry(i).status());
    const absl::StatusOr<Buffer> chunk = ReadChunk(snapshot, i);
    if (!chunk.ok()) {
      all = chunk.status();
    } else if (all.ok()) {
      all->insert(all->end(), chunk->begin(), chunk->end());
    }
  }
  return all;
}

void CheckRanges(const Snapshot& snapshot, Bytes all) {
  test::Dice dice(all.size());
  for (int i = 0; i < kRanges; ++i) {
    const size_t begin = dice.Below(all.size());
    Buffer part(1 + dice.Below(std::min(all.size() - begin, i < 2 ? SIZE_MAX : size_t{16})));
    if (IsAnswer(snapshot.ReadBytes(static_cast<int64_t>(begin), part))) {
      Check(std::ranges::equal(part, all.subspan(begin, part.size())),
            "bytes are the same by range and by chunk");
    }
  }
}

// `all` has the items by their numbers: those of an array in C order.
void CheckItems(const Snapshot& snapshot, Bytes all) {
  const size_t typesize = Size(snapshot.info().typesize);
  const size_t nitems = all.size() / typesize;
  test::Dice dice(all.size());
  for (int i = 0; i < kRanges && nitems > 0; ++i) {
    const std::vector<int64_t> items = {static_cast<int64_t>(dice.Below(nitems)),
                                        static_cast<int64_t>(dice.Below(nitems))};
    Buffer gathered(items.size() * typesize);
    if (!IsAnswer(snapshot.ReadItemsAt(items, gathered))) continue;
    for (size_t k = 0; k < items.size(); ++k) {
      Check(std::ranges::equal(Bytes(gathered).subspan(k * typesize, typesize),
                               all.subspan(Size(items[k]) * typesize, typesize)),
            "single items are the same by number");
    }
    const uint64_t start = dice.Below(nitems);
    Buffer run((1 + dice.Below(nitems - start)) * typesize);
    if (!IsAnswer(snapshot.ReadItems(static_cast<int64_t>(start), run))) continue;
    Check(std::ranges::equal(run, all.subspan(start * typesize, run.size())),
          "items in a row are the same by number");
  }
}

void CheckFields(const Snapshot& snapshot, Bytes all) {
  const auto typesize = static_cast<uint64_t>(snapshot.info().typesize);
  test::Dice dice(all.size() + 1);
  for (int i = 0; i < kRanges && all.size() >= typesize; ++i) {
    const uint64_t nitems = all.size() / typesize;
    const uint64_t start = i == 0 ? 0 : dice.Below(nitems);
    const uint64_t count = i == 0 ? nitems : 1 + dice.Below(nitems - start);
    const uint64_t offset = dice.Below(typesize);
    const uint64_t size = 1 + dice.Below(typesize - offset);
    Buffer values(count * size);
    const FieldSpan field = {
        .offset = static_cast<int32_t>(offset), .size = static_cast<int32_t>(size), .dst = values};
    const absl::Status status =
        snapshot.ReadFields(static_cast<int64_t>(start), static_cast<int64_t>(count), {&field, 1});
    if (!IsAnswer(status)) continue;
    for (uint64_t k = 0; k < count; ++k) {
      Check(std::ranges::equal(Bytes(values).subspan(k * size, size),
                               all.subspan((start + k) * typesize + offset, size)),
            "fields are the same by array and by item");
    }
  }
}

void ReadMetadata(const Snapshot& snapshot) {
  for (const Metalayer& layer : snapshot.metalayers()) {
    CheckOk(snapshot.GetMetalayer(layer.name).status(), "a metalayer that is listed is there");
  }
  for (const std::string& name : snapshot.vlmetalayers()) {
    IsAnswer(snapshot.GetVlmetalayer(name).status());
  }
}

// All items of an array in C order, unless it is vast or not what the frame holds.
std::optional<Buffer> ReadArray(const Snapshot& snapshot) {
  const ArrayInfo& array = *snapshot.array();
  int64_t nbytes = snapshot.info().typesize;
  for (const int64_t extent : array.shape) {
    // Negative or vast ones are not for reading; the product stays far from overflowing.
    nbytes *= std::clamp<int64_t>(extent, 0, kMostBytes);
    if (nbytes > kMostBytes) return std::nullopt;
  }
  Buffer box(Size(nbytes));
  const absl::Status status =
      snapshot.ReadBox(std::vector<int64_t>(array.shape.size()), array.shape, box);
  if (absl::IsFailedPrecondition(status) || !IsAnswer(status)) return std::nullopt;
  return box;
}

}  // namespace

OpenOptions SmallLimits() {
  OpenOptions options;
  options.limits.max_chunk_nbytes = 1 << 20;
  options.limits.max_metadata_nbytes = 1 << 20;
  return options;
}

void ReadAll(const Snapshot& snapshot) {
  ReadMetadata(snapshot);
  const FrameInfo& info = snapshot.info();
  if (!info.recipe.empty()) return;  // its chunks hold no data
  if (info.nchunks > kMostChunks || info.nbytes > kMostBytes) {
    // A look at either end.
    if (info.nchunks > 0) {
      IsAnswer(ReadChunk(snapshot, 0).status());
      IsAnswer(ReadChunk(snapshot, info.nchunks - 1).status());
    }
    const auto few = [](int64_t done) { return done < 100; };
    const absl::Status status =
        snapshot.Verify({.depth = VerifyDepth::kStructure, .progress = few}).status();
    if (!absl::IsCancelled(status)) IsAnswer(status);
    return;
  }
  const absl::StatusOr<Buffer> all = ReadChunks(snapshot);
  // The header may know of less than the chunks hold.
  const int64_t known = all.ok() ? std::min(info.nbytes, std::ssize(*all)) : 0;
  const std::optional<Buffer> items =
      snapshot.array().has_value() ? ReadArray(snapshot) : std::nullopt;
  if (known > 0) {
    const Bytes bytes = Bytes(*all).first(Size(known));
    CheckRanges(snapshot, bytes);
    if (items.has_value() || !snapshot.array().has_value()) {
      CheckItems(snapshot, items.has_value() ? Bytes(*items) : bytes);
      CheckFields(snapshot, items.has_value() ? Bytes(*items) : bytes);
    }
  }
  const absl::StatusOr<VerifyReport> report = snapshot.Verify();
  if (IsAnswer(report.status()) && report->ok()) {
    // Data that this build cannot decode, or a limit forbids, is not damaged.
    const bool refused =
        absl::IsUnimplemented(all.status()) || absl::IsResourceExhausted(all.status());
    if (!refused) CheckOk(all.status(), "what is verified can be read");
    if (all.ok()) {
      Check(std::ssize(*all) == info.nbytes, "what is verified has the size that it says");
    }
  }
}

void ReadFrame(Bytes bytes, int64_t offset) {
  OpenOptions options = SmallLimits();
  options.offset = offset;
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes, options);
  if (!IsAnswer(frame.status())) return;
  ReadAll(frame->snapshot());
  const absl::StatusOr<std::vector<GenerationInfo>> history = frame->History();
  if (!IsAnswer(history.status())) return;
  for (size_t i = 0; i < std::min(history->size(), kMostGenerations); ++i) {
    options.generation = (*history)[i].generation;
    const absl::StatusOr<Frame> old = Frame::OpenBuffer(bytes, options);
    if (IsAnswer(old.status())) ReadAll(old->snapshot());
  }
}

}  // namespace cairn::fuzz

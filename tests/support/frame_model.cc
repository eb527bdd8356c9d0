#include "tests/support/frame_model.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {

using absl::StatusCode;

namespace {

// Returns an item of a special value.
Buffer ItemOf(SpecialValue special, Bytes value, int32_t typesize) {
  if (special == SpecialValue::kRepeat) return ToVector(value);
  Buffer item(static_cast<size_t>(typesize));
  if (special == SpecialValue::kNans) {
    item[item.size() - 1] = std::byte{0x7F};
    item[item.size() - 2] = typesize == 4 ? std::byte{0xC0} : std::byte{0xF8};
  }
  return item;
}

Buffer Join(const std::vector<Buffer>& chunks) {
  Buffer all;
  for (const Buffer& chunk : chunks) AddTo(all, chunk);
  return all;
}

}  // namespace

testing::AssertionResult Verdict::IsMetBy(const absl::Status& status) const {
  if (ok() ? status.ok() : std::ranges::count(codes_, status.code()) > 0) {
    return testing::AssertionSuccess();
  }
  testing::AssertionResult failure = testing::AssertionFailure() << "expected";
  if (ok()) failure << " OK";
  for (const StatusCode code : codes_) failure << ' ' << absl::StatusCodeToString(code);
  return failure << ", got " << status;
}

FrameModel::FrameModel(int32_t typesize, int32_t chunksize, std::vector<Metalayer> metalayers)
    : typesize_(typesize), chunksize_(chunksize), metalayers_(std::move(metalayers)) {}

int64_t FrameModel::nbytes() const {
  return std::accumulate(chunks_.begin(), chunks_.end(), int64_t{0},
                         [](int64_t sum, const Buffer& chunk) { return sum + std::ssize(chunk); });
}

// Returns true if the last chunk of a frame of fixed chunks is one that nothing may follow.
bool FrameModel::EndsShort() const {
  return fixed_chunks() && !chunks_.empty() && std::ssize(chunks_.back()) < chunksize_;
}

Verdict FrameModel::Judge(const NewChunk& chunk, bool last) const {
  const int64_t size = std::ssize(chunk.items);
  Verdict verdict;
  verdict.RefuseIf(chunk.fault != StatusCode::kOk, chunk.fault);
  verdict.RefuseIf(size == 0, StatusCode::kInvalidArgument);
  verdict.RefuseIf(fixed_chunks() && size > chunksize_, StatusCode::kInvalidArgument);
  verdict.RefuseIf(fixed_chunks() && size < chunksize_ && !last, StatusCode::kInvalidArgument);
  verdict.RefuseIf(!chunks_.empty() && chunk.vlblocks != vlblocks_,
                   StatusCode::kFailedPrecondition);
  return verdict;
}

void FrameModel::DecideChunksize(int32_t chunksize) {
  if (std::exchange(first_chunksize_, 0) > 0) chunksize_ = chunksize;
}

void FrameModel::AddItems(Bytes items) {
  vlblocks_ = false;
  DecideChunksize(first_chunksize_);
  if (!fixed_chunks()) return chunks_.push_back(ToVector(items));
  while (!items.empty()) {
    if (!EndsShort()) chunks_.emplace_back();
    Buffer& chunk = chunks_.back();
    const size_t room = static_cast<size_t>(chunksize_) - chunk.size();
    const size_t size = std::min(room, items.size());
    AddTo(chunk, items.first(size));
    items = items.subspan(size);
  }
}

Verdict FrameModel::Append(Bytes items) {
  Verdict verdict;
  verdict.RefuseIf(vlblocks() && !items.empty(), StatusCode::kFailedPrecondition);
  if (verdict.ok() && !items.empty()) AddItems(items);
  return verdict;
}

Verdict FrameModel::AppendSpecial(SpecialValue special, int64_t nitems, Bytes value) {
  const int64_t width = special == SpecialValue::kRepeat ? typesize_ : 0;
  Verdict verdict;
  verdict.RefuseIf(special == SpecialValue::kNone || nitems < 0, StatusCode::kInvalidArgument);
  verdict.RefuseIf(std::ssize(value) != width, StatusCode::kInvalidArgument);
  verdict.RefuseIf(special == SpecialValue::kNans && typesize_ != 4 && typesize_ != 8,
                   StatusCode::kInvalidArgument);
  verdict.RefuseIf(vlblocks(), StatusCode::kFailedPrecondition);
  verdict.RefuseIf(nbytes() % typesize_ != 0, StatusCode::kFailedPrecondition);
  if (verdict.ok() && nitems > 0) {
    AddItems(Repeated(ItemOf(special, value, typesize_), static_cast<size_t>(nitems * typesize_)));
  }
  return verdict;
}

Verdict FrameModel::Insert(int64_t nchunk, const NewChunk& chunk) {
  const bool inside = nchunk >= 0 && nchunk <= nchunks();
  Verdict verdict = Judge(chunk, nchunk == nchunks());
  verdict.RefuseIf(!inside, StatusCode::kOutOfRange);
  verdict.RefuseIf(nchunk == nchunks() && EndsShort(), StatusCode::kFailedPrecondition);
  if (!verdict.ok()) return verdict;
  vlblocks_ = chunk.vlblocks;
  DecideChunksize(static_cast<int32_t>(chunk.items.size()));
  chunks_.insert(chunks_.begin() + nchunk, chunk.items);
  return verdict;
}

Verdict FrameModel::Update(int64_t nchunk, const NewChunk& chunk) {
  const bool inside = nchunk >= 0 && nchunk < nchunks();
  Verdict verdict = Judge(chunk, nchunk == nchunks() - 1);
  verdict.RefuseIf(!inside, StatusCode::kOutOfRange);
  if (verdict.ok()) chunks_[static_cast<size_t>(nchunk)] = chunk.items;
  return verdict;
}

Verdict FrameModel::Delete(int64_t first, int64_t count) {
  const bool inside = first >= 0 && first <= nchunks() && count <= nchunks() - first;
  Verdict verdict;
  verdict.RefuseIf(!inside || count < 0, StatusCode::kOutOfRange);
  if (verdict.ok()) chunks_.erase(chunks_.begin() + first, chunks_.begin() + first + count);
  return verdict;
}

Verdict FrameModel::ReorderChunks(std::span<const int64_t> order) {
  std::vector<int64_t> all(chunks_.size());
  std::iota(all.begin(), all.end(), 0);
  Verdict verdict;
  const auto there = [&](int64_t nchunk) { return nchunk >= 0 && nchunk < nchunks(); };
  verdict.RefuseIf(!std::ranges::all_of(order, there), StatusCode::kOutOfRange);
  verdict.RefuseIf(!std::ranges::is_permutation(order, all), StatusCode::kInvalidArgument);
  verdict.RefuseIf(EndsShort() && !order.empty() && order.back() != all.back(),
                   StatusCode::kInvalidArgument);
  if (!verdict.ok()) return verdict;
  std::vector<Buffer> moved;
  for (const int64_t i : order) moved.push_back(chunks_[static_cast<size_t>(i)]);
  chunks_ = std::move(moved);
  return verdict;
}

Verdict FrameModel::SetChunksize(ChunkSize size) {
  const int32_t chunksize = size.nbytes().value_or(0);
  const bool is_size = chunksize > 0 && chunksize <= kMaxChunkBytes;
  Verdict verdict;
  verdict.RefuseIf(size != ChunkSize::Variable() && !is_size, StatusCode::kInvalidArgument);
  verdict.RefuseIf(!chunks_.empty(), StatusCode::kFailedPrecondition);
  if (verdict.ok()) chunksize_ = chunksize;
  if (verdict.ok()) first_chunksize_ = 0;
  return verdict;
}

Verdict FrameModel::WriteItems(int64_t start, Bytes items) {
  const int64_t nitems = nbytes() / typesize_;
  const int64_t count = std::ssize(items) / typesize_;
  Verdict verdict;
  verdict.RefuseIf(std::ssize(items) % typesize_ != 0, StatusCode::kInvalidArgument);
  verdict.RefuseIf(start < 0 || start > nitems || count > nitems - start, StatusCode::kOutOfRange);
  verdict.RefuseIf(vlblocks() && !items.empty(), StatusCode::kFailedPrecondition);
  if (!verdict.ok()) return verdict;
  size_t at = static_cast<size_t>(start * typesize_);
  for (Buffer& chunk : chunks_) {
    if (at >= chunk.size()) {
      at -= chunk.size();
      continue;
    }
    const size_t size = std::min(chunk.size() - at, items.size());
    std::ranges::copy(items.first(size), chunk.begin() + static_cast<std::ptrdiff_t>(at));
    items = items.subspan(size);
    at = 0;
  }
  return verdict;
}

Verdict FrameModel::SetMetalayer(std::string_view name, Bytes content) {
  const auto it = std::ranges::find(metalayers_, name, &Metalayer::name);
  Verdict verdict;
  verdict.RefuseIf(it == metalayers_.end(), StatusCode::kNotFound);
  verdict.RefuseIf(it != metalayers_.end() && it->content.size() != content.size(),
                   StatusCode::kInvalidArgument);
  if (verdict.ok()) it->content = ToVector(content);
  return verdict;
}

Verdict FrameModel::SetVlmetalayer(std::string_view name, Bytes content) {
  Verdict verdict;
  verdict.RefuseIf(name.size() > kMaxMetalayerName, StatusCode::kInvalidArgument);
  verdict.RefuseIf(name == "cairn" || name == "cairn.fp", StatusCode::kInvalidArgument);
  if (!verdict.ok()) return verdict;
  const auto it = std::ranges::find(vlmetalayers_, name, &Metalayer::name);
  if (it == vlmetalayers_.end()) {
    vlmetalayers_.push_back({.name = std::string(name), .content = ToVector(content)});
  } else {
    it->content = ToVector(content);
  }
  return verdict;
}

Verdict FrameModel::DeleteVlmetalayer(std::string_view name) {
  const auto it = std::ranges::find(vlmetalayers_, name, &Metalayer::name);
  Verdict verdict;
  verdict.RefuseIf(it == vlmetalayers_.end(), StatusCode::kNotFound);
  if (verdict.ok()) vlmetalayers_.erase(it);
  return verdict;
}

void ExpectHolds(const Snapshot& snapshot, const FrameModel& model) {
  const FrameInfo& info = snapshot.info();
  ASSERT_EQ(info.nchunks, model.nchunks());
  EXPECT_EQ(info.typesize, model.typesize());
  if (info.nchunks > 0) {
    EXPECT_EQ(info.vlblocks, model.vlblocks());
  }
  for (int64_t i = 0; i < info.nchunks; ++i) {
    const Buffer& chunk = model.chunks()[static_cast<size_t>(i)];
    const absl::StatusOr<int32_t> size = snapshot.ChunkNbytes(i);
    ASSERT_TRUE(IsOk(size)) << "chunk " << i;
    ASSERT_EQ(*size, std::ssize(chunk)) << "chunk " << i;
  }
  ExpectHolds(snapshot, Join(model.chunks()));
  EXPECT_EQ(snapshot.metalayers(), model.metalayers());
  std::vector<Metalayer> layers;
  for (const std::string& name : snapshot.vlmetalayers()) {
    const absl::StatusOr<Buffer> content = snapshot.GetVlmetalayer(name);
    ASSERT_TRUE(IsOk(content)) << name;
    layers.push_back({.name = name, .content = *content});
  }
  EXPECT_TRUE(layers == model.vlmetalayers());
}

}  // namespace cairn::test

#include "tests/frame/sequences/random_edits.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/bytes.h"

namespace cairn::test {

namespace {

void ExpectAnswer(const Verdict& verdict, const absl::Status& status) {
  ASSERT_TRUE(verdict.IsMetBy(status));
}

}  // namespace

void RandomEdits::Edit() {
  using Kind = void (RandomEdits::*)();
  constexpr Kind kKinds[] = {&RandomEdits::Append,           &RandomEdits::Append,
                             &RandomEdits::AppendCompressed, &RandomEdits::AppendCompressed,
                             &RandomEdits::AppendSpecial,    &RandomEdits::AppendSpecial,
                             &RandomEdits::InsertChunk,      &RandomEdits::UpdateChunk,
                             &RandomEdits::InsertCompressed, &RandomEdits::InsertCompressed,
                             &RandomEdits::UpdateCompressed, &RandomEdits::WriteItems,
                             &RandomEdits::WriteItems,       &RandomEdits::DeleteChunks,
                             &RandomEdits::ReorderChunks,    &RandomEdits::SetMetalayer,
                             &RandomEdits::SetVlmetalayer,   &RandomEdits::DeleteVlmetalayer,
                             &RandomEdits::SetChunksize};
  (this->*kKinds[Below(std::size(kKinds))])();
}

int64_t RandomEdits::AnyChunk() {
  constexpr int64_t kWild[] = {-1, std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max()};
  if (Chance(12)) return kWild[Below(std::size(kWild))];
  return static_cast<int64_t>(Below(static_cast<size_t>(model_.nchunks()) + 1));
}

size_t RandomEdits::ChunkBytes() {
  if (!model_.fixed_chunks()) return 1 + Below(800);
  const auto chunksize = static_cast<size_t>(model_.chunksize());
  if (Chance(12)) return chunksize + 1 + Below(9);
  return Chance(4) ? 1 + Below(chunksize) : chunksize;
}

RandomChunk RandomEdits::AnyCompressed() {
  const size_t size = ChunkBytes();
  if (Chance(10)) return MakeBadChunk(random_, model_.typesize(), size);
  // The first chunk decides what may follow; at times one of the other kind comes.
  const bool vlblocks = model_.nchunks() == 0 ? prefers_vlblocks_ : model_.vlblocks();
  return vlblocks != Chance(12) ? MakeVlChunk(random_, model_.typesize(), size)
                                : MakeRegularChunk(random_, model_.typesize(), size);
}

NewChunk RandomEdits::AnyItems() {
  NewChunk chunk;
  if (!Chance(20)) chunk.items = RandomData(random_, ChunkBytes());
  return chunk;
}

void RandomEdits::Append() {
  SCOPED_TRACE("Append");
  Buffer items = RandomData(random_, Below(2000));
  const auto width = static_cast<size_t>(model_.typesize());
  if (!Chance(5)) items.resize(items.size() / width * width);
  ExpectAnswer(model_.Append(items), writer_.Append(items));
}

void RandomEdits::AppendSpecial() {
  SCOPED_TRACE("AppendSpecial");
  const auto special = static_cast<SpecialValue>(Below(5));
  const auto width = static_cast<size_t>(model_.typesize());
  const auto count = Chance(12) ? int64_t{-1} : static_cast<int64_t>(Below(2000) / width);
  const bool valued = (special == SpecialValue::kRepeat) != Chance(12);
  const Buffer value = valued ? MakeNoise(width, random_()) : Buffer();
  ExpectAnswer(model_.AppendSpecial(special, count, value),
               writer_.AppendSpecial(special, count, value));
}

void RandomEdits::AppendCompressed() {
  SCOPED_TRACE("AppendCompressed");
  const RandomChunk chunk = AnyCompressed();
  ExpectAnswer(model_.Insert(model_.nchunks(), chunk.content),
               writer_.AppendCompressed(chunk.bytes));
}

void RandomEdits::InsertChunk() {
  SCOPED_TRACE("InsertChunk");
  const int64_t at = AnyChunk();
  const NewChunk chunk = AnyItems();
  ExpectAnswer(model_.Insert(at, chunk), writer_.InsertChunk(at, chunk.items));
}

void RandomEdits::UpdateChunk() {
  SCOPED_TRACE("UpdateChunk");
  const int64_t at = AnyChunk();
  const NewChunk chunk = AnyItems();
  ExpectAnswer(model_.Update(at, chunk), writer_.UpdateChunk(at, chunk.items));
}

void RandomEdits::InsertCompressed() {
  SCOPED_TRACE("InsertCompressed");
  const int64_t at = AnyChunk();
  const RandomChunk chunk = AnyCompressed();
  ExpectAnswer(model_.Insert(at, chunk.content), writer_.InsertCompressed(at, chunk.bytes));
}

void RandomEdits::UpdateCompressed() {
  SCOPED_TRACE("UpdateCompressed");
  const int64_t at = AnyChunk();
  const RandomChunk chunk = AnyCompressed();
  ExpectAnswer(model_.Update(at, chunk.content), writer_.UpdateCompressed(at, chunk.bytes));
}

void RandomEdits::WriteItems() {
  SCOPED_TRACE("WriteItems");
  const auto width = static_cast<size_t>(model_.typesize());
  const auto nitems = static_cast<size_t>(model_.nbytes()) / width;
  const size_t start = Below(nitems + 1);
  const size_t count = Below(std::min<size_t>(nitems - start, 1500 / width) + 1);
  Buffer items = RandomData(random_, (count + (Chance(12) ? nitems : 0)) * width);
  if (Chance(12)) items.resize(items.size() + 1);
  const auto at = Chance(12) ? AnyChunk() : static_cast<int64_t>(start);
  ExpectAnswer(model_.WriteItems(at, items), writer_.WriteItems(at, items));
}

void RandomEdits::DeleteChunks() {
  SCOPED_TRACE("DeleteChunks");
  const int64_t first = AnyChunk();
  const int64_t count = Chance(3) ? AnyChunk() : 1;
  ExpectAnswer(model_.Delete(first, count), writer_.DeleteChunks(first, count));
}

void RandomEdits::ReorderChunks() {
  SCOPED_TRACE("ReorderChunks");
  std::vector<int64_t> order(static_cast<size_t>(model_.nchunks()));
  std::iota(order.begin(), order.end(), 0);
  // Most often a short last chunk stays the last.
  const bool keep_last = !order.empty() && !Chance(4);
  std::shuffle(order.begin(), order.end() - (keep_last ? 1 : 0), random_);
  if (Chance(12)) order.push_back(AnyChunk());
  if (!order.empty() && Chance(12)) order.front() = AnyChunk();
  ExpectAnswer(model_.ReorderChunks(order), writer_.ReorderChunks(order));
}

void RandomEdits::SetChunksize() {
  SCOPED_TRACE("SetChunksize");
  if (Chance(4)) {
    ExpectAnswer(model_.Delete(0, model_.nchunks()), writer_.DeleteChunks(0, model_.nchunks()));
  }
  const ChunkSize size =
      Chance(4) ? ChunkSize::Variable() : ChunkSize(static_cast<int32_t>(Below(800)));
  ExpectAnswer(model_.SetChunksize(size), writer_.SetChunksize(size));
}

void RandomEdits::SetMetalayer() {
  SCOPED_TRACE("SetMetalayer");
  const std::vector<Metalayer>& layers = model_.metalayers();
  Metalayer layer = {.name = "none of these"};
  if (!layers.empty()) layer = layers[Below(layers.size())];
  layer.content = RandomData(random_, layer.content.size() + (Chance(8) ? 1 : 0));
  ExpectAnswer(model_.SetMetalayer(layer.name, layer.content),
               writer_.SetMetalayer(layer.name, layer.content));
}

std::string RandomEdits::AnyName() {
  if (Chance(20)) return Chance(2) ? "cairn" : "cairn.fp";
  if (Chance(20)) return std::string(32, 'x');
  return "layer " + std::to_string(Below(18));
}

void RandomEdits::SetVlmetalayer() {
  SCOPED_TRACE("SetVlmetalayer");
  // At times more at once than can be sealed.
  for (size_t n = Chance(12) ? 20 : 1; n > 0 && !testing::Test::HasFailure(); --n) {
    const std::string name = AnyName();
    const Buffer content = RandomData(random_, Below(400));
    ExpectAnswer(model_.SetVlmetalayer(name, content), writer_.SetVlmetalayer(name, content));
  }
}

void RandomEdits::DeleteVlmetalayer() {
  SCOPED_TRACE("DeleteVlmetalayer");
  const std::string name = AnyName();
  ExpectAnswer(model_.DeleteVlmetalayer(name), writer_.DeleteVlmetalayer(name));
}

}  // namespace cairn::test

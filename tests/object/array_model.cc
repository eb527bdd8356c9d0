#include "tests/object/array_model.h"

#include <algorithm>
#include <numeric>
#include <ostream>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "engine/base/bytes.h"
#include "tests/support/frames.h"

namespace cairn::test {

namespace {

using Kind = ModelEdit::Kind;

constexpr int64_t kChunk = 8;
constexpr int64_t kGridRows = 3;  // of a chunk
constexpr int64_t kColumns = 5;

int64_t RowBytes(const Model& model) { return model.shape.size() == 2 ? model.shape[1] : 1; }

int64_t CountChunks(const Model& model) {
  if (model.chunk == 0) return std::ssize(model.chunks);
  return (std::ssize(model.data) + model.chunk - 1) / model.chunk;
}

int64_t BeginOf(const Model& model, int64_t nchunk) {
  if (model.chunk > 0) return std::min(nchunk * model.chunk, std::ssize(model.data));
  return std::accumulate(model.chunks.begin(), model.chunks.begin() + nchunk, int64_t{0});
}

// Lets chunks have any size.
void Free(Model& model) {
  const int64_t count = CountChunks(model);
  for (int64_t i = 0; i < count; ++i) {
    model.chunks.push_back(BeginOf(model, i + 1) - BeginOf(model, i));
  }
  model.chunk = 0;
}

void Splice(Buffer& data, int64_t begin, int64_t end, const Buffer& items) {
  data.erase(data.begin() + begin, data.begin() + end);
  data.insert(data.begin() + begin, items.begin(), items.end());
}

void Resize(const std::vector<int64_t>& shape, Model& model) {
  Buffer data(static_cast<size_t>(shape[0] * (shape.size() == 2 ? shape[1] : 1)));
  const int64_t before = RowBytes(model);
  const int64_t now = shape.size() == 2 ? shape[1] : 1;
  for (int64_t row = 0; row < std::min(shape[0], model.shape[0]); ++row) {
    std::copy_n(model.data.begin() + row * before, std::min(before, now), data.begin() + row * now);
  }
  model.shape = shape;
  model.data = std::move(data);
}

bool Append(const ModelEdit& edit, Model& model) {
  if (model.is_array()) {
    if (RowBytes(model) != edit.shape[0]) return false;
    model.shape[0] += edit.count;
  }
  AddTo(model.data, edit.items);
  if (model.chunk == 0 && !model.is_array()) model.chunks.push_back(std::ssize(edit.items));
  return true;
}

bool Write(const ModelEdit& edit, int64_t begin, int64_t by, Model& model) {
  const int64_t row = RowBytes(model);
  if (row != edit.shape[0]) return false;
  for (int64_t i = 0; i < edit.count; ++i) {
    int64_t at = edit.first + i;
    if (at >= begin) {
      at += by;
    } else if (at >= begin + by) {
      return false;  // it is gone
    }
    if (at >= model.length()) return false;
    std::copy_n(edit.items.begin() + i * row, row, model.data.begin() + at * row);
  }
  return true;
}

bool Cut(const ModelEdit& edit, Model& model) {
  const int64_t end = edit.first + edit.count;
  const int64_t rows = model.shape.size() == 2 ? kGridRows : kChunk;
  if (end > model.shape[0]) return false;
  if (end < model.shape[0] && (edit.first % rows != 0 || edit.count % rows != 0)) return false;
  const int64_t row = RowBytes(model);
  Splice(model.data, edit.first * row, end * row, {});
  model.shape[0] -= edit.count;
  return true;
}

bool Update(const ModelEdit& edit, Model& model) {
  const int64_t count = CountChunks(model);
  if (edit.first >= count) return false;
  const int64_t size = std::ssize(edit.items);
  const bool fits = size == model.chunk || (edit.first + 1 == count && size < model.chunk);
  if (model.chunk > 0 && !fits) Free(model);
  const int64_t begin = BeginOf(model, edit.first);
  Splice(model.data, begin, BeginOf(model, edit.first + 1), edit.items);
  if (model.chunk == 0) model.chunks[static_cast<size_t>(edit.first)] = size;
  return true;
}

// `count` is 1 where the chunk is to be the last one.
bool Insert(const ModelEdit& edit, Model& model) {
  if (edit.count == 1) return Append(edit, model);
  if (edit.first >= CountChunks(model)) return false;
  const int64_t size = std::ssize(edit.items);
  if (model.chunk > 0 && size != model.chunk) Free(model);
  const int64_t begin = BeginOf(model, edit.first);
  Splice(model.data, begin, begin, edit.items);
  if (model.chunk == 0) model.chunks.insert(model.chunks.begin() + edit.first, size);
  return true;
}

bool Delete(const ModelEdit& edit, Model& model) {
  const int64_t end = edit.first + edit.count;
  if (end > CountChunks(model)) return false;
  Splice(model.data, BeginOf(model, edit.first), BeginOf(model, end), {});
  if (model.chunk == 0) {
    model.chunks.erase(model.chunks.begin() + edit.first, model.chunks.begin() + end);
  }
  return true;
}

// Zeros now and then: chunks of zeros are not stored.
Buffer SomeItems(int64_t count, Dice& dice) {
  if (dice.Percent(20)) return Buffer(static_cast<size_t>(count));
  Buffer items(static_cast<size_t>(count));
  for (std::byte& item : items) item = static_cast<std::byte>(1 + dice.Below(250));
  return items;
}

int64_t Below(int64_t limit, Dice& dice) {
  return static_cast<int64_t>(dice.Below(static_cast<size_t>(limit)));
}

// Other items than those that are there: who writes what is there changes nothing.
Buffer OtherItems(int64_t count, int64_t begin, const Model& view, Dice& dice) {
  Buffer items = SomeItems(count, dice);
  for (int64_t i = 0; i < count && begin + i < std::ssize(view.data); ++i) {
    std::byte& item = items[static_cast<size_t>(i)];
    if (item == view.data[static_cast<size_t>(begin + i)]) item ^= std::byte{1};
  }
  return items;
}

ModelEdit SomeAppend(const Model& view, Dice& dice) {
  const int64_t row = RowBytes(view);
  const int64_t count = 1 + Below(view.kind == ModelKind::kGrid ? 4 : 20, dice);
  return {
      .kind = Kind::kAppend, .count = count, .shape = {row}, .items = SomeItems(count * row, dice)};
}

ModelEdit SomeWrite(const Model& view, Dice& dice) {
  const int64_t row = RowBytes(view);
  const int64_t first = Below(view.length(), dice);
  const int64_t count = 1 + Below(std::min<int64_t>(view.length() - first, 12), dice);
  return {.kind = Kind::kWrite,
          .first = first,
          .count = count,
          .shape = {row},
          .items = OtherItems(count * row, first * row, view, dice)};
}

ModelEdit SomeArrayEdit(const Model& view, Dice& dice) {
  const size_t roll = dice.Below(100);
  if (roll < 30 || view.length() == 0) return SomeAppend(view, dice);
  if (roll < 60) return SomeWrite(view, dice);
  if (roll < 85) {
    ModelEdit edit = {.kind = Kind::kResize, .shape = view.shape};
    edit.shape[0] = Below(2 * view.shape[0] + 2, dice);
    if (edit.shape.size() == 2 && dice.Percent(50)) edit.shape[1] = 3 + Below(5, dice);
    return edit;
  }
  const int64_t rows = view.kind == ModelKind::kGrid ? kGridRows : kChunk;
  if (dice.Percent(50) && view.length() > rows) {
    return {.kind = Kind::kCut, .first = rows * Below(view.length() / rows, dice), .count = rows};
  }
  const int64_t count = 1 + Below(view.length(), dice);
  return {.kind = Kind::kCut, .first = view.length() - count, .count = count};
}

ModelEdit SomeChunkEdit(const Model& base, const Model& view, Dice& dice) {
  // A chunk that has items of both would have to be cut where another writer appends between them.
  int64_t count = std::min(CountChunks(base), CountChunks(view));
  if (base != view && base.chunk > 0) count = std::min(count, base.length() / base.chunk);
  const size_t roll = dice.Below(100);
  const int64_t size = dice.Percent(60) ? kChunk : 1 + Below(12, dice);
  const int64_t nchunk = dice.Percent(50) ? count - 1 : Below(std::max<int64_t>(count, 1), dice);
  if (count == 0 || roll < 20) {
    const bool at_border = base == view && std::ssize(base.data) % kChunk == 0;
    if (!at_border || size > kChunk) return SomeAppend(view, dice);
    return {.kind = Kind::kInsert,
            .first = CountChunks(base),
            .count = 1,
            .shape = {1},
            .items = SomeItems(size, dice)};
  }
  if (roll < 50) {
    return {.kind = Kind::kUpdate,
            .first = nchunk,
            .items = OtherItems(size, BeginOf(view, nchunk), view, dice)};
  }
  if (roll < 60) {
    return {.kind = Kind::kInsert, .first = nchunk, .items = SomeItems(size, dice)};
  }
  return {.kind = Kind::kDelete, .first = nchunk, .count = 1 + Below(count - nchunk, dice)};
}

}  // namespace

std::string NameOf(ModelKind kind) {
  constexpr const char* kNames[] = {"Items", "Variable", "Line", "Grid"};
  return kNames[static_cast<size_t>(kind)];
}

std::string NameOf(const ModelEdit& edit) {
  constexpr const char* kNames[] = {"append", "resize", "write",     "cut",  "update",
                                    "insert", "delete", "chunksize", "layer"};
  return absl::StrFormat("%s %s [%s] %d at %d, %d items", kNames[static_cast<size_t>(edit.kind)],
                         edit.text, absl::StrJoin(edit.shape, ","), edit.count, edit.first,
                         edit.items.size());
}

CreateOptions OptionsOf(ModelKind kind) {
  CreateOptions options = Cut(1, kChunk);
  options.layout = Layout::kSparse;
  if (kind == ModelKind::kVariable) options.chunksize = ChunkSize::Variable();
  if (kind == ModelKind::kLine) {
    options.array = ArrayInfo{.shape = {0}, .chunkshape = {kChunk}, .blockshape = {4}};
  }
  if (kind == ModelKind::kGrid) {
    options.array =
        ArrayInfo{.shape = {0, kColumns}, .chunkshape = {kGridRows, 4}, .blockshape = {2, 2}};
  }
  return options;
}

int64_t Model::length() const { return is_array() ? shape[0] : std::ssize(data); }

void PrintTo(const Model& model, std::ostream* stream) {
  *stream << absl::StrFormat("[%s] chunk %d [%s]:", absl::StrJoin(model.shape, ","), model.chunk,
                             absl::StrJoin(model.chunks, ","));
  for (const std::byte item : model.data) *stream << ' ' << std::to_integer<int>(item);
  for (const auto& [name, value] : model.layers) *stream << ' ' << name << '=' << value;
}

Model EmptyModel(ModelKind kind) {
  Model model;
  model.kind = kind;
  if (kind == ModelKind::kItems) model.chunk = kChunk;
  if (kind == ModelKind::kLine) model.shape = {0};
  if (kind == ModelKind::kGrid) model.shape = {0, kColumns};
  return model;
}

absl::StatusOr<Model> ReadModel(ModelKind kind, const Snapshot& snapshot) {
  Model model;
  model.kind = kind;
  for (const std::string& name : snapshot.vlmetalayers()) {
    const auto content = snapshot.GetVlmetalayer(name);
    if (!content.ok()) return content.status();
    model.layers[name] = std::string(AsText(*content));
  }
  if (kind == ModelKind::kLine || kind == ModelKind::kGrid) {
    model.shape = snapshot.array()->shape;
    model.data.resize(static_cast<size_t>(model.shape[0] * RowBytes(model)));
    const std::vector<int64_t> start(model.shape.size());
    const absl::Status read = snapshot.ReadBox(start, model.shape, model.data);
    return read.ok() ? absl::StatusOr<Model>(std::move(model)) : read;
  }
  model.chunk = snapshot.info().chunksize.value_or(0);
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const auto size = snapshot.ChunkNbytes(i);
    if (!size.ok()) return size.status();
    Buffer chunk(static_cast<size_t>(*size));
    if (const absl::Status read = snapshot.ReadChunk(i, chunk); !read.ok()) return read;
    AddTo(model.data, chunk);
    if (model.chunk == 0) model.chunks.push_back(*size);
  }
  return model;
}

ModelEdit ChooseEdit(const Model& base, const Model& view, Dice& dice) {
  if (dice.Percent(10)) {
    return {.kind = Kind::kLayer,
            .items = SomeItems(3, dice),
            .text = "layer" + std::to_string(dice.Below(2))};
  }
  if (view.is_array()) return SomeArrayEdit(view, dice);
  if (view.data.empty() && dice.Percent(30)) {
    return {.kind = Kind::kSetSize, .count = dice.Percent(50) ? 0 : 2 * kChunk};
  }
  const size_t roll = dice.Below(100);
  if (roll < 30) return SomeAppend(view, dice);
  // Items of chunks of any size are those of their chunk, wherever that comes to be.
  if (roll < 50 && !view.data.empty() && view.chunk > 0) return SomeWrite(view, dice);
  return SomeChunkEdit(base, view, dice);
}

bool Apply(const ModelEdit& edit, int64_t begin, int64_t by, Model& model) {
  switch (edit.kind) {
    case Kind::kAppend:
      return Append(edit, model);
    case Kind::kResize:
      Resize(edit.shape, model);
      return true;
    case Kind::kWrite:
      return Write(edit, begin, by, model);
    case Kind::kCut:
      return Cut(edit, model);
    case Kind::kUpdate:
      return Update(edit, model);
    case Kind::kInsert:
      return Insert(edit, model);
    case Kind::kDelete:
      return Delete(edit, model);
    case Kind::kSetSize:
      model.chunk = edit.count;
      return model.data.empty();
    case Kind::kLayer:
      model.layers[edit.text] = std::string(AsText(edit.items));
      return true;
  }
  return false;
}

}  // namespace cairn::test

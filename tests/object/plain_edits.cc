#include "tests/object/plain_edits.h"

#include <algorithm>
#include <ostream>

#include "absl/strings/str_format.h"

#include "engine/base/bytes.h"
#include "engine/base/hash.h"

namespace cairn::test {

std::string NameOf(EditedKind kind) {
  constexpr const char* kNames[] = {"Items", "Variable", "Line", "Grid", "Uploaded"};
  return kNames[static_cast<size_t>(kind)];
}

void PrintTo(const Plain& plain, std::ostream* stream) {
  for (const Buffer& chunk : plain.chunks) {
    *stream << " chunk of " << chunk.size() << ", hash " << Xxh3(chunk);
  }
  for (const auto& [name, value] : plain.layers) *stream << ' ' << name << '=' << value;
}

PlainEdit RandomEdits::Choose(const Plain& view) {
  const size_t roll = dice_.Below(100);
  if (roll < 50) return Append();
  if (roll < 80) return Update(view);
  if (roll < 85) return Delete(view);
  return SetLayer();
}

PlainEdit RandomEdits::Append() {
  const auto size = static_cast<size_t>(TypesizeOf(kind_));
  const size_t count = kind_ == EditedKind::kGrid
                           ? static_cast<size_t>(kGridColumns) * (1 + dice_.Below(4))
                           : 1 + dice_.Below(150 / size);
  const Buffer items = MakeItems(count * size, dice_.Next());
  const bool along = IsArray(kind_);
  const bool apart = kind_ == EditedKind::kVariable;
  return {.name = absl::StrFormat("append %d", items.size()),
          .make =
              [items, along](Writer& writer) {
                return along ? writer.AppendSlices(0, items) : writer.Append(items);
              },
          .apply =
              [items, apart](Plain& plain, const Shift& /*shift*/) {
                if (apart) plain.chunks.emplace_back();
                AddTo(plain.chunks.back(), items);
              },
          .appends = true};
}

PlainEdit RandomEdits::Update(const Plain& view) {
  if (kind_ == EditedKind::kVariable) {
    if (view.chunks.empty()) return Append();
    const size_t n = dice_.Below(view.chunks.size());
    const Buffer items = MakeItems(1 + dice_.Below(100), dice_.Next());
    return {
        .name = absl::StrFormat("update chunk %d to %d", n, items.size()),
        .make = [n, items](
                    Writer& writer) { return writer.UpdateChunk(static_cast<int64_t>(n), items); },
        .apply = [n, items](Plain& plain, const Shift& shift) { plain.chunks[shift(n)] = items; }};
  }
  const size_t item =
      static_cast<size_t>(TypesizeOf(kind_)) * (kind_ == EditedKind::kGrid ? kGridColumns : 1);
  const size_t count = view.chunks[0].size() / item;
  if (count == 0) return Append();
  const size_t first = dice_.Below(count);
  const size_t some = 1 + dice_.Below(std::min<size_t>(count - first, 40));
  const Buffer items = MakeItems(some * item, dice_.Next());
  const bool is_grid = kind_ == EditedKind::kGrid;
  const bool in_box = IsArray(kind_);
  return {.name = absl::StrFormat("update %d from %d", some, first),
          .make =
              [=](Writer& writer) {
                const auto begin = static_cast<int64_t>(first);
                const auto rows = static_cast<int64_t>(some);
                if (!in_box) return writer.WriteItems(begin, items);
                if (is_grid) return writer.WriteBox({{begin, 0}}, {{rows, kGridColumns}}, items);
                return writer.WriteBox({{begin}}, {{rows}}, items);
              },
          .apply =
              [=](Plain& plain, const Shift& shift) {
                for (size_t i = 0; i < items.size(); ++i) {
                  plain.chunks[0][shift(first * item + i)] = items[i];
                }
              }};
}

PlainEdit RandomEdits::Delete(const Plain& view) {
  const bool variable = kind_ == EditedKind::kVariable;
  const size_t count = variable ? view.chunks.size() : view.chunks[0].size() / kEditedChunk;
  if (count == 0 || IsArray(kind_)) return Update(view);
  const size_t n = dice_.Below(count);
  return {.name = absl::StrFormat("delete chunk %d", n),
          .make = [n](Writer& writer) { return writer.DeleteChunks(static_cast<int64_t>(n), 1); },
          .apply =
              [n, variable](Plain& plain, const Shift& shift) {
                if (variable) {
                  plain.chunks.erase(plain.chunks.begin() + static_cast<ptrdiff_t>(shift(n)));
                } else {
                  const auto begin =
                      plain.chunks[0].begin() + static_cast<ptrdiff_t>(shift(n * kEditedChunk));
                  plain.chunks[0].erase(begin, begin + kEditedChunk);
                }
              }};
}

PlainEdit RandomEdits::SetLayer() {
  const std::string name = "layer" + std::to_string(dice_.Below(3));
  const std::string value = "value " + std::to_string(dice_.Below(1000));
  return {
      .name = "set " + name,
      .make = [name, value](Writer& writer) { return writer.SetVlmetalayer(name, AsBytes(value)); },
      .apply = [name, value](Plain& plain, const Shift& /*shift*/) { plain.layers[name] = value; }};
}

}  // namespace cairn::test

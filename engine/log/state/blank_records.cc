#include "engine/log/state/blank_records.h"

#include <cstddef>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/log/state/stored_fields.h"

namespace cairn::log {

namespace {

// Calls blank(i) for each of `count` records from number `first` on that is in the set.
template <typename Blank>
void ForEachIn(std::span<const RecordRange> set, int64_t first, size_t count, const Blank& blank) {
  const RecordRange here = {.begin = first, .end = first + static_cast<int64_t>(count)};
  for (const RecordRange& range : PartIn(set, here)) {
    for (int64_t record = range.begin; record < range.end; ++record) {
      blank(static_cast<size_t>(record - first));
    }
  }
}

}  // namespace

void BlankRecords(const Segment& segment, std::span<const RecordRange> set, int64_t first,
                  MutableBytes rows) {
  if (set.empty()) return;
  const auto size = static_cast<size_t>(segment.schema().record_size());
  std::vector<std::byte> blank = BlankRecord(segment.schema());
  const Field* const time = segment.time_field();
  ForEachIn(set, first, rows.size() / size, [&](size_t i) {
    const MutableBytes row = rows.subspan(i * size, size);
    if (time != nullptr) {
      const auto at = static_cast<size_t>(time->offset);
      const auto time_size = static_cast<size_t>(time->size);
      CopyBytes(row.subspan(at, time_size), MutableBytes(blank).subspan(at, time_size));
    }
    CopyBytes(blank, row);
  });
}

void BlankColumn(const Segment& segment, const Field& field, std::span<const RecordRange> set,
                 int64_t first, MutableBytes values) {
  const Field* const time = segment.time_field();
  if (set.empty() || (time != nullptr && field.name == time->name)) return;
  const auto size = static_cast<size_t>(field.size);
  const std::vector<std::byte> blank = BlankRecord(segment.schema());
  ForEachIn(set, first, values.size() / size, [&](size_t i) {
    CopyBytes(Bytes(blank).subspan(static_cast<size_t>(field.offset), size),
              values.subspan(i * size, size));
  });
}

}  // namespace cairn::log

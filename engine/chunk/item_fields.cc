#include "engine/chunk/item_fields.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/status.h"

namespace cairn::chunk {

namespace {

template <size_t kSize>
void CopyValues(const std::byte* from, size_t step, MutableBytes to) {
  for (size_t at = 0; at < to.size(); at += kSize, from += step) {
    CopyBytes({from, kSize}, to.subspan(at));
  }
}

// Copies values that lie `step` bytes apart. If the compiler knows the size, a copy is a load and a
// store.
void GatherValues(const std::byte* from, size_t step, size_t size, MutableBytes to) {
  switch (size) {
    case 1:
      return CopyValues<1>(from, step, to);
    case 2:
      return CopyValues<2>(from, step, to);
    case 4:
      return CopyValues<4>(from, step, to);
    case 8:
      return CopyValues<8>(from, step, to);
    default:
      break;
  }
  for (size_t at = 0; at < to.size(); at += size, from += step) {
    CopyBytes({from, size}, to.subspan(at));
  }
}

}  // namespace

int64_t ItemFields::wanted_size() const {
  int64_t size = 0;
  for (const FieldSpan& field : fields_) size += field.size;
  return size;
}

void ItemFields::Gather(Bytes held, const ItemRange& items) const {
  for (const FieldSpan& field : fields_) {
    GatherValues(held.data() + field.offset, static_cast<size_t>(item_size_),
                 static_cast<size_t>(field.size), ValuesOf(field, items));
  }
}

absl::Status ItemFields::Read(
    ItemRange items, ScratchBuffer& buffer,
    absl::FunctionRef<absl::Status(int64_t begin, MutableBytes dst)> read) const {
  constexpr int64_t kPiece = 16384;
  for (int64_t left = items.count; left > 0; left -= items.count) {
    items.count = std::min(left, std::max<int64_t>(1, kPiece / item_size_));
    if (item_size_ <= kPiece) {
      const MutableBytes held = buffer.Get(static_cast<size_t>(items.count * item_size_));
      CAIRN_RETURN_IF_ERROR(read(items.begin, held));
      Gather(held, items);
    } else {
      for (const FieldSpan& field : fields_) {
        CAIRN_RETURN_IF_ERROR(read(items.begin + field.offset, ValuesOf(field, items)));
      }
    }
    items.begin += items.count * item_size_;
    items.first += items.count;
  }
  return absl::OkStatus();
}

}  // namespace cairn::chunk

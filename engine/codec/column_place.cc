#include "engine/codec/column_place.h"

#include <algorithm>

namespace cairn::codec {

namespace {

template <size_t kWidth>
void CopyPiecesOf(size_t count, const std::byte* from, size_t from_stride, std::byte* to,
                  size_t to_stride) {
  for (size_t i = 0; i < count; ++i) {
    std::copy_n(from + i * from_stride, kWidth, to + i * to_stride);
  }
}

}  // namespace

void CopyPieces(size_t width, size_t count, const std::byte* from, size_t from_stride,
                std::byte* to, size_t to_stride) {
  if (width == from_stride && width == to_stride) {
    std::copy_n(from, width * count, to);
  } else if (width == 1) {
    CopyPiecesOf<1>(count, from, from_stride, to, to_stride);
  } else if (width == 2) {
    CopyPiecesOf<2>(count, from, from_stride, to, to_stride);
  } else if (width == 4) {
    CopyPiecesOf<4>(count, from, from_stride, to, to_stride);
  } else if (width == 8) {
    CopyPiecesOf<8>(count, from, from_stride, to, to_stride);
  } else {
    for (size_t i = 0; i < count; ++i) {
      std::copy_n(from + i * from_stride, width, to + i * to_stride);
    }
  }
}

void ToRecords(const numbers::Column& column, size_t begin, size_t end, const std::byte* from,
               const Place& place) {
  const auto width = static_cast<size_t>(column.type.size);
  // A record may begin in one page and end in the next.
  for (size_t at = begin; at < end;) {
    const size_t in_record = at % column.count;
    const size_t record = at / column.count - place.begin;
    std::byte* const to = place.first + record * place.stride + in_record * width;
    const size_t whole = in_record == 0 ? (end - at) / column.count : 0;
    if (whole > 0) {
      CopyPieces(column.width(), whole, from, column.width(), to, place.stride);
      from += whole * column.width();
      at += whole * column.count;
    } else {
      const size_t some = std::min(column.count - in_record, end - at);
      std::copy_n(from, some * width, to);
      from += some * width;
      at += some;
    }
  }
}

}  // namespace cairn::codec

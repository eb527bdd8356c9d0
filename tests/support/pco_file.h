// The standalone files of pco: a header, and chunks of one page each.
#ifndef CAIRN_TESTS_SUPPORT_PCO_FILE_H_
#define CAIRN_TESTS_SUPPORT_PCO_FILE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/status.h"
#include "engine/codec/pco/bit_reader.h"
#include "engine/codec/pco/chunk_decoder.h"

namespace cairn::test {

// Returns the type that a byte of the file stands for.
inline std::optional<pco::NumberType> PcoType(uint64_t byte) {
  using pco::NumberKind;
  constexpr pco::NumberType kTypes[] = {
      {NumberKind::kUint, 4}, {NumberKind::kUint, 8},  {NumberKind::kInt, 4},
      {NumberKind::kInt, 8},  {NumberKind::kFloat, 4}, {NumberKind::kFloat, 8},
      {NumberKind::kUint, 2}, {NumberKind::kInt, 2},   {NumberKind::kFloat, 2},
      {NumberKind::kUint, 1}, {NumberKind::kInt, 1}};
  if (byte < 1 || byte > std::size(kTypes)) return std::nullopt;
  return kTypes[byte - 1];
}

// Decodes a file, and returns the bytes of all numbers, at most `limit`. Each page is decoded in
// parts of so many numbers, each as if no other were wanted.
inline absl::StatusOr<std::vector<std::byte>> DecodePcoFile(Bytes file, size_t limit,
                                                            size_t part = size_t{1} << 24) {
  std::vector<std::byte> padded(file.begin(), file.end());
  padded.resize(file.size() + pco::kPadding);
  pco::BitReader in(padded);
  if (in.Read(32) != 0x216F6370) return DataLoss("not a file of pco");
  const uint64_t version = in.Read(8);
  if (version < 2) {
    in.MoveTo(32);
  } else {
    if (version > 2) in.Read(8);
    in.Read(static_cast<int>(in.Read(6)) + 1);
    in.Align();
  }
  CAIRN_ASSIGN_OR_RETURN(const pco::Version format, pco::ReadVersion(in));
  std::vector<std::byte> numbers;
  for (;;) {
    const uint64_t byte = in.Read(8);
    if (byte == 0 || !in.in_bounds()) return numbers;
    const auto type = PcoType(byte);
    if (!type) return DataLoss("type %d", byte);
    const auto count = static_cast<size_t>(in.Read(24)) + 1;
    const size_t size = count * static_cast<size_t>(type->size);
    if (size > limit - numbers.size()) return ResourceExhausted("%d numbers", count);
    CAIRN_ASSIGN_OR_RETURN(pco::ChunkMeta meta, pco::ReadChunkMeta(format, *type, in));
    const auto decoder = pco::ChunkDecoder::Make(type->size);
    decoder->BeginChunk(type->kind, std::move(meta));
    numbers.resize(numbers.size() + size);
    const MutableBytes page = std::span(numbers).last(size);
    const auto width = static_cast<size_t>(type->size);
    pco::BitReader end = in;
    for (size_t first = 0; first < count; first += part) {
      const size_t wanted = std::min(part, count - first);
      end = in;
      CAIRN_RETURN_IF_ERROR(
          decoder->DecodePage(end, count, first, page.subspan(first * width, wanted * width)));
    }
    in = end;
  }
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_PCO_FILE_H_

#include "engine/codec/coding_chooser.h"

#include <limits>

#include "engine/base/status.h"

namespace cairn::codec {

namespace {

using numbers::Coding;
using numbers::Column;

// Codecs that decode faster may take this much more.
constexpr double kWorthSpeed = 1.15;
// LZ4 and zstd, which decode all of a column, must take this much less.
constexpr double kWorthWhole = 0.9;
// The most that zstd saves of what LZ4 takes.
constexpr double kMostBelowLz4 = 3;

}  // namespace

absl::Status CodingChooser::Choose(std::span<const numbers::NumberKind> kinds, Bytes sample,
                                   size_t size, int clevel, Column& column) {
  kinds_ = kinds;
  sample_ = sample;
  scale_ = sample.empty() ? 1 : static_cast<double>(size) / static_cast<double>(sample.size());
  clevel_ = clevel;
  if (column.is_bytes) {
    CAIRN_ASSIGN_OR_RETURN(const Option best,
                           BestOfBytes(column, std::numeric_limits<double>::max()));
    column = best.column;
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const Option numbers, BestOfNumbers(column));
  const double bound = numbers.bytes * kWorthWhole;
  CAIRN_ASSIGN_OR_RETURN(const Option bytes, BestOfBytes(column, bound));
  column = bytes.bytes <= bound ? bytes.column : numbers.column;
  return absl::OkStatus();
}

absl::StatusOr<CodingChooser::Option> CodingChooser::Try(Coding coding, const Column& column) {
  Option option = {.column = column};
  option.column.coding = coding;
  ByteWriter coded;
  CAIRN_ASSIGN_OR_RETURN(
      const size_t fixed,
      coders_.Get(coding).Encode(kinds_, sample_, {.clevel = clevel_}, option.column, coded));
  option.bytes = static_cast<double>(fixed) + static_cast<double>(coded.size() - fixed) * scale_;
  return option;
}

absl::StatusOr<CodingChooser::Option> CodingChooser::BestOfNumbers(const Column& column) {
  CAIRN_ASSIGN_OR_RETURN(const Option pco, Try(Coding::kPco, column));
  CAIRN_ASSIGN_OR_RETURN(const Option bitpack, Try(Coding::kBitpack, column));
  return bitpack.bytes <= kWorthSpeed * pco.bytes ? bitpack : pco;
}

absl::StatusOr<CodingChooser::Option> CodingChooser::BestOfBytes(const Column& column,
                                                                 double bound) {
  CAIRN_ASSIGN_OR_RETURN(Option lz4, Try(Coding::kLz4, column));
  if ((column.is_bytes ? column.count : static_cast<size_t>(column.type.size)) > 1) {
    CAIRN_ASSIGN_OR_RETURN(const Option shuffled, Try(Coding::kShuffledLz4, column));
    if (shuffled.bytes < lz4.bytes) lz4 = shuffled;
  }
  if (lz4.bytes > kMostBelowLz4 * bound) return lz4;
  const Coding zstd_coding =
      lz4.column.coding == Coding::kLz4 ? Coding::kZstd : Coding::kShuffledZstd;
  CAIRN_ASSIGN_OR_RETURN(const Option zstd, Try(zstd_coding, column));
  return lz4.bytes <= bound && lz4.bytes <= kWorthSpeed * zstd.bytes ? lz4 : zstd;
}

}  // namespace cairn::codec

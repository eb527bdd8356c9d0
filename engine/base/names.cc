#include "engine/base/names.h"

#include <string_view>

#include "absl/strings/str_format.h"

namespace cairn {

std::string_view NameOf(Codec codec) {
  switch (codec) {
    case Codec::kBloscLz:
      return "blosclz";
    case Codec::kLz4:
      return "lz4";
    case Codec::kLz4Hc:
      return "lz4hc";
    case Codec::kZlib:
      return "zlib";
    case Codec::kZstd:
      return "zstd";
    case Codec::kNdlz:
      return "ndlz";
    case Codec::kZfpAccuracy:
      return "zfp_acc";
    case Codec::kZfpPrecision:
      return "zfp_prec";
    case Codec::kZfpRate:
      return "zfp_rate";
    case Codec::kPco:
      return "pco";
    case Codec::kBitpack:
      return "bitpack";
    case Codec::kAuto:
      return "auto";
  }
  // Codecs that the format registers, and that Cairn lacks.
  switch (static_cast<int>(codec)) {
    case 36:
      return "OpenHTJ2K";
    case 37:
      return "Grok";
    case 38:
      return "OpenZL";
    case 39:
      return "J2K";
    case 40:
      return "HTJ2K";
    default:
      return "";
  }
}

std::string_view NameOf(Filter filter) {
  switch (filter) {
    case Filter::kNone:
      return "none";
    case Filter::kShuffle:
      return "shuffle";
    case Filter::kBitShuffle:
      return "bitshuffle";
    case Filter::kDelta:
      return "delta";
    case Filter::kTruncPrec:
      return "trunc_prec";
    case Filter::kNdCell:
      return "ndcell";
    case Filter::kNdMean:
      return "ndmean";
    case Filter::kByteDeltaBuggy:
      return "bytedelta_buggy";
    case Filter::kByteDelta:
      return "bytedelta";
    case Filter::kIntTrunc:
      return "int_trunc";
  }
  return "";
}

namespace {

std::string InParentheses(std::string_view name) {
  return name.empty() ? "" : absl::StrFormat(" (%s)", name);
}

}  // namespace

std::string ShownName(Codec codec) { return InParentheses(NameOf(codec)); }

std::string ShownName(Filter filter) { return InParentheses(NameOf(filter)); }

}  // namespace cairn

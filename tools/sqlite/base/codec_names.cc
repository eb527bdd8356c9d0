#include "tools/sqlite/base/codec_names.h"

#include <array>

namespace cairn::sqlite {

namespace {

struct CodecName {
  Codec codec;
  std::string_view name;
  bool general = true;
};

constexpr std::array<CodecName, 12> kCodecs = {{
    {Codec::kBloscLz, "blosclz"},
    {Codec::kLz4, "lz4"},
    {Codec::kLz4Hc, "lz4hc"},
    {Codec::kZlib, "zlib"},
    {Codec::kZstd, "zstd"},
    {Codec::kNdlz, "ndlz", false},
    {Codec::kZfpAccuracy, "zfp", false},
    {Codec::kZfpPrecision, "zfp", false},
    {Codec::kZfpRate, "zfp", false},
    {Codec::kPco, "pco", false},
    {Codec::kBitpack, "bitpack", false},
    {Codec::kAuto, "auto", false},
}};

}  // namespace

std::string NameOfCodec(Codec codec) {
  for (const CodecName& known : kCodecs) {
    if (known.codec == codec) return std::string(known.name);
  }
  return std::to_string(static_cast<int>(codec));
}

std::optional<Codec> GeneralCodecNamed(std::string_view name) {
  for (const CodecName& known : kCodecs) {
    if (known.general && known.name == name) return known.codec;
  }
  return std::nullopt;
}

}  // namespace cairn::sqlite

// Names of codecs, as parameters and columns use them.
#ifndef CAIRN_TOOLS_SQLITE_BASE_CODEC_NAMES_H_
#define CAIRN_TOOLS_SQLITE_BASE_CODEC_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "cairn/types.h"

namespace cairn::sqlite {

// Returns a number for a codec without a name.
std::string NameOfCodec(Codec codec);
// Finds a codec that takes any bytes. Codecs for arrays of numbers are not found.
std::optional<Codec> GeneralCodecNamed(std::string_view name);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_BASE_CODEC_NAMES_H_

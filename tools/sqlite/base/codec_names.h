// Codecs by the names that parameters and columns have for them.
#ifndef CAIRN_TOOLS_SQLITE_BASE_CODEC_NAMES_H_
#define CAIRN_TOOLS_SQLITE_BASE_CODEC_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "cairn/types.h"

namespace cairn::sqlite {

// A number for a codec without a name.
std::string NameOfCodec(Codec codec);
// Of those that take any bytes: not of those for arrays of numbers.
std::optional<Codec> GeneralCodecNamed(std::string_view name);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_BASE_CODEC_NAMES_H_

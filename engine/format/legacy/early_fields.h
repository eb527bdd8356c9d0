// What the headers of all frames from before 2.0.0.rc1 begin with: the fields of today's up to the
// typesize, no block size, chunksize, thread counts and a flag.
#ifndef CAIRN_ENGINE_FORMAT_LEGACY_EARLY_FIELDS_H_
#define CAIRN_ENGINE_FORMAT_LEGACY_EARLY_FIELDS_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/byte_reader.h"
#include "engine/format/frame_header.h"

namespace cairn::format::legacy {

inline constexpr int64_t kEarlyFieldsSize = 0x40;

// The header's length, from its first kEarlyFieldsSize bytes.
absl::StatusOr<int64_t> ParseEarlyHeaderLength(Bytes bytes);

// Reads all fields but the flag, which follows. Sets the version that general_flags tell.
FrameHeader ReadEarlyFields(ByteReader& reader);

}  // namespace cairn::format::legacy

#endif  // CAIRN_ENGINE_FORMAT_LEGACY_EARLY_FIELDS_H_

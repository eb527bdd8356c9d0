// Reads fields of items, such as the columns of records.
#ifndef CAIRN_ENGINE_FRAME_READ_FIELD_READER_H_
#define CAIRN_ENGINE_FRAME_READ_FIELD_READER_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "cairn/items.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// See Snapshot::ReadFields.
absl::Status ReadFields(const State& state, int64_t start, int64_t nitems,
                        std::span<const FieldSpan> fields);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_FIELD_READER_H_

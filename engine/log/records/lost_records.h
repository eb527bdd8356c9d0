// Finds the records of a salvaged frame that are lost with their chunks.
#ifndef CAIRN_ENGINE_LOG_RECORDS_LOST_RECORDS_H_
#define CAIRN_ENGINE_LOG_RECORDS_LOST_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"

namespace cairn::log {

// The vlmetalayer that names the chunks, as Salvage writes it: a msgpack text such as "3, 7-9".
inline constexpr std::string_view kLostLayer = "lost_chunks";

// Returns the text of such a layer, or nothing if it has none.
std::optional<std::string> TextOf(Bytes content);
// Returns the content of such a layer.
std::vector<std::byte> EncodeList(std::string_view text);

// Returns the lost records of a frame as a set; see record_ranges.h. Its records begin with number
// `first` and are `nrecords`, in chunks of `chunk_records`. A chunk that is named but has records
// again, because a program has put it back, is not lost. A layer that does not parse names none.
absl::StatusOr<std::vector<RecordRange>> FindLostRecords(const Snapshot& snapshot, int64_t first,
                                                         int64_t chunk_records, int64_t nrecords);
// Reads fields of `count` records from number `record` on, of a frame that begins with number
// `first`. Those that are lost read as zeros.
absl::Status ReadWithout(std::span<const RecordRange> lost, const Snapshot& snapshot, int64_t first,
                         int64_t record, int64_t count, std::span<const FieldSpan> fields);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_RECORDS_LOST_RECORDS_H_

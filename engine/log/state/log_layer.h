// The facts that a log stores about itself, in a vlmetalayer of each of its frames.
//
//   magic "CLOG" | version u32 | number of the first record u64 | retention: age, records, bytes,
//   each u64 | rotation: bytes, period, each u64 | ended u8 | length of the time field's name u8 |
//   name
#ifndef CAIRN_ENGINE_LOG_STATE_LOG_LAYER_H_
#define CAIRN_ENGINE_LOG_STATE_LOG_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/types.h"

namespace cairn::log {

inline constexpr std::string_view kLogLayer = "cairn.log";
// Layers of statistics, the newest chunks in the first; see StatsTable. A full table is added to
// the next.
inline constexpr std::string_view kStatsLayers[] = {"cairn.log.stats0", "cairn.log.stats1",
                                                    "cairn.log.stats2"};

inline constexpr size_t kMaxTimeName = 255;

struct LogLayer {
  int64_t first_record = 0;
  Retention retention = {};
  Rotation rotation = {};
  bool ended = false;           // the records continue in the next frame
  std::string time_field = {};  // at most kMaxTimeName bytes; empty: the first timestamp
  bool operator==(const LogLayer&) const = default;
};

// Returns the name by which the layer of a log of such records names their time field, which is
// null if there is none. The name is empty, which means the first timestamp, if that field has a
// name that is too long. Errors: kInvalidArgument for any other field with such a name.
absl::StatusOr<std::string> TimeNameOf(const Schema& schema, const Field* time);

// Checks the limits that a program sets for a log. Errors: kInvalidArgument if a limit is negative.
absl::Status CheckLimits(const Retention& retention, const Rotation& rotation);

// Parses the layer. Errors: kDataLoss if it is damaged; kUnimplemented if a newer Cairn wrote it.
absl::StatusOr<LogLayer> ParseLogLayer(Bytes content);
std::vector<std::byte> EncodeLogLayer(const LogLayer& layer);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_LOG_LAYER_H_

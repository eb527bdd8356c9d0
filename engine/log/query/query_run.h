// Runs a query through the chunks of a log.
#ifndef CAIRN_ENGINE_LOG_QUERY_QUERY_RUN_H_
#define CAIRN_ENGINE_LOG_QUERY_QUERY_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/query/filter.h"
#include "engine/log/state/log_state.h"

namespace cairn::log {

// A chunk of one of a log's frames.
struct ChunkPlace {
  const Segment* segment = nullptr;
  int64_t nchunk = 0;
};

// Returns the chunks that may hold records of these times which the filter takes, in their order.
// Without a time field, the times are ignored.
absl::StatusOr<std::vector<ChunkPlace>> FindChunks(const LogState& state, const TimeRange& times,
                                                   const Filter& filter);

// The records of a chunk that have times of the range and that the filter takes.
struct ChosenRecords {
  Rows rows;                         // rows that were looked at
  std::vector<int64_t> times = {};   // time of each row; empty without a time field
  std::vector<uint8_t> chosen = {};  // one byte for each row
  Columns columns = {};              // columns that were asked for
};
absl::StatusOr<ChosenRecords> ChooseRecords(const ChunkPlace& place, const TimeRange& times,
                                            const Filter& filter,
                                            const std::vector<size_t>& fields);

// Finds the records batch by batch; see LogCursor. Not thread-safe.
class QueryRun {
 public:
  static absl::StatusOr<std::unique_ptr<QueryRun>> Make(std::shared_ptr<const LogState> state,
                                                        const LogQuery& query);
  absl::StatusOr<LogBatch> Next();

 private:
  // Records with their times.
  struct Found {
    LogBatch batch;
    std::vector<int64_t> times;
  };

  QueryRun(std::shared_ptr<const LogState> state, const LogQuery& query)
      : state_(std::move(state)), range_(query.times), left_(query.limit), order_(query.order) {}
  absl::StatusOr<Found> Load(const ChunkPlace& place) const;
  void Sort(Found& found) const;
  LogBatch TakeHeld(std::optional<int64_t> before);
  absl::StatusOr<LogBatch> NextInTime();
  absl::StatusOr<LogBatch> NextByNumber();
  void FindTextsAndGaps();
  size_t SizeOf(size_t column) const;

  std::shared_ptr<const LogState> state_;
  TimeRange range_;
  int64_t left_ = 0;
  LogOrder order_ = LogOrder::kTime;
  Filter filter_;
  std::vector<size_t> fields_;  // indexes in the schema
  std::shared_ptr<const std::vector<Field>> batch_fields_;
  std::vector<int64_t> first_with_value_;  // as in a LogBatch
  std::vector<KeyTextsPtr> texts_;         // likewise
  std::vector<ChunkPlace> places_;         // in the order in which they are loaded
  std::vector<int64_t> min_times_;         // least time of each of them, with LogOrder::kTime
  size_t next_ = 0;
  // Records of one chunk in the order of time. From `next` on they are not earlier than those that
  // the next chunk may hold.
  struct Held {
    Found found;
    size_t next = 0;
  };
  std::vector<Held> held_;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_QUERY_RUN_H_

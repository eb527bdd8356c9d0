// One frame of a log, in one state: records by number, and what is known of its chunks.
#ifndef CAIRN_ENGINE_LOG_STATE_SEGMENT_H_
#define CAIRN_ENGINE_LOG_STATE_SEGMENT_H_

#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/snapshot.h"
#include "engine/base/lazy.h"
#include "engine/base/mutex.h"
#include "engine/log/state/log_layer.h"
#include "engine/log/stats/chunk_stats.h"

namespace cairn::log {

using ChunkStatsPtr = std::shared_ptr<const ChunkStats>;

// The statistics of the chunks of one frame that were read or computed, for all its states.
// Thread-safe.
class StatsCache {
 public:
  // Null unless there are some for a chunk of these bytes; see StatsTable for its number.
  ChunkStatsPtr Find(int64_t chunk, uint64_t fingerprint) const;
  void Add(int64_t chunk, ChunkStatsPtr stats);
  // Forgets those before this chunk.
  void DropBefore(int64_t chunk);

 private:
  mutable Mutex mutex_;
  absl::flat_hash_map<int64_t, ChunkStatsPtr> rows_ ABSL_GUARDED_BY(mutex_);
};

// Times of all chunks, for finding those of a range.
struct TimeIndex {
  std::vector<int64_t> min_time;  // of each chunk
  std::vector<int64_t> max_time;
  std::vector<int64_t> max_before;  // greatest of chunks 0..i: never goes down
  std::vector<int64_t> min_after;   // least of chunks i..: likewise
};

// Some records of one chunk.
struct Rows {
  int64_t chunk = 0;  // of the snapshot
  int32_t begin = 0;  // in the chunk
  int32_t end = 0;
  int32_t size() const { return end - begin; }
};

// Thread-safe.
class Segment {
 public:
  // `time_field` names the time where the frame does not say; empty: its first timestamp.
  // kFailedPrecondition for a frame that is no one-dimensional array with a dtype; kNotFound and
  // kInvalidArgument for the time field.
  static absl::StatusOr<std::shared_ptr<const Segment>> Load(Snapshot snapshot,
                                                             std::string_view time_field,
                                                             std::shared_ptr<StatsCache> cache);

  const Snapshot& snapshot() const { return snapshot_; }
  const Schema& schema() const { return schema_; }
  const Field* time_field() const { return time_; }  // null: none
  const LogLayer& layer() const { return layer_; }
  const std::shared_ptr<StatsCache>& cache() const { return cache_; }

  int64_t first_record() const { return layer_.first_record; }
  int64_t end_record() const { return layer_.first_record + nrecords_; }
  int64_t nrecords() const { return nrecords_; }
  int64_t chunk_records() const { return chunk_records_; }
  int64_t nchunks() const;
  // The number of the chunk's first record.
  int64_t RecordOf(int64_t nchunk) const { return first_record() + nchunk * chunk_records_; }
  int32_t RecordsIn(int64_t nchunk) const;
  // Counted from the log's very first.
  int64_t Ordinal(int64_t nchunk) const { return first_record() / chunk_records_ + nchunk; }

  // Of records that the segment holds.
  absl::Status ReadRecords(int64_t record, MutableBytes dst) const;
  absl::Status ReadFields(int64_t record, int64_t count, std::span<const FieldSpan> fields) const;
  // Columns of these fields, by index in the schema; the others stay empty.
  absl::StatusOr<Columns> ReadColumns(const Rows& rows, std::span<const size_t> fields) const;
  absl::StatusOr<std::vector<int64_t>> ReadTimes(const Rows& rows) const;

  // From the frame where it has them and they belong to the chunk's bytes, else from the records.
  absl::StatusOr<ChunkStatsPtr> StatsOf(int64_t nchunk) const;
  // From the records.
  absl::StatusOr<ChunkStats> ComputeStats(int64_t nchunk) const;
  // Needs a time field.
  absl::StatusOr<const TimeIndex*> times() const;
  // The chunks that may have times of the range, by number.
  absl::StatusOr<std::vector<int64_t>> ChunksIn(const TimeRange& range) const;
  // The records of a chunk in the order of time that have times of the range.
  absl::StatusOr<Rows> RowsIn(int64_t nchunk, const TimeRange& range) const;

 private:
  Segment(Snapshot snapshot, std::shared_ptr<StatsCache> cache)
      : snapshot_(std::move(snapshot)), cache_(std::move(cache)) {}
  absl::Status Init(std::string_view time_field);
  absl::Status FindTimeField(std::string_view name);
  int64_t LoadTable(std::string_view name) const;
  void LoadTablesFor(int64_t ordinal) const;
  absl::StatusOr<std::unique_ptr<TimeIndex>> MakeTimeIndex() const;
  absl::StatusOr<int32_t> LowerBound(int64_t nchunk, int64_t time) const;

  Snapshot snapshot_;
  std::shared_ptr<StatsCache> cache_;
  Schema schema_;
  LogLayer layer_;
  const Field* time_ = nullptr;  // in schema_
  int64_t nrecords_ = 0;
  int64_t chunk_records_ = 1;

  // The first chunk that each table of statistics has; known once the table is loaded.
  mutable std::array<Lazy<int64_t>, std::size(kStatsLayers)> first_chunks_;
  mutable StatsCache own_stats_;  // of chunks without a fingerprint, such as the last
  mutable Mutex mutex_;
  // Null until it is needed. Then it stays as it is.
  mutable std::unique_ptr<const TimeIndex> times_ ABSL_GUARDED_BY(mutex_);
};

using SegmentPtr = std::shared_ptr<const Segment>;

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_SEGMENT_H_

// A frame of a log, in one state: its records by number, and the facts about its chunks.
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
#include "engine/log/keys/log_keys.h"
#include "engine/log/state/edit_layer.h"
#include "engine/log/state/log_layer.h"
#include "engine/log/state/stored_fields.h"
#include "engine/log/state/time_index.h"
#include "engine/log/stats/chunk_stats.h"

namespace cairn::log {

using ChunkStatsPtr = std::shared_ptr<const ChunkStats>;

// Keeps the statistics of a frame's chunks that were read or computed, for all its states.
// Thread-safe.
class StatsCache {
 public:
  // Returns null unless there are statistics for a chunk with these bytes. See StatsTable for its
  // number.
  ChunkStatsPtr Find(int64_t chunk, uint64_t fingerprint) const;
  void Add(int64_t chunk, ChunkStatsPtr stats);
  // Forgets the statistics of chunks before this one.
  void DropBefore(int64_t chunk);

 private:
  mutable Mutex mutex_;
  absl::flat_hash_map<int64_t, ChunkStatsPtr> rows_ ABSL_GUARDED_BY(mutex_);
};

// Some records of one chunk.
struct Rows {
  int64_t chunk = 0;  // its number in the snapshot
  int32_t begin = 0;  // in the chunk
  int32_t end = 0;
  int32_t size() const { return end - begin; }
};

// A frame of a log. Thread-safe.
class Segment {
 public:
  // Loads a frame. `before` is an earlier state of it, with which this one shares what did not
  // change; it may be null. `time_field` names the time if the frame does not. If it is empty, the
  // time is the first timestamp. `seen` are the fields of the log. If it is null, they are those
  // that `before` has if the frame still stores the same, or else those of the frame.
  // Errors: kFailedPrecondition for a frame that is not a one-dimensional array with a dtype;
  // kNotFound or kInvalidArgument for the time field; kDataLoss if the log lacks a field.
  static absl::StatusOr<std::shared_ptr<const Segment>> Load(Snapshot snapshot,
                                                             std::string_view time_field,
                                                             const Segment* before,
                                                             SchemaPtr seen = nullptr);

  // Returns the same state of the frame with more deleted records, which the frame still holds; see
  // EditLayer.
  static std::shared_ptr<const Segment> WithDeleted(const Segment& segment,
                                                    std::span<const RecordRange> records);

  const Snapshot& snapshot() const { return snapshot_; }
  // Returns the fields of the log, in which all records are read.
  const Schema& schema() const { return *fields_->seen(); }
  const StoredFields& fields() const { return *fields_; }
  const Field* time_field() const { return time_; }  // null if there is none
  const LogLayer& layer() const { return layer_; }
  // Returns what was deleted, with the records that are lost; see lost_records.h.
  const EditLayer& edits() const { return *edits_; }
  const LogKeys& keys() const { return *keys_; }  // numbered as the fields of the frame are

  int64_t first_record() const { return layer_.first_record; }
  int64_t end_record() const { return layer_.first_record + nrecords_; }
  int64_t nrecords() const { return nrecords_; }
  int64_t chunk_records() const { return chunk_records_; }
  int64_t nchunks() const;
  // Returns the number of the chunk's first record.
  int64_t RecordOf(int64_t nchunk) const { return first_record() + nchunk * chunk_records_; }
  int32_t RecordsIn(int64_t nchunk) const;
  // Returns the number of a chunk, counted from the log's very first.
  int64_t Ordinal(int64_t nchunk) const { return first_record() / chunk_records_ + nchunk; }

  Rows RowsOf(int64_t nchunk) const {
    return {.chunk = nchunk, .begin = 0, .end = RecordsIn(nchunk)};
  }
  // Reads records that the segment holds.
  absl::Status ReadRecords(int64_t record, MutableBytes dst) const;
  // Reads values of one field, by index in the schema.
  absl::Status ReadField(size_t field, int64_t record, MutableBytes dst) const;
  // Reads columns of these fields, by index in the schema, into the memory of `columns`. Other
  // columns are as they were.
  absl::Status ReadColumns(const Rows& rows, std::span<const size_t> fields,
                           Columns& columns) const;
  absl::StatusOr<std::vector<int64_t>> ReadTimes(const Rows& rows) const;

  // Returns the statistics in the frame if there are any that belong to the chunk's bytes.
  // Otherwise computes them from the records.
  absl::StatusOr<ChunkStatsPtr> StatsOf(int64_t nchunk) const;
  // Computes the statistics from the records.
  absl::StatusOr<ChunkStats> ComputeStats(int64_t nchunk) const;
  // Returns the times of all chunks, with those of deleted records. Errors: kFailedPrecondition
  // without a time field.
  absl::StatusOr<const TimeIndex*> times() const;

 private:
  Segment(Snapshot snapshot, std::shared_ptr<StatsCache> cache)
      : snapshot_(std::move(snapshot)), cache_(std::move(cache)) {}
  absl::Status Init(std::string_view time_field, const Segment* before, SchemaPtr seen);
  absl::Status LoadFields(const Segment* before, SchemaPtr seen);
  absl::Status LoadEdits(const Segment* before);
  int64_t LoadTable(std::string_view name) const;

  Snapshot snapshot_;
  std::shared_ptr<StatsCache> cache_;
  std::vector<std::byte> stored_facts_;  // the vlmetalayer; empty if there is none
  std::shared_ptr<const StoredFields> fields_;
  LogLayer layer_;
  std::vector<std::byte> stored_edits_;  // the vlmetalayer; empty if there is none
  std::shared_ptr<const EditLayer> edits_;
  std::vector<RecordRange> lost_;  // as a set
  LogKeysPtr keys_;
  const Field* time_ = nullptr;  // in the schema
  int64_t nrecords_ = 0;
  int64_t chunk_records_ = 1;

  // The first chunk in each table of statistics, which is known once the table is loaded.
  mutable std::array<Lazy<int64_t>, std::size(kStatsLayers)> first_chunks_;
  mutable StatsCache own_stats_;  // for chunks without a fingerprint, such as the last
  mutable Mutex mutex_;
  // Null until it is needed. It does not change after that.
  mutable std::unique_ptr<const TimeIndex> times_ ABSL_GUARDED_BY(mutex_);
};

using SegmentPtr = std::shared_ptr<const Segment>;

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_SEGMENT_H_

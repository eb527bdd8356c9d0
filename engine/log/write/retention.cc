#include "engine/log/write/retention.h"

#include <algorithm>
#include <limits>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/log/records/record_ranges.h"
#include "engine/log/state/edit_layer.h"
#include "engine/log/state/live_records.h"

namespace cairn::log {

namespace {

int64_t RecordsOver(const LogState& state, const RetentionView& view, const Retention& retention) {
  const int64_t records =
      state.end_record() - state.first_record() - state.CountDeleted() + view.arriving;
  return std::max<int64_t>(records - retention.max_records, 0);
}

// Returns the oldest time that is kept.
int64_t OldestTime(const RetentionView& view, const Retention& retention) {
  return CheckedAdd(view.newest_time, -retention.max_age)
      .value_or(std::numeric_limits<int64_t>::min());
}

// Remembers the newest time that `find` returns for these records. Chunks and frames differ in
// their numbers of records.
template <typename Find>
absl::StatusOr<NewestTime> Remember(const RetentionView& view, int64_t first_record,
                                    int64_t nrecords, const Find& find) {
  KnownNewest& known = *view.known;
  const bool same = known.first_record == first_record && known.nrecords == nrecords;
  if (!same || known.newest.coming <= view.clock) {
    CAIRN_ASSIGN_OR_RETURN(known.newest, find());
    known.first_record = first_record;
    known.nrecords = nrecords;
  }
  return known.newest;
}

absl::StatusOr<NewestTime> NewestOfChunk(const Segment& segment, int64_t nchunk,
                                         const RetentionView& view) {
  CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment.StatsOf(nchunk));
  if (stats->max_time() <= view.clock) {
    return NewestTime{.past = stats->max_time(), .greatest = stats->max_time()};
  }
  return Remember(view, segment.RecordOf(nchunk), segment.RecordsIn(nchunk),
                  [&] { return FindNewestTime(segment, nchunk, view.clock); });
}

absl::StatusOr<NewestTime> NewestOfFrame(const Segment& segment, const RetentionView& view) {
  CAIRN_ASSIGN_OR_RETURN(const TimeIndex* const times, segment.times());
  if (times->max_before.back() <= view.clock) return FindNewestTime(segment, view.clock);
  return Remember(view, segment.first_record(), segment.nrecords(),
                  [&] { return FindNewestTime(segment, view.clock); });
}

}  // namespace

absl::StatusOr<int64_t> CountExpired(const LogState& state, const RetentionView& view,
                                     const Retention& retention, int64_t most) {
  const Segment& segment = state.newest();
  most = std::min(most, segment.nrecords() / segment.chunk_records());
  if (most == segment.nchunks()) --most;
  if (most <= 0 || retention == Retention{}) return 0;

  int64_t expired = 0;
  if (retention.max_records > 0) {
    int64_t over = RecordsOver(state, view, retention);
    if (segment.edits().deleted.empty()) {
      expired = over / segment.chunk_records();
    } else {
      for (; expired < most && over > 0; ++expired) {
        over -= segment.RecordsIn(expired) - CountDeleted(segment, segment.RowsOf(expired));
        if (over < 0) break;
      }
    }
  }
  if (retention.max_bytes > 0) {
    int64_t bytes = segment.snapshot().info().cbytes;
    int64_t dropped = 0;
    for (; dropped < most && bytes > retention.max_bytes; ++dropped) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkEntry entry, segment.snapshot().GetEntry(dropped));
      bytes -= entry.cbytes.value_or(0);
      if (bytes < retention.max_bytes) break;
    }
    expired = std::max(expired, dropped);
  }
  if (retention.max_age > 0 && segment.time_field() != nullptr) {
    // Chunks from the future are removed with the first old one after them.
    for (int64_t nchunk = expired; nchunk < most; ++nchunk) {
      CAIRN_ASSIGN_OR_RETURN(const NewestTime newest, NewestOfChunk(segment, nchunk, view));
      if (!newest.has_past()) continue;
      if (newest.past >= OldestTime(view, retention)) break;
      expired = nchunk + 1;
    }
  }
  return std::min(expired, most);
}

absl::StatusOr<bool> IsFrameExpired(const LogState& state, const RetentionView& view,
                                    const Retention& retention) {
  const Segment& oldest = *state.segments().front();
  if (oldest.nrecords() == 0) return retention != Retention{};
  if (retention.max_records > 0) {
    const int64_t over = RecordsOver(state, view, retention);
    if (over > 0 && over >= oldest.nrecords() - CountDeleted(oldest)) return true;
  }
  if (retention.max_bytes > 0) {
    int64_t bytes = -oldest.snapshot().info().cbytes;
    for (const SegmentPtr& segment : state.segments()) bytes += segment->snapshot().info().cbytes;
    if (bytes >= retention.max_bytes) return true;
  }
  if (retention.max_age <= 0 || oldest.time_field() == nullptr) return false;
  // A frame from the future is removed with the first old one after it.
  for (const SegmentPtr& segment : state.segments()) {
    if (segment == state.segments().back()) break;
    if (segment->nrecords() == 0) continue;
    CAIRN_ASSIGN_OR_RETURN(const NewestTime newest, NewestOfFrame(*segment, view));
    if (newest.has_past()) return newest.past < OldestTime(view, retention);
  }
  return false;
}

absl::Status DropChunks(int64_t nchunks, const LogState& state, LogLayer& layer, Writer& writer) {
  const int64_t nrecords = nchunks * state.newest().chunk_records();
  CAIRN_RETURN_IF_ERROR(writer.DeleteSlices(0, 0, nrecords));
  layer.first_record += nrecords;
  const EditLayer& edits = state.newest().edits();
  const bool is_edited = !edits.deleted.empty() && edits.deleted.front().begin < layer.first_record;
  if (!is_edited) return absl::OkStatus();
  const RecordRange kept = {.begin = layer.first_record, .end = state.end_record()};
  const EditLayer left = {.older_files = edits.older_files, .deleted = PartIn(edits.deleted, kept)};
  return writer.SetVlmetalayer(kEditLayer, EncodeEditLayer(left));
}

}  // namespace cairn::log

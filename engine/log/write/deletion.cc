#include "engine/log/write/deletion.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cairn/frame.h"
#include "cairn/record.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/log/query/filter.h"
#include "engine/log/query/query_run.h"
#include "engine/log/state/edit_layer.h"
#include "engine/log/state/live_records.h"
#include "engine/log/state/log_files.h"
#include "engine/log/state/record_ranges.h"
#include "engine/log/write/stats_writer.h"

namespace cairn::log {

namespace {

bool IsAlways(const TimeRange& times) {
  return times.begin == TimeRange().begin && times.end == TimeRange().end;
}

LogQuery QueryOf(const LogState& state, const LogSelection& which) {
  const Field* const time = state.newest().time_field();
  // A query reads some field, and the time is read in any case.
  const Field& field = time == nullptr ? state.schema().fields().front() : *time;
  return {.times = which.times,
          .fields = {field.name},
          .filters = which.filters,
          .order = LogOrder::kRecord};
}

// Returns a record without values.
std::vector<std::byte> BlankRecord(const Schema& schema) {
  std::vector<std::byte> record(static_cast<size_t>(schema.record_size()));
  for (const Field& field : schema.fields()) {
    std::byte* const at = record.data() + field.offset;
    if (field.type == FieldType::kTimestamp) {
      StoreLe(at, std::numeric_limits<int64_t>::min());
    } else if (field.type == FieldType::kFloat && field.size == 2) {
      StoreLe(at, uint16_t{0x7E00});
    } else if (field.type == FieldType::kFloat && field.size == 4) {
      StoreLe(at, std::numeric_limits<float>::quiet_NaN());
    } else if (field.type == FieldType::kFloat) {
      StoreLe(at, std::numeric_limits<double>::quiet_NaN());
    }
  }
  return record;
}

// Overwrites records of one chunk, except their times, by which the others are found.
absl::Status StageBlanks(const Segment& segment, std::span<const RecordRange> records,
                         Writer& writer) {
  const auto size = static_cast<size_t>(segment.schema().record_size());
  const int64_t begin = records.front().begin;
  const int64_t count = records.back().end - begin;
  std::vector<std::byte> rows(static_cast<size_t>(count) * size);
  CAIRN_RETURN_IF_ERROR(segment.ReadRecords(begin, rows));
  std::vector<std::byte> blank = BlankRecord(segment.schema());
  const Field* const time = segment.time_field();
  for (const RecordRange& range : records) {
    for (int64_t record = range.begin; record < range.end; ++record) {
      const MutableBytes row =
          MutableBytes(rows).subspan(static_cast<size_t>(record - begin) * size, size);
      if (time != nullptr) {
        const auto at = static_cast<size_t>(time->offset);
        const auto time_size = static_cast<size_t>(time->size);
        CopyBytes(row.subspan(at, time_size), MutableBytes(blank).subspan(at, time_size));
      }
      CopyBytes(blank, row);
    }
  }
  const int64_t start[] = {begin - segment.first_record()};
  const int64_t shape[] = {count};
  return writer.WriteBox(start, shape, rows);
}

// Stages the deletion of records of a frame, and `older_files` of its EditLayer. The statistics
// stay those of the stored bytes, because readers of chunks with deleted records do without them.
absl::Status StageDeletion(const Segment& segment, std::span<const RecordRange> records,
                           int64_t older_files, Writer& writer) {
  EditLayer edits = {
      .older_files = older_files,
      .deleted = PartIn(Union(segment.edits().deleted, records), NumbersOf(segment))};
  if (std::ssize(edits.deleted) > kMaxDeletedRanges) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("log: a frame can have %d ranges of deleted records, this would make %d",
                        kMaxDeletedRanges, edits.deleted.size()));
  }
  std::vector<int64_t> chunks;
  for (const RecordRange& range : records) {
    const auto chunk_of = [&](int64_t record) {
      return (record - segment.first_record()) / segment.chunk_records();
    };
    for (int64_t n = chunk_of(range.begin); n <= chunk_of(range.end - 1); ++n) {
      if (chunks.empty() || chunks.back() != n) chunks.push_back(n);
    }
  }
  for (const int64_t n : chunks) {
    const int64_t first = segment.RecordOf(n);
    const std::vector<RecordRange> here =
        PartIn(records, {.begin = first, .end = first + segment.RecordsIn(n)});
    CAIRN_RETURN_IF_ERROR(StageBlanks(segment, here, writer));
  }
  CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(kEditLayer, EncodeEditLayer(edits)));
  if (chunks.empty()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, writer.StagedSnapshot());
  CAIRN_ASSIGN_OR_RETURN(
      const SegmentPtr staged,
      Segment::Load(snapshot, segment.time_field() == nullptr ? "" : segment.time_field()->name,
                    &segment));
  return ReplaceStats(*staged, chunks, writer);
}

// Deletes records of the files before the newest.
absl::Status DeleteInOlderFiles(const DeletingWriter& log, std::span<const RecordRange> records) {
  constexpr std::chrono::milliseconds kWait(1000);  // for a program that compacts the file
  const std::string& time_field = log.log.time_field();
  std::vector<SegmentPtr> segments = log.state->segments();
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    const std::vector<RecordRange> here = PartIn(records, NumbersOf(*segments[i]));
    if (here.empty()) continue;
    const int64_t number = log.file - static_cast<int64_t>(segments.size() - 1 - i);
    CAIRN_ASSIGN_OR_RETURN(Frame frame,
                           Frame::Open(FileOf(log.log.path(), number).path, log.log.options()));
    CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter({.wait = kWait}));
    CAIRN_ASSIGN_OR_RETURN(const SegmentPtr newest,
                           Segment::Load(frame.snapshot(), time_field, segments[i].get()));
    CAIRN_RETURN_IF_ERROR(StageDeletion(*newest, here, newest->edits().older_files, writer));
    CAIRN_RETURN_IF_ERROR(writer.Commit().status());
    CAIRN_RETURN_IF_ERROR(writer.Close());
    CAIRN_ASSIGN_OR_RETURN(segments[i], Segment::Load(frame.snapshot(), time_field, newest.get()));
    log.state = std::make_shared<const LogState>(segments);
  }
  return absl::OkStatus();
}

// Commits the deletion of records of the newest file, with this number in its EditLayer. A refusal
// leaves nothing staged.
absl::Status DeleteInNewest(const DeletingWriter& log, std::span<const RecordRange> records,
                            int64_t older_files) {
  absl::Status status = StageDeletion(log.state->newest(), records, older_files, log.writer);
  const bool staged = status.ok();
  if (staged) status = log.commit();
  if (!staged || absl::IsResourceExhausted(status)) log.writer.Rollback();
  return status;
}

}  // namespace

absl::Status CheckSelection(const LogState& state, const LogSelection& which) {
  CAIRN_RETURN_IF_ERROR(Filter::Make(state.schema(), {}, which.filters).status());
  return IsAlways(which.times) ? absl::OkStatus() : state.NeedTime().status();
}

absl::StatusOr<std::vector<RecordRange>> FindSelected(const LogStatePtr& state,
                                                      const LogSelection& which) {
  std::vector<RecordRange> found;
  if (IsAlways(which.times) && which.filters.empty()) {
    AddRange(found, {.begin = std::max(which.records.begin, state->first_record()),
                     .end = std::min(which.records.end, state->end_record())});
    return Difference(found, state->Deleted());
  }
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<QueryRun> run,
                         QueryRun::Make(state, QueryOf(*state, which)));
  while (true) {
    CAIRN_ASSIGN_OR_RETURN(const LogBatch batch, run->Next());
    if (batch.size() == 0) return PartIn(found, which.records);
    for (const int64_t record : batch.records) {
      AddRange(found, {.begin = record, .end = record + 1});
    }
  }
}

absl::StatusOr<int64_t> DeleteSelected(const DeletingWriter& log, const LogSelection& which) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<RecordRange> found, FindSelected(log.state, which));
  if (found.empty()) return 0;
  // A reader looks at the older files while this number changes or is odd.
  int64_t older_files = log.state->newest().edits().older_files;
  absl::Status status;
  if (found.front().begin < log.state->newest().first_record()) {
    older_files |= 1;
    CAIRN_RETURN_IF_ERROR(DeleteInNewest(log, {}, older_files));
    status = DeleteInOlderFiles(log, found);
    ++older_files;
  }
  std::vector<RecordRange> here;
  if (status.ok()) here = PartIn(found, NumbersOf(log.state->newest()));
  const absl::Status last = DeleteInNewest(log, here, older_files);
  CAIRN_RETURN_IF_ERROR(status);
  CAIRN_RETURN_IF_ERROR(last);
  return CountAll(found);
}

absl::StatusOr<bool> StageMend(const Segment& newest, Writer& writer) {
  const EditLayer& edits = newest.edits();
  const bool is_halfway = edits.older_files % 2 != 0;
  if (!is_halfway && PartIn(edits.deleted, NumbersOf(newest)) == edits.deleted) return false;
  CAIRN_RETURN_IF_ERROR(
      StageDeletion(newest, {}, edits.older_files + (is_halfway ? 1 : 0), writer));
  return true;
}

}  // namespace cairn::log

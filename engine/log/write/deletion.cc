#include "engine/log/write/deletion.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cairn/frame.h"
#include "cairn/record.h"
#include "engine/base/status.h"
#include "engine/log/query/filter.h"
#include "engine/log/query/query_run.h"
#include "engine/log/records/lost_records.h"
#include "engine/log/records/record_ranges.h"
#include "engine/log/state/blank_records.h"
#include "engine/log/state/edit_layer.h"
#include "engine/log/state/live_records.h"
#include "engine/log/state/log_files.h"
#include "engine/log/state/stored_fields.h"
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

// Overwrites records of one chunk, except their times, by which the others are found.
absl::Status StageBlanks(const Segment& segment, std::span<const RecordRange> records,
                         Writer& writer) {
  const auto size = static_cast<size_t>(segment.schema().record_size());
  const int64_t begin = records.front().begin;
  const int64_t count = records.back().end - begin;
  std::vector<std::byte> rows(static_cast<size_t>(count) * size);
  CAIRN_RETURN_IF_ERROR(segment.ReadRecords(begin, rows));
  BlankRecords(segment, records, begin, rows);
  const int64_t start[] = {begin - segment.first_record()};
  const int64_t shape[] = {count};
  return writer.WriteBox(start, shape, rows);
}

// Stages the deletion of records of a frame, and the EditLayer that it gets. The statistics stay
// those of the stored bytes, because readers of chunks with deleted records do without them.
absl::Status StageDeletion(const Segment& segment, std::span<const RecordRange> records,
                           const EditLayer& edits, Writer& writer) {
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

// Deletes records of the files before the newest. Waits this long for a program that compacts one.
absl::Status DeleteInOlderFiles(const DeletingWriter& log, std::span<const RecordRange> records,
                                std::chrono::milliseconds wait) {
  const std::string& time_field = log.log.time_field();
  std::vector<SegmentPtr> segments = log.state->segments();
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    const std::vector<RecordRange> here = PartIn(records, NumbersOf(*segments[i]));
    if (here.empty()) continue;
    const int64_t number = log.file - static_cast<int64_t>(segments.size() - 1 - i);
    CAIRN_ASSIGN_OR_RETURN(Frame frame,
                           Frame::Open(FileOf(log.log.path(), number).path, log.log.options()));
    CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter({.wait = wait}));
    // The file may lack fields of the log, so it is changed as it stores its records.
    CAIRN_ASSIGN_OR_RETURN(const SegmentPtr newest,
                           Segment::Load(frame.snapshot(), time_field, nullptr));
    const EditLayer edits = {
        .older_files = newest->edits().older_files,
        .deleted = PartIn(Union(newest->edits().deleted, here), NumbersOf(*newest))};
    CAIRN_RETURN_IF_ERROR(StageDeletion(*newest, here, edits, writer));
    CAIRN_RETURN_IF_ERROR(writer.Commit().status());
    CAIRN_RETURN_IF_ERROR(writer.Close());
    CAIRN_ASSIGN_OR_RETURN(segments[i],
                           Segment::Load(frame.snapshot(), time_field, segments[i].get()));
    log.state = std::make_shared<const LogState>(segments);
  }
  return absl::OkStatus();
}

// Makes durable what a writer that died has deleted in older files.
absl::Status SyncOlderFiles(const DeletingWriter& log) {
  const std::vector<SegmentPtr>& segments = log.state->segments();
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    if (segments[i]->edits().deleted.empty()) continue;
    const int64_t number = log.file - static_cast<int64_t>(segments.size() - 1 - i);
    CAIRN_ASSIGN_OR_RETURN(Frame frame,
                           Frame::Open(FileOf(log.log.path(), number).path, log.log.options()));
    CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
    CAIRN_RETURN_IF_ERROR(writer.Commit(Durability::kMachine).status());
    CAIRN_RETURN_IF_ERROR(writer.Close());
  }
  return absl::OkStatus();
}

// Commits the deletion of records of the newest file, the EditLayer that it gets, and what `stage`
// stages. A refusal leaves nothing staged.
absl::Status ChangeNewest(const DeletingWriter& log, std::span<const RecordRange> records,
                          const EditLayer& edits, Durability durability,
                          const std::function<absl::Status()>& stage = nullptr) {
  const Segment& newest = log.state->newest();
  absl::Status status;
  if (edits != newest.edits()) status = StageDeletion(newest, records, edits, log.writer);
  if (status.ok() && stage != nullptr) status = stage();
  const bool staged = status.ok();
  if (staged) status = log.commit(durability);
  if (!staged || absl::IsResourceExhausted(status)) log.writer.Rollback();
  return status;
}

}  // namespace

absl::Status CheckSelection(const LogState& state, const LogSelection& which) {
  CAIRN_RETURN_IF_ERROR(Filter::Make(state, {}, which.filters).status());
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
  EditLayer edits = log.state->newest().edits();
  absl::Status status;
  if (found.front().begin < log.state->newest().first_record()) {
    // A reader looks at the older files while this number changes or is odd.
    edits.older_files |= 1;
    CAIRN_RETURN_IF_ERROR(ChangeNewest(log, {}, edits, Durability::kMachine));
    status = DeleteInOlderFiles(log, found, std::chrono::seconds(1));
    ++edits.older_files;
  }
  std::vector<RecordRange> here;
  if (status.ok()) here = PartIn(found, NumbersOf(log.state->newest()));
  edits.deleted = Union(edits.deleted, here);
  const absl::Status last = ChangeNewest(log, here, edits, Durability::kMachine);
  CAIRN_RETURN_IF_ERROR(status);
  CAIRN_RETURN_IF_ERROR(last);
  return CountAll(found);
}

absl::Status ReplaceRecords(const DeletingWriter& log, std::span<const RecordRange> records,
                            const std::function<absl::Status()>& stage, Durability durability) {
  const Segment& newest = log.state->newest();
  const bool in_older = !records.empty() && records.front().begin < newest.first_record();
  // Older files lose records only once those that replace them are sure to stay.
  if (in_older) durability = Durability::kMachine;
  EditLayer edits = newest.edits();
  edits.deleted = Union(edits.deleted, records);
  CAIRN_RETURN_IF_ERROR(
      ChangeNewest(log, PartIn(records, NumbersOf(newest)), edits, durability, stage));
  if (!in_older) return absl::OkStatus();
  const absl::Status finished = FinishDeletions(log);
  return absl::IsResourceExhausted(finished) ? absl::OkStatus() : finished;
}

absl::Status DeleteLost(const DeletingWriter& log) {
  const Segment& newest = log.state->newest();
  CAIRN_ASSIGN_OR_RETURN(const std::vector<RecordRange> lost,
                         FindLostRecords(newest.snapshot(), newest.first_record(),
                                         newest.chunk_records(), newest.nrecords()));
  if (lost.empty()) return absl::OkStatus();
  absl::Status status = StageDeletion(newest, lost, newest.edits(), log.writer);
  if (status.ok()) status = log.writer.DeleteVlmetalayer(kLostLayer);
  if (status.ok()) return log.commit(Durability::kMachine);
  log.writer.Rollback();
  return status;
}

absl::Status FinishDeletions(const DeletingWriter& log) {
  EditLayer edits = log.state->newest().edits();
  const std::vector<RecordRange> in_older = OverwrittenLater(log.state->newest());
  if (!in_older.empty()) {
    constexpr std::chrono::milliseconds kNoWait(0);  // since this is tried again
    if (!DeleteInOlderFiles(log, in_older, kNoWait).ok()) return absl::OkStatus();
  }
  edits.deleted = PartIn(edits.deleted, NumbersOf(log.state->newest()));
  const bool is_halfway = edits.older_files % 2 != 0;
  if (is_halfway && !SyncOlderFiles(log).ok()) return absl::OkStatus();
  edits.older_files += is_halfway ? 1 : in_older.empty() ? 0 : 2;
  if (edits == log.state->newest().edits()) return absl::OkStatus();
  return ChangeNewest(log, {}, edits, Durability::kMachine);
}

}  // namespace cairn::log

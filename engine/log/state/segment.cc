#include "engine/log/state/segment.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/log/keys/lost_keys.h"
#include "engine/log/records/lost_records.h"
#include "engine/log/records/record_ranges.h"
#include "engine/log/stats/buckets.h"
#include "engine/log/stats/stats_table.h"

namespace cairn::log {

ChunkStatsPtr StatsCache::Find(int64_t chunk, uint64_t fingerprint) const {
  const MutexLock lock(mutex_);
  const auto found = rows_.find(chunk);
  const bool same = found != rows_.end() && found->second->fingerprint == fingerprint;
  return same ? found->second : nullptr;
}

void StatsCache::Add(int64_t chunk, ChunkStatsPtr stats) {
  const MutexLock lock(mutex_);
  rows_.insert_or_assign(chunk, std::move(stats));
}

void StatsCache::DropBefore(int64_t chunk) {
  const MutexLock lock(mutex_);
  absl::erase_if(rows_, [chunk](const auto& row) { return row.first < chunk; });
}

namespace {

absl::StatusOr<SchemaPtr> SchemaOf(const Snapshot& snapshot, const std::vector<FieldFact>& facts) {
  CAIRN_ASSIGN_OR_RETURN(Schema schema,
                         Schema::FromDtype(snapshot.array()->dtype, snapshot.info().typesize));
  std::vector<std::string> texts;
  for (const FieldFact& fact : facts) {
    if (fact.is_text) texts.push_back(fact.name);
  }
  absl::StatusOr<Schema> with_texts = schema.WithTexts(texts);
  if (!with_texts.ok()) return DataLoss("log: fields: %s", with_texts.status().message());
  return std::make_shared<const Schema>(*std::move(with_texts));
}

// Returns the time field of this name, or without a name the first timestamp if there is one.
absl::StatusOr<const Field*> FindTimeField(const Schema& schema, std::string_view name) {
  if (name.empty()) {
    const auto found = std::ranges::find(schema.fields(), FieldType::kTimestamp, &Field::type);
    return found != schema.fields().end() ? &*found : nullptr;
  }
  const Field* const time = schema.Find(name);
  if (time == nullptr) return NotFound("log: no field '%s'", name);
  if (CanBeTime(*time)) return time;
  return InvalidArgument("log: field '%s' cannot be the time: expected a timestamp or an integer",
                         name);
}

// Checks that all codes of a field of the frame have a text.
absl::Status CheckTexts(const StoredFields& fields, const LogKeys& keys, const Field& stored,
                        Bytes column) {
  if (stored.type != FieldType::kText) return absl::OkStatus();
  const Schema& schema = *fields.stored();
  const size_t key = KeyNumber(schema, static_cast<size_t>(&stored - schema.fields().data()));
  return CheckCodes(stored, *keys.texts(key), column);
}

}  // namespace

absl::StatusOr<SegmentPtr> Segment::Load(Snapshot snapshot, std::string_view time_field,
                                         const Segment* before, SchemaPtr seen) {
  std::shared_ptr<Segment> segment(new Segment(
      std::move(snapshot), before == nullptr ? std::make_shared<StatsCache>() : before->cache_));
  CAIRN_RETURN_IF_ERROR(segment->Init(time_field, before, std::move(seen)));
  return segment;
}

SegmentPtr Segment::WithDeleted(const Segment& segment, std::span<const RecordRange> records) {
  std::shared_ptr<Segment> changed(new Segment(segment.snapshot_, segment.cache_));
  changed->fields_ = segment.fields_;
  changed->stored_facts_ = segment.stored_facts_;
  changed->keys_ = segment.keys_;
  changed->layer_ = segment.layer_;
  changed->lost_ = segment.lost_;
  changed->time_ = segment.time_;
  changed->nrecords_ = segment.nrecords_;
  changed->chunk_records_ = segment.chunk_records_;
  // `stored_edits_` stays empty, so that the next state of the frame does not take these over.
  changed->edits_ = std::make_shared<const EditLayer>(
      EditLayer{.older_files = segment.edits().older_files,
                .deleted = Union(segment.edits().deleted, records)});
  return changed;
}

// Finds out how the frame stores the fields.
absl::Status Segment::LoadFields(const Segment* before, SchemaPtr seen) {
  const std::optional<ArrayInfo>& array = snapshot_.array();
  if (snapshot_.HasVlmetalayer(kFieldLayer)) {
    CAIRN_ASSIGN_OR_RETURN(stored_facts_, snapshot_.GetVlmetalayer(kFieldLayer));
  }
  const bool is_same = before != nullptr && before->snapshot_.array()->dtype == array->dtype &&
                       before->snapshot_.info().typesize == snapshot_.info().typesize &&
                       before->stored_facts_ == stored_facts_;
  if (is_same && (seen == nullptr || seen == before->fields_->seen())) {
    fields_ = before->fields_;
    return absl::OkStatus();
  }
  cache_ = std::make_shared<StatsCache>();  // the statistics are those of the fields
  std::vector<FieldFact> facts;
  if (!stored_facts_.empty()) {
    CAIRN_ASSIGN_OR_RETURN(facts, ParseFieldLayer(stored_facts_));
  }
  SchemaPtr stored;
  if (is_same) {
    stored = before->fields_->stored();
  } else {
    CAIRN_ASSIGN_OR_RETURN(stored, SchemaOf(snapshot_, facts));
  }
  if (seen == nullptr) seen = stored;
  CAIRN_ASSIGN_OR_RETURN(fields_, StoredFields::Make(std::move(stored), facts, std::move(seen)));
  return absl::OkStatus();
}

absl::Status Segment::Init(std::string_view time_field, const Segment* before, SchemaPtr seen) {
  const std::optional<ArrayInfo>& array = snapshot_.array();
  if (!array.has_value() || array->shape.size() != 1 || array->dtype.empty()) {
    return FailedPrecondition("not a log: its items are not records in one dimension");
  }
  if (array->chunkshape[0] <= 0) return DataLoss("log: chunks of %d records", array->chunkshape[0]);
  CAIRN_RETURN_IF_ERROR(LoadFields(before, std::move(seen)));
  // Another file may have other texts.
  const bool is_same_file = before != nullptr && before->snapshot_.file() == snapshot_.file();
  CAIRN_ASSIGN_OR_RETURN(
      keys_, LogKeys::Load(snapshot_, *fields_->stored(), is_same_file ? before->keys_ : nullptr));
  nrecords_ = array->shape[0];
  chunk_records_ = array->chunkshape[0];
  const int64_t chunk_items = snapshot_.info().chunksize.value_or(0) / snapshot_.info().typesize;
  if (nrecords_ > 0 && chunk_items < chunk_records_) {
    return DataLoss("log: chunks of %d items for %d records", chunk_items, chunk_records_);
  }
  // Reading nothing checks that the shape is that of the chunks, which all later calls rely on.
  constexpr int64_t kNothing[] = {0};
  CAIRN_RETURN_IF_ERROR(snapshot_.ReadBox(kNothing, kNothing, MutableBytes()));
  const absl::StatusOr<std::vector<std::byte>> layer = snapshot_.GetVlmetalayer(kLogLayer);
  if (layer.ok()) {
    CAIRN_ASSIGN_OR_RETURN(layer_, ParseLogLayer(*layer));
  } else if (!absl::IsNotFound(layer.status())) {
    return layer.status();
  }
  if (!CheckedAdd(layer_.first_record, nrecords_).has_value()) {
    return DataLoss("log: %d records from number %d on", nrecords_, layer_.first_record);
  }
  CAIRN_RETURN_IF_ERROR(LoadEdits(before));
  CAIRN_ASSIGN_OR_RETURN(keys_, CompleteKeys({.snapshot = snapshot_,
                                              .schema = *fields_->stored(),
                                              .deleted = edits_->deleted,
                                              .first = first_record(),
                                              .count = nrecords_,
                                              .chunk_records = chunk_records_},
                                             keys_, is_same_file ? before->keys_ : nullptr));
  if (before != nullptr && before->Ordinal(0) < Ordinal(0)) cache_->DropBefore(Ordinal(0));
  CAIRN_ASSIGN_OR_RETURN(
      time_, FindTimeField(schema(),
                           time_field.empty() ? std::string_view(layer_.time_field) : time_field));
  return absl::OkStatus();
}

absl::Status Segment::LoadEdits(const Segment* before) {
  static const auto* const kNone = new auto(std::make_shared<const EditLayer>());
  edits_ = *kNone;
  if (snapshot_.HasVlmetalayer(kEditLayer)) {
    CAIRN_ASSIGN_OR_RETURN(stored_edits_, snapshot_.GetVlmetalayer(kEditLayer));
    if (before != nullptr && before->stored_edits_ == stored_edits_) {
      edits_ = before->edits_;
    } else {
      CAIRN_ASSIGN_OR_RETURN(EditLayer edits, ParseEditLayer(stored_edits_));
      edits_ = std::make_shared<const EditLayer>(std::move(edits));
    }
  }
  CAIRN_ASSIGN_OR_RETURN(
      lost_, FindLostRecords(snapshot_, layer_.first_record, chunk_records_, nrecords_));
  if (lost_.empty()) return absl::OkStatus();
  edits_ = std::make_shared<const EditLayer>(
      EditLayer{.older_files = edits_->older_files, .deleted = Union(edits_->deleted, lost_)});
  return absl::OkStatus();
}

int64_t Segment::nchunks() const { return CeilDiv(nrecords_, chunk_records_); }

int32_t Segment::RecordsIn(int64_t nchunk) const {
  return static_cast<int32_t>(std::min(chunk_records_, nrecords_ - nchunk * chunk_records_));
}

absl::Status Segment::ReadRecords(int64_t record, MutableBytes dst) const {
  const int64_t count = static_cast<int64_t>(dst.size()) / schema().record_size();
  const int32_t stored_size = fields_->stored()->record_size();
  const auto read = [&](MutableBytes records) {
    if (lost_.empty()) {
      const int64_t start[] = {record - first_record()};
      const int64_t shape[] = {count};
      return snapshot_.ReadBox(start, shape, records);
    }
    const FieldSpan whole[] = {{.offset = 0, .size = stored_size, .dst = records}};
    return ReadWithout(lost_, snapshot_, first_record(), record, count, whole);
  };
  if (fields_->is_plain()) return read(dst);
  std::vector<std::byte> stored(static_cast<size_t>(count * stored_size));
  CAIRN_RETURN_IF_ERROR(read(stored));
  fields_->Convert(stored, dst);
  return absl::OkStatus();
}

absl::Status Segment::ReadField(size_t field, int64_t record, MutableBytes dst) const {
  const auto size = static_cast<size_t>(schema().fields()[field].size);
  const Field* const stored = fields_->Stored(field);
  if (stored == nullptr) {
    const std::vector<std::byte> none = NoValue(schema().fields()[field]);
    for (; !dst.empty(); dst = dst.subspan(size)) CopyBytes(none, dst.first(size));
    return absl::OkStatus();
  }
  const FieldSpan span = {.offset = stored->offset, .size = stored->size, .dst = dst};
  CAIRN_RETURN_IF_ERROR(ReadWithout(lost_, snapshot_, first_record(), record,
                                    static_cast<int64_t>(dst.size() / size), std::span(&span, 1)));
  return CheckTexts(*fields_, *keys_, *stored, dst);
}

absl::Status Segment::ReadColumns(const Rows& rows, std::span<const size_t> fields,
                                  Columns& columns) const {
  columns.nrecords = rows.size();
  columns.fields.resize(schema().fields().size());
  columns.absent.clear();
  const int64_t record = RecordOf(rows.chunk) + rows.begin;
  std::vector<FieldSpan> spans;
  for (size_t n = 0; n < fields.size(); ++n) {
    const size_t i = fields[n];
    if (std::ranges::count(fields.first(n), i) > 0) continue;
    const Field& field = schema().fields()[i];
    std::vector<std::byte>& column = columns.fields[i];
    column.resize(static_cast<size_t>(rows.size()) * static_cast<size_t>(field.size));
    if (fields_->Begin(i) > record) {
      columns.absent.resize(columns.fields.size());
      columns.absent[i] = std::min<int64_t>(fields_->Begin(i) - record, rows.size());
    }
    if (const Field* const stored = fields_->Stored(i)) {
      spans.push_back({.offset = stored->offset, .size = stored->size, .dst = column});
    } else {
      CAIRN_RETURN_IF_ERROR(ReadField(i, record, column));
    }
  }
  CAIRN_RETURN_IF_ERROR(ReadWithout(lost_, snapshot_, first_record(), record, rows.size(), spans));
  for (const size_t i : fields) {
    const Field* const stored = fields_->Stored(i);
    if (stored != nullptr)
      CAIRN_RETURN_IF_ERROR(CheckTexts(*fields_, *keys_, *stored, columns.fields[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> Segment::ReadTimes(const Rows& rows) const {
  std::vector<std::byte> column(static_cast<size_t>(rows.size()) *
                                static_cast<size_t>(time_->size));
  const auto field = static_cast<size_t>(time_ - schema().fields().data());
  CAIRN_RETURN_IF_ERROR(ReadField(field, RecordOf(rows.chunk) + rows.begin, column));
  return TimesOf(*time_, column);
}

absl::StatusOr<ChunkStats> Segment::ComputeStats(int64_t nchunk) const {
  std::vector<size_t> all(schema().fields().size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  Columns columns;
  CAIRN_RETURN_IF_ERROR(ReadColumns(RowsOf(nchunk), all, columns));
  return MakeStats(schema(), time_, columns);
}

// Returns the number of the first chunk that a table has, or the greatest number. A table that does
// not parse counts as missing, because the records hold the same facts.
int64_t Segment::LoadTable(std::string_view name) const {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const absl::StatusOr<std::vector<std::byte>> content = snapshot_.GetVlmetalayer(name);
  if (!content.ok()) return kNone;
  const Schema& stored = *fields_->stored();
  const absl::StatusOr<StatsTable> table = ParseStatsTable(stored, *content);
  if (!table.ok()) return kNone;
  absl::StatusOr<std::vector<ChunkStats>> rows = DecodeRows(stored, *table, chunk_records_);
  if (!rows.ok()) return kNone;
  for (size_t i = 0; i < rows->size(); ++i) {
    const int64_t chunk = table->first + static_cast<int64_t>(i);
    if (chunk < Ordinal(0)) continue;
    ChunkStats& row = (*rows)[i];
    if (!fields_->is_plain()) row = fields_->Convert(std::move(row));
    cache_->Add(chunk, std::make_shared<const ChunkStats>(std::move(row)));
  }
  return table->first;
}

absl::StatusOr<ChunkStatsPtr> Segment::StatsOf(int64_t nchunk) const {
  const bool complete = RecordsIn(nchunk) == chunk_records_;
  uint64_t fingerprint = 0;
  if (complete) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkEntry entry, snapshot_.GetEntry(nchunk));
    fingerprint = entry.fingerprint.value_or(0);
  }
  // Without a fingerprint nothing tells whether another state has the same bytes of a chunk.
  StatsCache& cache = fingerprint == 0 ? own_stats_ : *cache_;
  if (ChunkStatsPtr found = cache.Find(Ordinal(nchunk), fingerprint)) return found;
  if (fingerprint != 0) {
    // The chunks that a new state brings are in the first table.
    for (size_t i = 0; i < std::size(kStatsLayers); ++i) {
      const int64_t first = first_chunks_[i].Get([&] { return LoadTable(kStatsLayers[i]); });
      if (Ordinal(nchunk) >= first) break;
    }
    if (ChunkStatsPtr found = cache.Find(Ordinal(nchunk), fingerprint)) return found;
  }
  CAIRN_ASSIGN_OR_RETURN(ChunkStats stats, ComputeStats(nchunk));
  stats.fingerprint = fingerprint;
  auto computed = std::make_shared<const ChunkStats>(std::move(stats));
  cache.Add(Ordinal(nchunk), computed);
  return computed;
}

absl::StatusOr<const TimeIndex*> Segment::times() const {
  if (time_ == nullptr) return FailedPrecondition("log: its records have no time field");
  const MutexLock lock(mutex_);
  if (times_ == nullptr) {
    std::vector<int64_t> min_times;
    std::vector<int64_t> max_times;
    for (int64_t i = 0; i < nchunks(); ++i) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, StatsOf(i));
      min_times.push_back(stats->min_time());
      max_times.push_back(stats->max_time());
    }
    times_ = std::make_unique<const TimeIndex>(std::move(min_times), std::move(max_times));
  }
  return times_.get();
}

}  // namespace cairn::log

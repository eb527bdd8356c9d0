#include "engine/log/write/upsertion.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/log/state/live_records.h"
#include "engine/log/state/time_index.h"
#include "engine/log/write/record_buffer.h"

namespace cairn::log {

std::vector<std::string> KeyOf(const Schema& schema, const UpsertOptions& options) {
  std::vector<std::string> key = options.key;
  if (!key.empty() || options.time_only) return key;
  for (const Field& field : schema.fields()) {
    if (field.type == FieldType::kText) key.push_back(field.name);
  }
  return key;
}

absl::StatusOr<Upsertion> Upsertion::Make(const LogState& state, std::span<const std::string> key,
                                          Bytes records) {
  Upsertion made;
  CAIRN_ASSIGN_OR_RETURN(const Field* const time, state.NeedTime());
  made.key_.push_back(*time);
  for (const std::string& name : key) {
    const Field* const field = state.schema().Find(name);
    if (field == nullptr) return NotFound("log: no field '%s'", name);
    if (field->type == FieldType::kFloat) {
      return InvalidArgument(
          "log: key: expected integers, booleans, timestamps, bytes or texts, '%s' has floats",
          name);
    }
    made.key_.push_back(*field);
  }
  RecordBuffer sorted(state.schema().record_size(), time);
  CAIRN_RETURN_IF_ERROR(sorted.Add(records));
  const std::vector<std::byte> all = sorted.Take(0);
  made.record_size_ = static_cast<size_t>(state.schema().record_size());
  absl::flat_hash_map<std::string, size_t> last;
  for (size_t at = 0; at < all.size(); at += made.record_size_) {
    last.insert_or_assign(made.KeyOf(all.data() + at), at);
  }
  std::vector<size_t> kept;
  kept.reserve(last.size());
  for (const auto& [_, at] : last) kept.push_back(at);
  std::ranges::sort(kept);
  made.records_.reserve(kept.size() * made.record_size_);
  for (const size_t at : kept) {
    const Bytes record = Bytes(all).subspan(at, made.record_size_);
    made.records_.insert(made.records_.end(), record.begin(), record.end());
  }
  return made;
}

std::string Upsertion::KeyOf(const std::byte* record) const {
  std::string key;
  for (const Field& field : key_) {
    const std::byte* const at = record + field.offset;
    if (field.type == FieldType::kBool) {
      key.push_back(*at == std::byte{0} ? '\0' : '\1');
    } else {
      key.append(reinterpret_cast<const char*>(at), static_cast<size_t>(field.size));
    }
  }
  return key;
}

// Goes through the chunks that may have records of these keys, in the order of their numbers.
class Upsertion::Search {
 public:
  Search(const Upsertion& upsertion, Bytes records)
      : upsertion_(upsertion),
        size_(upsertion.record_size_),
        records_(records),
        times_(TimesOfRecords(upsertion.key_.front(), size_, records)),
        fates_(times_.size()) {
    by_key_.reserve(times_.size());
    for (size_t i = 0; i < times_.size(); ++i) {
      by_key_.emplace(upsertion.KeyOf(Record(i).data()), i);
    }
  }

  absl::Status LookIn(const Segment& segment) {
    if (segment.nrecords() == 0) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const TimeIndex* const index, segment.times());
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const int64_t last = times_.back();
    const TimeRange range = {.begin = times_.front(), .end = last == kMost ? last : last + 1};
    for (int64_t n = index->NextChunkIn(range, 0); n < segment.nchunks();
         n = index->NextChunkIn(range, n + 1)) {
      const auto at = static_cast<size_t>(n);
      const auto next = std::ranges::lower_bound(times_, index->min_time[at]);
      if (next == times_.end() || *next > index->max_time[at]) continue;
      CAIRN_RETURN_IF_ERROR(LookInChunk(segment, n));
    }
    return absl::OkStatus();
  }

  Matches Take(UpsertReport& report) && {
    for (size_t i = 0; i < fates_.size(); ++i) {
      const Fate& fate = fates_[i];
      ++(fate.replaces ? report.replaced : fate.stays ? report.unchanged : report.inserted);
      if (fate.stays) continue;
      found_.arriving.insert(found_.arriving.end(), Record(i).begin(), Record(i).end());
    }
    for (const RecordRange& range : found_.replaced) report.removed += range.end - range.begin;
    return std::move(found_);
  }

 private:
  // Says what becomes of a record.
  struct Fate {
    bool stays = false;     // the log holds a record with the same bytes, which stays
    bool replaces = false;  // others of its key are deleted
  };

  Bytes Record(size_t i) const { return records_.subspan(i * size_, size_); }

  absl::Status LookInChunk(const Segment& segment, int64_t nchunk) {
    const Rows rows = segment.RowsOf(nchunk);
    CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> times, segment.ReadTimes(rows));
    std::vector<uint8_t> chosen(times.size());
    for (size_t i = 0; i < times.size(); ++i) {
      chosen[i] = std::ranges::binary_search(times_, times[i]);
    }
    LeaveOutDeleted(segment, rows, chosen);
    const auto first = std::ranges::find(chosen, 1) - chosen.begin();
    if (first == std::ssize(chosen)) return absl::OkStatus();
    const auto last = std::find(chosen.rbegin(), chosen.rend(), 1).base() - chosen.begin();
    std::vector<std::byte> old(static_cast<size_t>(last - first) * size_);
    CAIRN_RETURN_IF_ERROR(segment.ReadRecords(segment.RecordOf(nchunk) + first, old));
    for (auto i = first; i < last; ++i) {
      if (chosen[static_cast<size_t>(i)] == 0) continue;
      Look(segment.RecordOf(nchunk) + i,
           Bytes(old).subspan(static_cast<size_t>(i - first) * size_, size_));
    }
    return absl::OkStatus();
  }

  // Decides about a record of the log.
  void Look(int64_t number, Bytes record) {
    const auto found = by_key_.find(upsertion_.KeyOf(record.data()));
    if (found == by_key_.end()) return;
    Fate& fate = fates_[found->second];
    if (!fate.stays && std::ranges::equal(record, Record(found->second))) {
      fate.stays = true;
    } else {
      fate.replaces = true;
      AddRange(found_.replaced, {.begin = number, .end = number + 1});
    }
  }

  const Upsertion& upsertion_;
  const size_t size_;
  const Bytes records_;
  const std::vector<int64_t> times_;  // of the records, in order
  std::vector<Fate> fates_;           // of each record
  absl::flat_hash_map<std::string, size_t> by_key_;
  Matches found_;
};

absl::StatusOr<Matches> Upsertion::Find(const LogState& state, Bytes some,
                                        UpsertReport& report) const {
  if (some.empty()) return Matches{};
  Search search(*this, some);
  for (const SegmentPtr& segment : state.segments()) {
    CAIRN_RETURN_IF_ERROR(search.LookIn(*segment));
  }
  return std::move(search).Take(report);
}

}  // namespace cairn::log

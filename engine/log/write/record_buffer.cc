#include "engine/log/write/record_buffer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/log/state/newest_time.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

std::vector<int64_t> TimesOfRecords(const Field& time, size_t record_size, Bytes records) {
  std::vector<int64_t> times(records.size() / record_size);
  VisitLoader(time, [&](const auto& load) {
    const std::byte* at = records.data() + time.offset;
    for (size_t i = 0; i < times.size(); ++i) {
      times[i] = static_cast<int64_t>(load(at + i * record_size));
    }
  });
  return times;
}

RecordBuffer::RecordBuffer(int32_t record_size, const Field* time)
    : record_size_(static_cast<size_t>(record_size)) {
  if (time != nullptr) time_ = *time;
}

absl::Status RecordBuffer::Add(Bytes records) {
  if (records.size() % record_size_ != 0) {
    return InvalidArgument("log: size %d is not a multiple of the record size %d", records.size(),
                           record_size_);
  }
  if (time_.has_value()) {
    const std::vector<int64_t> times = TimesOfRecords(*time_, record_size_, records);
    if (time_->type == FieldType::kTimestamp) {
      const auto none = std::ranges::find(times, kNoTime);
      if (none != times.end()) {
        return InvalidArgument("log: record %d of %d has no time (NaT)", none - times.begin(),
                               times.size());
      }
    }
    if (times.empty()) return absl::OkStatus();
    in_order_ = (records_.empty() || (in_order_ && times.front() >= last_)) &&
                std::ranges::is_sorted(times);
    last_ = times.back();
  }
  records_.insert(records_.end(), records.begin(), records.end());
  return absl::OkStatus();
}

void RecordBuffer::Sort() {
  if (in_order_) return;
  const std::vector<int64_t> times = TimesOfRecords(*time_, record_size_, records_);
  std::vector<size_t> order(times.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&times](size_t i) { return times[i]; });
  std::vector<std::byte> sorted(records_.size());
  for (size_t i = 0; i < order.size(); ++i) {
    CopyBytes(Bytes(records_).subspan(order[i] * record_size_, record_size_),
              MutableBytes(sorted).subspan(i * record_size_, record_size_));
  }
  records_ = std::move(sorted);
  in_order_ = true;
  last_ = times[order.back()];
}

// Records from the future wait only for each other. Otherwise no later record would ever be in
// time.
std::vector<std::byte> RecordBuffer::Take(int64_t window) {
  Sort();
  if (window <= 0 || !time_.has_value() || records_.empty()) return std::exchange(records_, {});
  const std::vector<int64_t> times = TimesOfRecords(*time_, record_size_, records_);
  const auto future = std::ranges::upper_bound(times, ClockOf(*time_));
  std::vector<std::byte> taken;
  std::vector<std::byte> held;
  const auto take = [&](auto begin, auto end, int64_t& newest) {
    if (begin == end) return;
    newest = std::max(newest, *(end - 1));
    const int64_t limit = CheckedAdd(newest, -window).value_or(kNoTime);
    const auto stop = std::upper_bound(begin, end, limit);
    const auto at = [&](auto i) {
      return records_.begin() + (i - times.begin()) * static_cast<ptrdiff_t>(record_size_);
    };
    taken.insert(taken.end(), at(begin), at(stop));
    held.insert(held.end(), at(stop), at(end));
  };
  take(times.begin(), future, newest_);
  take(future, times.end(), newest_future_);
  records_ = std::move(held);
  return taken;
}

void RecordBuffer::PutBack(Bytes records) {
  if (records.empty()) return;
  // Records that the window held back need not be later than these, which may be from the future.
  if (!records_.empty()) in_order_ = !time_.has_value();
  if (time_.has_value() && records_.empty()) {
    last_ = TimesOfRecords(*time_, record_size_, records.last(record_size_)).front();
  }
  records_.insert(records_.begin(), records.begin(), records.end());
}

}  // namespace cairn::log

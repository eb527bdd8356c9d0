// Records that wait for a commit.
#ifndef CAIRN_ENGINE_LOG_WRITE_RECORD_BUFFER_H_
#define CAIRN_ENGINE_LOG_WRITE_RECORD_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"

#include "cairn/record.h"
#include "cairn/types.h"

namespace cairn::log {

class RecordBuffer {
 public:
  // `time` is null if records have none.
  RecordBuffer(int32_t record_size, const Field* time);

  // Adds records, or none of them on failure. Errors: kInvalidArgument for a part of a record and
  // for a record without a time.
  absl::Status Add(Bytes records);
  int32_t record_size() const { return static_cast<int32_t>(record_size_); }
  int64_t nrecords() const { return static_cast<int64_t>(records_.size() / record_size_); }
  int64_t nbytes() const { return static_cast<int64_t>(records_.size()); }

  // Takes out all records that are earlier than the newest by `window` or more, or all if the
  // window is 0. Records that are later than the clock do not make others early. The result is in
  // the order of time. Records of one time stay in the order in which they came.
  std::vector<std::byte> Take(int64_t window);
  // Puts records back in front that Take returned and nobody committed.
  void PutBack(Bytes records);

 private:
  void Sort();

  size_t record_size_;
  std::optional<Field> time_;
  std::vector<std::byte> records_;
  bool in_order_ = true;
  int64_t last_ = std::numeric_limits<int64_t>::min();  // time of the last record
  // The newest time of all records that were sorted with a window: the one that the clock had
  // reached then, and the one that it had not.
  int64_t newest_ = std::numeric_limits<int64_t>::min();
  int64_t newest_future_ = std::numeric_limits<int64_t>::min();
};

// Returns the times of whole records.
std::vector<int64_t> TimesOfRecords(const Field& time, size_t record_size, Bytes records);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_RECORD_BUFFER_H_

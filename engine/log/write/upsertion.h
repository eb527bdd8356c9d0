// Upsertion: records that replace those of a log with the same time and key.
#ifndef CAIRN_ENGINE_LOG_WRITE_UPSERTION_H_
#define CAIRN_ENGINE_LOG_WRITE_UPSERTION_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log_writer.h"
#include "cairn/record.h"
#include "cairn/types.h"
#include "engine/log/records/record_ranges.h"
#include "engine/log/state/log_state.h"

namespace cairn::log {

// Says what some records of an upsertion change in a log.
struct Matches {
  std::vector<RecordRange> replaced;  // numbers of records to delete, as a set
  std::vector<std::byte> arriving;    // records to append, in the order of time
};

// Returns the names of the fields that tell records of the same time apart.
std::vector<std::string> KeyOf(const Schema& schema, const UpsertOptions& options);

// The records of one call of LogWriter::Upsert.
class Upsertion {
 public:
  // Takes records, or fails as LogWriter::Upsert does.
  static absl::StatusOr<Upsertion> Make(const LogState& state, std::span<const std::string> key,
                                        Bytes records);

  // Returns the records in the order of time, without those that a later one of their key replaces.
  Bytes records() const { return records_; }
  // Finds the records of a log that some of these replace, and adds them to a report. `some` is a
  // part of records().
  absl::StatusOr<Matches> Find(const LogState& state, Bytes some, UpsertReport& report) const;

 private:
  class Search;

  Upsertion() = default;
  // Returns the bytes by which records are told apart.
  std::string KeyOf(const std::byte* record) const;

  size_t record_size_ = 1;
  std::vector<Field> key_;  // the time and the fields of the key
  std::vector<std::byte> records_;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_UPSERTION_H_

// Numbers the groups of records that have the same values of some fields.
#ifndef CAIRN_ENGINE_LOG_QUERY_GROUP_INDEX_H_
#define CAIRN_ENGINE_LOG_QUERY_GROUP_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "cairn/log_batch.h"
#include "cairn/record.h"

namespace cairn::log {

// Not thread-safe.
class GroupIndex {
 public:
  // Adds a field, which is this column of all batches. Without fields there is one group.
  void AddField(size_t column, const Field& field);
  // Begins with a batch, which must live until the next one. `first_record` is the first record of
  // the log: a field that is not older than it has a value in all records.
  void Begin(const LogBatch& batch, int64_t first_record);
  // Returns the number of the group of record `i` of the batch. A new group gets the next number.
  size_t Of(size_t i) { return is_narrow_ ? OfNarrow(narrow_keys_[i]) : OfWide(i); }

 private:
  struct Part {
    size_t column = 0;
    size_t size = 0;
    bool is_bool = false;
    bool may_lack = false;  // some records have no value
  };

  void LoadNarrow(const Part& part);
  size_t OfNarrow(uint64_t key) {
    if (last_ == kNone || key != last_narrow_) {
      last_ = narrow_.try_emplace(key, narrow_.size()).first->second;
      last_narrow_ = key;
    }
    return last_;
  }
  size_t OfWide(size_t i);

  static constexpr size_t kNone = SIZE_MAX;

  std::vector<Part> parts_;
  const LogBatch* batch_ = nullptr;
  // True if the bytes of all fields fit into a number, which is then the key of a group.
  bool is_narrow_ = true;
  std::vector<uint64_t> narrow_keys_;  // of the records of the batch
  absl::flat_hash_map<uint64_t, size_t> narrow_;
  absl::flat_hash_map<std::string, size_t> wide_;
  std::string key_;
  size_t last_ = kNone;  // the group of the record before
  uint64_t last_narrow_ = 0;
  std::string last_wide_;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_GROUP_INDEX_H_

// The texts of all key fields of a log's frame, in one state.
#ifndef CAIRN_ENGINE_LOG_STATE_LOG_KEYS_H_
#define CAIRN_ENGINE_LOG_STATE_LOG_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/key_texts.h"
#include "cairn/record.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "engine/log/state/key_table.h"

namespace cairn::log {

class LogKeys;
using LogKeysPtr = std::shared_ptr<const LogKeys>;
using KeyTextsPtr = std::shared_ptr<const KeyTexts>;

// Immutable.
class LogKeys {
 public:
  // Loads the keys of a frame whose records have these fields. `before` are those of an earlier
  // state of the same file, or null. Errors: kDataLoss if the tables are damaged; kUnimplemented if
  // a newer Cairn wrote them.
  static absl::StatusOr<LogKeysPtr> Load(const Snapshot& snapshot, const Schema& schema,
                                         const LogKeysPtr& before);

  // Returns the texts of a key field, by its number among the key fields.
  const KeyTextsPtr& texts(size_t key) const { return texts_[key]; }
  size_t nkeys() const { return texts_.size(); }
  // Returns the number of all texts.
  int64_t ntexts() const { return newest_.end(); }
  int64_t nbytes() const { return older_bytes_ + std::ssize(newest_.texts); }
  // Returns the first table.
  const KeyTable& newest() const { return newest_; }

 private:
  LogKeys() = default;
  absl::Status LoadTables(const Snapshot& snapshot);
  // Adds the texts of the newest table from byte `begin` on.
  absl::Status AddNewest(size_t begin);

  std::vector<std::byte> stored_;  // the first layer; empty if there is none
  KeyTable newest_;
  int64_t older_bytes_ = 0;  // bytes of the texts in the other tables
  std::vector<KeyTextsPtr> texts_;
};

// Returns the number of a field among the key fields, or that of all key fields for the end.
size_t KeyNumber(const Schema& schema, size_t field);
// Checks the codes of a column. Errors: kDataLoss if the texts lack one.
absl::Status CheckCodes(const Field& field, const KeyTexts& texts, Bytes column);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_LOG_KEYS_H_

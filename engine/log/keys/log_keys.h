// The texts of all key fields of a log's frame, in one state.
#ifndef CAIRN_ENGINE_LOG_KEYS_LOG_KEYS_H_
#define CAIRN_ENGINE_LOG_KEYS_LOG_KEYS_H_

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
#include "engine/log/keys/key_table.h"

namespace cairn::log {

class LogKeys;
using LogKeysPtr = std::shared_ptr<const LogKeys>;
using KeyTextsPtr = std::shared_ptr<const KeyTexts>;

// Immutable.
class LogKeys {
 public:
  // Loads the keys of a frame whose records have these fields. `before` are those of an earlier
  // state of the same file, or null. Errors: kDataLoss if the tables are damaged, unless the frame
  // says that some are lost; kUnimplemented if a newer Cairn wrote them.
  static absl::StatusOr<LogKeysPtr> Load(const Snapshot& snapshot, const Schema& schema,
                                         const LogKeysPtr& before);
  // Returns the keys with texts for codes that follow theirs; see lost_keys.h.
  static LogKeysPtr WithStandIns(const LogKeys& keys, std::vector<KeyText> stand_ins);

  // Returns the texts of a key field, by its number among the key fields.
  const KeyTextsPtr& texts(size_t key) const { return texts_[key]; }
  size_t nkeys() const { return texts_.size(); }
  // Returns the texts that stand for lost ones, which no table has.
  const std::vector<KeyText>& stand_ins() const { return stand_ins_; }
  // Returns true if what is left of the tables does not fit together, and counts as lost.
  bool is_broken() const { return is_broken_; }
  // Returns the number of all texts in the tables.
  int64_t ntexts() const { return newest_.end(); }
  int64_t nbytes() const { return older_bytes_ + std::ssize(newest_.texts); }
  // Returns the first table.
  const KeyTable& newest() const { return newest_; }

 private:
  LogKeys() = default;
  absl::Status LoadTables(const Snapshot& snapshot);
  // Loads the tables of a frame that may lack some.
  absl::Status LoadRemains(const Snapshot& snapshot);
  // Adds the texts of the newest table from byte `begin` on.
  absl::Status AddNewest(size_t begin);

  std::vector<std::byte> stored_;  // the first layer; empty if there is none
  KeyTable newest_;
  int64_t older_bytes_ = 0;  // bytes of the texts in the other tables
  bool is_broken_ = false;
  std::vector<KeyTextsPtr> texts_;
  std::vector<KeyText> stand_ins_;  // the last ones of texts_
};

// Returns the number of a field among the key fields, or that of all key fields for the end.
size_t KeyNumber(const Schema& schema, size_t field);
// Checks the codes of a column. Errors: kDataLoss if the texts lack one.
absl::Status CheckCodes(const Field& field, const KeyTexts& texts, Bytes column);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_KEYS_LOG_KEYS_H_

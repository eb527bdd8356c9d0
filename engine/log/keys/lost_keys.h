// Keys of a salvaged log whose texts are lost: its records have their codes.
//
// Each of these codes gets a stand-in, a text such as "?3", so that the records can be read and
// grouped, and no new text gets the code.
#ifndef CAIRN_ENGINE_LOG_KEYS_LOST_KEYS_H_
#define CAIRN_ENGINE_LOG_KEYS_LOST_KEYS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/record.h"
#include "cairn/snapshot.h"
#include "engine/log/keys/key_table.h"
#include "engine/log/keys/log_keys.h"

namespace cairn::log {

// Returns true if records may have codes without a text although nothing says so. An older Cairn
// may have salvaged the frame, or another program may have removed the texts.
bool MayHideLoss(const Snapshot& snapshot);
// The records of a frame of a log, with these fields.
struct StoredRecords {
  const Snapshot& snapshot;
  const Schema& schema;
  std::span<const RecordRange> deleted;  // as a set
  int64_t first = 0;
  int64_t count = 0;
  int64_t chunk_records = 1;
};
// Returns the stand-ins for the codes that records of a log have and its keys lack, by field and
// code. The frames may lack the last key fields. Reads the key fields of all records. Records that
// cannot be read count as having no code. There are at most as many stand-ins as a log can have
// texts.
absl::StatusOr<std::vector<KeyText>> FindStandIns(std::span<const StoredRecords> frames,
                                                  const LogKeys& keys);
// Returns `keys`, those of these records, with their stand-ins if the frame may have codes without
// a text. `before` are the keys of an earlier state of the same file, or null.
absl::StatusOr<LogKeysPtr> CompleteKeys(const StoredRecords& records, LogKeysPtr keys,
                                        const LogKeysPtr& before);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_KEYS_LOST_KEYS_H_

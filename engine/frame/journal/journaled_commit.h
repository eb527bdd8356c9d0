// A commit as the journal holds it.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_JOURNALED_COMMIT_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_JOURNALED_COMMIT_H_

#include <cstdint>
#include <optional>

#include "engine/format/journal.h"

namespace cairn::frame {

struct JournaledCommit {
  format::CommitRecord record;
  int64_t begin = 0;         // where the commit before ends: chunks of this one lie after
  int64_t record_begin = 0;  // where those end
  int64_t end = 0;
  uint64_t checksum = 0;  // as stored in the record
  std::optional<format::Receipt> receipt;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_JOURNALED_COMMIT_H_

// KeyWriter: gives codes to the texts of a log's key fields, and writes new texts with the commit
// of the records that use them.
#ifndef CAIRN_ENGINE_LOG_WRITE_KEY_WRITER_H_
#define CAIRN_ENGINE_LOG_WRITE_KEY_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/record.h"
#include "cairn/types.h"
#include "cairn/writer.h"
#include "engine/log/state/log_state.h"
#include "engine/log/write/deletion.h"

namespace cairn::log {

// Knows the texts of the newest state and those that no commit has yet. Not thread-safe.
class KeyWriter {
 public:
  // Returns the code of a text, which gets one if it has none.
  // Errors: as for LogWriter::CodeOf.
  absl::StatusOr<uint32_t> CodeOf(const LogState& state, std::string_view field,
                                  std::string_view text);
  // Checks that all codes of whole records have a text. Errors: kInvalidArgument if one has none.
  absl::Status Check(const LogState& state, Bytes records) const;

  bool has_news() const { return !news_.empty(); }
  // Stages the texts that `state` lacks. A commit, or a rollback after which they are staged again,
  // must follow.
  absl::Status Stage(const LogState& state, Writer& writer) const;
  // Forgets the staged texts, which are committed.
  void Committed() {
    news_.clear();
    news_bytes_ = 0;
  }

 private:
  // Returns the number of codes of a key field, with those of new texts.
  int64_t CountCodes(const LogState& state, size_t key) const;
  void Learn(const LogState& state);
  // Gives stand-ins to the codes that records have without a text, before a new text gets one of
  // these codes; see lost_keys.h. Records are read only if their frame may have such codes.
  absl::Status ReserveLost(const LogState& state);

  // Codes of all texts, of each key field. Empty until the first text is asked for.
  std::vector<absl::flat_hash_map<std::string, uint32_t>> codes_;
  bool reserved_lost_ = false;
  std::vector<KeyText> news_;
  int64_t news_bytes_ = 0;
};

// Stores the stand-ins for lost keys of the newest frame, so that it has a text for each code.
absl::Status StoreStandIns(const DeletingWriter& log);

// Stages the tables of the keys of a log in the frame that continues it.
absl::Status CopyKeys(const Snapshot& from, Writer& to);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_KEY_WRITER_H_

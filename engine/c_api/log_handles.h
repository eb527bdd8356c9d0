// The contents of the opaque handles of cairn_log.h.
#ifndef CAIRN_ENGINE_C_API_LOG_HANDLES_H_
#define CAIRN_ENGINE_C_API_LOG_HANDLES_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/cairn_log.h"
#include "cairn/key_texts.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "engine/base/status.h"
#include "engine/c_api/result.h"

struct cairn_log {
  cairn::Log log;
};

struct cairn_log_snapshot {
  explicit cairn_log_snapshot(cairn::LogSnapshot state)
      : snapshot(std::move(state)), dtype(snapshot.schema().ToDtype()) {}

  cairn::LogSnapshot snapshot;
  std::string dtype;  // C programs get pointers into it
};

struct cairn_log_cursor {
  cairn::LogCursor cursor;
};

struct cairn_log_batch {
  cairn::LogBatch batch;
};

struct cairn_log_buckets {
  std::vector<cairn::LogBucket> buckets;
  std::vector<std::string> fields;  // names of the fields of each bucket
};

struct cairn_log_writer {
  cairn::LogWriter writer;
};

namespace cairn::c_api {

// Returns a text that may be null, which means an empty one.
inline std::string ToText(const char* text) { return text == nullptr ? "" : text; }

// Returns the names or filters of a query.
inline absl::StatusOr<std::vector<std::string>> ToTexts(const char* const* texts, size_t count,
                                                        const char* name) {
  CAIRN_ASSIGN_OR_RETURN(const std::span<const char* const> given,
                         ToSpan(texts, static_cast<int64_t>(count), name));
  std::vector<std::string> result;
  for (const char* text : given) {
    CAIRN_RETURN_IF_ERROR(NotNull(text, name));
    result.emplace_back(text);
  }
  return result;
}

// Returns the text of a code, which lives as long as `texts`, and ends with a zero byte. `texts` is
// null if the field holds none.
inline absl::StatusOr<const char*> TextOf(const KeyTexts* texts, const char* field, uint32_t code) {
  if (texts == nullptr) return InvalidArgument("field '%s': holds no texts", field);
  if (code >= texts->size()) {
    return OutOfRange("field '%s': code %d: expected less than %d", field, code, texts->size());
  }
  return code == 0 ? "" : texts->Get(code).data();
}

absl::StatusOr<LogSelection> ToCpp(const cairn_log_selection* which);
// Null gives no limits.
absl::StatusOr<Retention> ToCpp(const cairn_log_retention* retention);
absl::StatusOr<Rotation> ToCpp(const cairn_log_rotation* rotation);

}  // namespace cairn::c_api

#endif  // CAIRN_ENGINE_C_API_LOG_HANDLES_H_

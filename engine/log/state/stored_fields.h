// The fields of a log as one of its frames stores them. Fields that were added to the log later are
// not in its older frames.
#ifndef CAIRN_ENGINE_LOG_STATE_STORED_FIELDS_H_
#define CAIRN_ENGINE_LOG_STATE_STORED_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/record.h"
#include "cairn/types.h"
#include "engine/log/state/field_layer.h"
#include "engine/log/stats/chunk_stats.h"

namespace cairn::log {

using SchemaPtr = std::shared_ptr<const Schema>;

// Immutable.
class StoredFields {
 public:
  // The frame does not store the field.
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // `stored` are the fields of the frame, `facts` those of its layer, and `seen` those of the log.
  // Errors: kDataLoss if the log lacks a field of the frame, or the frame one of its layer.
  static absl::StatusOr<std::shared_ptr<const StoredFields>> Make(
      SchemaPtr stored, const std::vector<FieldFact>& facts, SchemaPtr seen);

  const SchemaPtr& stored() const { return stored_; }
  const SchemaPtr& seen() const { return seen_; }
  // Returns true if the records are stored as they are seen.
  bool is_plain() const { return stored_ == seen_; }

  // Returns the field of the frame that is this field of the log, or null.
  const Field* Stored(size_t field) const {
    return places_[field].has_value() ? &stored_->fields()[*places_[field]] : nullptr;
  }
  // Returns the number of the first record that may have a value of this field of the log.
  int64_t Begin(size_t field) const { return begins_[field]; }
  // Returns what the frame's layer says.
  std::vector<FieldFact> Facts() const;

  // Converts records from the stored form.
  void Convert(Bytes stored, MutableBytes seen) const;
  ChunkStats Convert(ChunkStats stored) const;

 private:
  StoredFields(SchemaPtr stored, SchemaPtr seen)
      : stored_(std::move(stored)), seen_(std::move(seen)) {}

  SchemaPtr stored_;
  SchemaPtr seen_;
  // These have an item for each field of the log.
  std::vector<std::optional<size_t>> places_;  // in stored_
  std::vector<int64_t> begins_;
};

// Returns the bytes that stand for no value: NaN, no time, zeros.
std::vector<std::byte> NoValue(const Field& field);
// Returns a record without values.
std::vector<std::byte> BlankRecord(const Schema& schema);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_STORED_FIELDS_H_

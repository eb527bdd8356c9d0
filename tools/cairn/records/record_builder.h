// Puts records together from texts, value by value.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_RECORD_BUILDER_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_RECORD_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/record.h"
#include "cairn/types.h"
#include "tools/cairn/records/values.h"

namespace cairn::tool {

struct ParseOptions {
  NumberTimes number_times = {};
  bool ignore_extra = false;  // values that no field of the log has
  bool stamp = false;         // a record without a time gets that of its arrival
};

class RecordBuilder {
 public:
  // `time` is a field of the schema or null. Both must stay in place.
  RecordBuilder(const Schema& schema, const Field* time, const ParseOptions& options);

  const ParseOptions& options() const { return options_; }
  const Schema& schema() const { return schema_; }

  // The number of the field of this name; kInvalidArgument when there is none, and no number where
  // such values are ignored.
  absl::StatusOr<std::optional<size_t>> Find(std::string_view name) const;
  // What would be missing in each record that gives the fields of these numbers only.
  absl::Status CheckGiven(const std::vector<std::optional<size_t>>& fields) const;

  // Begins a record, whose bytes must stay in place until it ends.
  void Begin(MutableBytes record);
  // kInvalidArgument for what is no value, and for a second one.
  absl::Status Set(size_t field, std::string_view text);
  absl::Status SetMissing(size_t field);
  // kInvalidArgument when there is no time, or no value of a field that cannot go without.
  absl::Status End();

 private:
  absl::Status Take(size_t field);
  absl::Status Missing(const Field& field) const;
  bool CanStamp(const Field& field) const;

  const Schema& schema_;
  const Field* time_;
  ParseOptions options_;
  std::map<std::string, size_t, std::less<>> numbers_;
  std::vector<std::byte> empty_;  // a record without any value
  std::vector<bool> needed_;      // fields that cannot go without
  std::vector<bool> given_;
  MutableBytes record_;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_RECORD_BUILDER_H_

// Puts records together from texts, value by value.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_RECORD_BUILDER_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_RECORD_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
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
  bool ignore_extra = false;  // ignore values that no field of the log has
  bool stamp = false;         // give a record without a time that of its arrival
  // Returns the code of a text for a field of type kText; see LogWriter::CodeOf.
  std::function<absl::StatusOr<uint32_t>(std::string_view field, std::string_view text)> code_of =
      {};
  // Numbers of fields that older records of the log lack. An empty cell or null of an integer or a
  // boolean is 0 or false there, as such a record has it.
  std::set<size_t> added_fields = {};
};

class RecordBuilder {
 public:
  // `time` is a field of the schema or null. Both must stay in place.
  RecordBuilder(const Schema& schema, const Field* time, const ParseOptions& options);

  const ParseOptions& options() const { return options_; }
  const Schema& schema() const { return schema_; }

  // Returns the number of the field of this name. If there is none, returns nothing if such values
  // are ignored. Errors: kInvalidArgument if there is none otherwise.
  absl::StatusOr<std::optional<size_t>> Find(std::string_view name) const;
  // Returns what would be missing in each record that gives the fields of these numbers only.
  absl::Status CheckGiven(const std::vector<std::optional<size_t>>& fields) const;

  // Begins a record, whose bytes must stay in place until it ends.
  void Begin(MutableBytes record);
  // Errors: kInvalidArgument for a text that is not a value, and for a second value.
  absl::Status Set(size_t field, std::string_view text);
  absl::Status SetMissing(size_t field);
  // Errors: kInvalidArgument if there is no time, or no value of a field that needs one.
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
  std::vector<bool> needed_;      // fields that need a value
  std::vector<bool> given_;
  MutableBytes record_;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_RECORD_BUILDER_H_

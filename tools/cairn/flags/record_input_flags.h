// Options for an input of records: its format, and the handling of its bad lines.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_RECORD_INPUT_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_RECORD_INPUT_FLAGS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include <CLI/CLI.hpp>

#include "tools/cairn/records/record_parser.h"

namespace cairn::tool {

struct RecordInputFlags {
  std::optional<std::string> format;
  std::string columns;
  std::string delimiter = ",";
  std::optional<std::string> measurement;
  std::optional<std::string> time_unit;
  bool ignore_extra = false;
  bool stamp = false;
  std::string bad = "stop";
};

void AddRecordInput(CLI::App& app, RecordInputFlags& flags);

// Returns the options with which its parser makes records. Lines of InfluxDB may come without a
// time.
ParseOptions ParseOptionsOf(const RecordInputFlags& flags, const std::string& input);
// Returns null for raw records. The builder must stay in place.
absl::StatusOr<std::unique_ptr<RecordParser>> MakeParser(const RecordInputFlags& flags,
                                                         const std::string& input,
                                                         RecordBuilder& builder, const Field* time);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_RECORD_INPUT_FLAGS_H_

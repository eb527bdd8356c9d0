// cairn log add-field: adds a field to the records of a log.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"

#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct AddFieldFlags : LogFlags {
  std::string field;
  std::chrono::milliseconds wait{0};
  bool quiet = false;
};

absl::Status AddField(const AddFieldFlags& flags) {
  ASSIGN_OR_RETURN(const Field field, ParseNewField(flags.field));
  ASSIGN_OR_RETURN(Log log, OpenLog(flags));
  RETURN_IF_ERROR(log.AddField(field, flags.wait));
  if (flags.quiet) return absl::OkStatus();
  ASSIGN_OR_RETURN(const LogSnapshot now, log.Refresh());
  ASSIGN_OR_RETURN(const int64_t first, now.FirstWithValue(field.name));
  int64_t without = first - now.first_record();
  for (const RecordRange& gone : now.deleted()) {
    if (gone.begin < first) without -= std::min(gone.end, first) - gone.begin;
  }
  return WriteLines({absl::StrFormat(
      "%s: field '%s' added, records have %s%s", flags.path, NameOf(field),
      FormatCount(now.schema().record_size(), "byte"),
      without == 0 ? "" : "; " + FormatCount(without, "older record") + " without a value")});
}

}  // namespace

void AddLogAddField(CLI::App& group, Command& chosen) {
  CLI::App* app = group.add_subcommand("add-field", "Add a field to the records of a log");
  const auto flags = std::make_shared<AddFieldFlags>();
  AddLogPath(*app, *flags);
  app->add_option("FIELD", flags->field, "The new field, such as humidity:f4")
      ->required()
      ->type_name("NAME:TYPE");
  AddWait(*app, flags->wait)->description("How long to wait for a writer that runs to end");
  app->add_flag("--quiet", flags->quiet, "Print no summary");
  app->footer(
      "Records that are there have no value in it. Readers and followers go on. A log of one file "
      "is\n"
      "written again, which takes as much time and space as a copy.\n"
      "\nExample:\n"
      "  cairn log add-field temps.b2frame humidity:f4");
  app->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, AddField(*flags)); }; });
}

}  // namespace cairn::tool

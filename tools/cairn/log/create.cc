// cairn log create: makes a new log without records.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/units.h"
#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct CreateFlags {
  std::string path;
  std::vector<std::string> fields;
  std::string keys;
  std::string time_field;
  std::string codec = "lz4";
  int level = 5;
  int64_t chunk_size = 0;
  KeepFlags keep;
  bool quiet = false;
};

// Returns the field that will be the time, as LogCreateOptions describes, or null if there is none.
const Field* TimeField(const Schema& schema, const std::string& name) {
  for (const Field& field : schema.fields()) {
    if (name.empty() ? field.type == FieldType::kTimestamp : field.name == name) return &field;
  }
  return nullptr;
}

absl::Status CreateLog(const CreateFlags& flags) {
  std::vector<Field> fields;
  for (const std::string& text : flags.fields) {
    ASSIGN_OR_RETURN(Field field, ParseNewField(text));
    fields.push_back(std::move(field));
  }
  if (!flags.keys.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> keys, ParseCsvRow(flags.keys, ','));
    for (const std::string& key : keys) {
      fields.push_back({.name = key, .type = FieldType::kText, .size = 4});
    }
  }
  RETURN_IF_ERROR(CheckIsNoMember(flags.path));
  LogCreateOptions options = {.time_field = flags.time_field,
                              .codec = *FindWord(kCodecWords, flags.codec),
                              .clevel = flags.level,
                              .chunksize = static_cast<int32_t>(flags.chunk_size),
                              .file_system = FilesAt(flags.path)};
  ASSIGN_OR_RETURN(options.schema, Schema::Make(std::move(fields)));
  const Field* const time = TimeField(options.schema, flags.time_field);
  ASSIGN_OR_RETURN(options.retention, RetentionOf(flags.keep, time, {}));
  ASSIGN_OR_RETURN(options.rotation, RotationOf(flags.keep, time, {}));
  RETURN_IF_ERROR(Log::Create(flags.path, options).status());
  if (flags.quiet) return absl::OkStatus();
  return WriteLines({absl::StrFormat(
      "%s: a log of records of %s, %s", flags.path,
      FormatCount(options.schema.record_size(), "byte"),
      time == nullptr ? "without a time" : absl::StrFormat("'%s' is the time", time->name))});
}

}  // namespace

void AddLogCreate(CLI::App& group, Command& chosen) {
  CLI::App* create = group.add_subcommand("create", "Make a new log");
  const auto flags = std::make_shared<CreateFlags>();
  create->add_option("LOG", flags->path, "The new log")->required();
  create
      ->add_option("--field", flags->fields,
                   "A field of the records, such as time:timestamp[us], temp:f4, count:u8, ok:bool "
                   "or host:bytes[16]; host:text for texts that many records share; repeatable")
      ->required()
      ->allow_extra_args(false)
      ->type_name("NAME:TYPE");
  create
      ->add_option("--key", flags->keys,
                   "Fields of type text after the others, such as host,status: texts of any length "
                   "that many records share")
      ->type_name("NAMES");
  create
      ->add_option("--time-field", flags->time_field,
                   "The field with the time: a timestamp or an integer [the first timestamp]")
      ->type_name("NAME");
  create
      ->add_option(
          "--codec", flags->codec,
          "blosclz, lz4, lz4hc, zlib or zstd; pco, bitpack or auto, which code each field as "
          "numbers and which other Blosc2 libraries read with a plug-in")
      ->capture_default_str()
      ->check(CLI::IsMember({"blosclz", "lz4", "lz4hc", "zlib", "zstd", "pco", "bitpack", "auto"}))
      ->type_name("NAME");
  AddNumber(*create, "--level", flags->level, 0, 9)
      ->description("0 stores, 1 is fastest, 9 is smallest")
      ->default_str("5")
      ->type_name("0-9");
  AddByteSize(*create, "--chunk-size", flags->chunk_size, 1, kMaxChunkBytes)
      ->description("Bytes of one chunk, rounded down to whole records")
      ->default_str("1MiB");
  AddKeeping(*create, flags->keep);
  create->add_flag("--quiet", flags->quiet, "Print no summary");
  create->footer(
      "With --rotate-every or --rotate-bytes the log is a directory of frames.\n"
      "\nExample:\n"
      "  cairn log create temps.b2frame --field 'time:timestamp[us]' --field temp:f4 --retain-age "
      "30d");
  create->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, CreateLog(*flags)); }; });
}

}  // namespace cairn::tool

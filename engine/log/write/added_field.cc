#include "engine/log/write/added_field.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"

#include "cairn/copy_files.h"
#include "cairn/writer.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/log/state/edit_layer.h"
#include "engine/log/state/field_layer.h"
#include "engine/log/state/log_layer.h"
#include "engine/log/state/stored_fields.h"

namespace cairn::log {

namespace {

// Returns true for layers that are made again: with other records other chunks have other bytes.
bool IsMadeAgain(std::string_view layer) {
  return layer == kLogLayer || layer == kFieldLayer ||
         std::ranges::find(kStatsLayers, layer) != std::end(kStatsLayers);
}

bool IsArrayLayer(std::string_view metalayer) {
  return metalayer == "b2nd" || metalayer == "caterva";
}

absl::Status CopyRecords(const Segment& from, const StoredFields& fields, Writer& to) {
  const auto old_size = static_cast<size_t>(from.schema().record_size());
  const auto new_size = static_cast<size_t>(fields.seen()->record_size());
  for (int64_t n = 0; n < from.nchunks(); ++n) {
    const auto count = static_cast<size_t>(from.RecordsIn(n));
    std::vector<std::byte> records(count * old_size);
    std::vector<std::byte> converted(count * new_size);
    CAIRN_RETURN_IF_ERROR(from.ReadRecords(from.RecordOf(n), records));
    fields.Convert(records, converted);
    CAIRN_RETURN_IF_ERROR(to.AppendSlices(0, converted));
  }
  return absl::OkStatus();
}

absl::Status CopyLayers(const Snapshot& from, Writer& to) {
  for (const std::string& name : from.vlmetalayers()) {
    if (IsMadeAgain(name)) continue;
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content, from.GetVlmetalayer(name));
    CAIRN_RETURN_IF_ERROR(to.SetVlmetalayer(name, content));
  }
  return absl::OkStatus();
}

}  // namespace

std::shared_ptr<FileSystem> FilesLike(const LogCore& log, const std::string& path) {
  const std::shared_ptr<FileSystem>& files = log.options().file_system;
  // Users who read a log can read its next file, too, whatever the umask of its writer is.
  const bool is_posix = files == nullptr || files == PosixFileSystem();
  return is_posix ? FilesForCopyOf(path, CopiedPermissions::kAll) : files;
}

absl::Status CheckNewName(const Field& field) {
  if (IsUtf8(field.name)) return absl::OkStatus();
  return InvalidArgument("field '%s': a name that is not UTF-8", absl::CEscape(field.name));
}

absl::StatusOr<Schema> WithField(const Segment& newest, const Field& field) {
  CAIRN_RETURN_IF_ERROR(CheckNewName(field));
  if (newest.schema().Find(field.name) != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrFormat("log: it has a field '%s' already", field.name));
  }
  if (newest.time_field() == nullptr && field.type == FieldType::kTimestamp) {
    return FailedPrecondition(
        "log: field '%s': its records have no time, and an added timestamp would be the time",
        field.name);
  }
  std::vector<Field> fields = newest.schema().fields();
  fields.push_back(field);
  return Schema::Make(std::move(fields));
}

std::string PathOfFile(const LogCore& log) { return log.files().Resolve(log.path()); }
std::string PathWithFields(const LogCore& log) { return PathOfFile(log) + ".fields"; }

absl::Status WriteWithFields(const LogCore& log, const Segment& newest, const Schema& wider) {
  if (newest.snapshot().info().layout == Layout::kSparse ||
      log.files().ObjectsIn(log.path()).store != nullptr) {
    return Unimplemented("%s: a new field for a log in a sparse frame or an object store",
                         log.path());
  }
  const std::string path = PathWithFields(log);
  const absl::Status removed = log.files().Remove(path);  // a writer that died may have left it
  if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  const auto seen = std::make_shared<const Schema>(wider);
  CAIRN_ASSIGN_OR_RETURN(
      const auto fields,
      StoredFields::Make(std::make_shared<const Schema>(newest.schema()), {}, seen));
  LogCreateOptions options = OptionsLike(newest);
  options.schema = wider;
  options.file_system = FilesLike(log, log.path());
  std::vector<Metalayer> metalayers = newest.snapshot().metalayers();
  // The new frame has one of its own, which describes its records.
  std::erase_if(metalayers, [](const Metalayer& layer) { return IsArrayLayer(layer.name); });
  CAIRN_ASSIGN_OR_RETURN(Writer writer, BeginLogFrame(path, options, newest.first_record(),
                                                      newest.edits(), std::move(metalayers)));
  CAIRN_RETURN_IF_ERROR(CopyLayers(newest.snapshot(), writer));
  std::vector<FieldFact> facts = newest.fields().Facts();
  const bool is_text = wider.fields().back().type == FieldType::kText;
  const bool lacks_values = newest.nrecords() > 0;
  if (lacks_values || is_text) {
    facts.push_back({.name = wider.fields().back().name,
                     .is_text = is_text,
                     .begin = lacks_values ? newest.end_record() : 0});
  }
  if (!facts.empty()) {
    CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(kFieldLayer, EncodeFieldLayer(facts)));
  }
  CAIRN_RETURN_IF_ERROR(CopyRecords(newest, *fields, writer));
  return writer.Close();
}

}  // namespace cairn::log

#include "tools/sqlite/vfs/database_pragmas.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "cairn/reports.h"
#include "cairn/verify.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

absl::StatusOr<std::string> TellInfo(Database& database) {
  ASSIGN_OR_RETURN(const Snapshot newest, database.frame().Refresh());
  const FrameInfo& info = newest.info();
  std::vector<std::string> lines = {
      absl::StrCat("path ", database.path()),
      absl::StrCat("generation ", info.generation),
      absl::StrCat("chunks ", info.nchunks),
      absl::StrCat("chunksize ", info.chunksize.value_or(0)),
      absl::StrCat("bytes ", info.nbytes),
      absl::StrCat("compressed ", info.cbytes),
      absl::StrCat("journal ", info.journal_size),
  };
  if (info.dead_bytes.has_value()) lines.push_back(absl::StrCat("dead ", *info.dead_bytes));
  return absl::StrJoin(lines, "\n");
}

absl::StatusOr<std::string> TellHistory(Database& database) {
  ASSIGN_OR_RETURN(const std::vector<GenerationInfo> history, database.frame().History());
  std::vector<std::string> lines;
  for (const GenerationInfo& generation : history) {
    lines.push_back(absl::StrCat(generation.generation, " ", generation.nbytes));
  }
  return absl::StrJoin(lines, "\n");
}

absl::StatusOr<std::string> TellVerify(Database& database) {
  ASSIGN_OR_RETURN(const Snapshot newest, database.frame().Refresh());
  ASSIGN_OR_RETURN(const VerifyReport report, newest.Verify());
  if (report.ok()) return "ok";
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) {
    lines.push_back(absl::StrCat(finding.section, ": ", finding.reason));
  }
  return absl::StrJoin(lines, "\n");
}

absl::StatusOr<std::string> MakeBackup(Database& database, const std::string& path) {
  if (path.empty() || path == ":memory:" || path.starts_with("file:")) {
    return absl::InvalidArgumentError(
        absl::StrCat("cairn_backup: expected the path of a file, got '", path,
                     "': PRAGMA cairn_backup('copy.db'); VACUUM INTO takes a URI"));
  }
  ASSIGN_OR_RETURN(const Snapshot newest, database.frame().Refresh());
  const absl::Status copied = newest.CopyTo(path);
  if (absl::IsAlreadyExists(copied) || absl::IsUnimplemented(copied)) {
    return absl::InvalidArgumentError(absl::StrCat("cairn_backup: ", copied.message()));
  }
  RETURN_IF_ERROR(copied);
  return path;
}

using Tell = absl::StatusOr<std::string> (*)(Database&);

Tell TellerNamed(std::string_view pragma) {
  if (pragma == "cairn_info") return TellInfo;
  if (pragma == "cairn_history") return TellHistory;
  if (pragma == "cairn_verify") return TellVerify;
  return nullptr;
}

}  // namespace

std::optional<absl::StatusOr<std::string>> AnswerPragma(Database& database, std::string_view name,
                                                        std::optional<std::string_view> value) {
  const std::string lower = absl::AsciiStrToLower(std::string(name));
  if (lower == "cairn_backup") return MakeBackup(database, std::string(value.value_or("")));
  const Tell tell = TellerNamed(lower);
  if (tell == nullptr && !lower.starts_with("cairn_")) return std::nullopt;
  if (tell == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        lower, ": expected one of cairn_backup, cairn_history, cairn_info, cairn_verify"));
  }
  if (!value.has_value()) return tell(database);
  return absl::InvalidArgumentError(absl::StrCat(lower, ": expected no argument, got '",
                                                 std::string(*value), "': PRAGMA ", lower));
}

}  // namespace cairn::sqlite

#include "tools/cairn/io/database_parts.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "tools/cairn/io/io.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

// Returns at most `most` bytes, and none of anything but a regular file.
absl::StatusOr<std::string> BeginOf(const fs::path& path, size_t most) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::string();
  ASSIGN_OR_RETURN(Input input, Input::Open(path));
  std::string begin(most, '\0');
  ASSIGN_OR_RETURN(const size_t got, input.Read(std::as_writable_bytes(std::span(begin))));
  begin.resize(got);
  return begin;
}

}  // namespace

absl::Status CheckHasNoPartsBeside(const std::string& path) {
  std::error_code error;
  // SQLite follows links before it names the files next to the database.
  const fs::path file = fs::canonical(path, error);
  if (path == "-" || error) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string begin, BeginOf(file, kSqliteMagic.size()));
  if (begin != kSqliteMagic) return absl::OkStatus();
  const std::string log = file.string() + "-wal";
  ASSIGN_OR_RETURN(const std::string log_begin, BeginOf(log, 1));
  if (!log_begin.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": expected a whole database, but ", log,
                     " holds its newest transactions; run PRAGMA wal_checkpoint(TRUNCATE), or give "
                     "the file to standard input"));
  }
  const std::string journal = file.string() + "-journal";
  ASSIGN_OR_RETURN(const std::string journal_begin, BeginOf(journal, 1));
  // A journal that has ended begins with zeros if journal_mode is PERSIST.
  if (!journal_begin.empty() && journal_begin[0] != '\0') {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": expected a whole database, but ", journal,
        " holds a transaction that has not ended; open the database with SQLite, which "
        "ends it, or give the file to standard input"));
  }
  return absl::OkStatus();
}

}  // namespace cairn::tool

#include "tools/sqlite/vfs/database_options.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tools/sqlite/base/codec_names.h"
#include "tools/sqlite/base/sqlite_api.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

constexpr int kMaxLevel = 9;
constexpr int32_t kMinPage = 512;

absl::Status BadValue(const char* parameter, const char* value, const std::string& expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("URI parameter ", parameter, "=", value, ": expected ", expected));
}

template <typename Number>
absl::Status ParseNumber(const char* name, const char* parameter, Number least, Number most,
                         std::optional<Number>& number) {
  const char* value = sqlite3_uri_parameter(name, parameter);
  if (value == nullptr) return absl::OkStatus();
  Number parsed = 0;
  if (!absl::SimpleAtoi(value, &parsed) || parsed < least || parsed > most) {
    return BadValue(parameter, value, absl::StrCat(least, " to ", most));
  }
  number = parsed;
  return absl::OkStatus();
}

absl::Status ParseCodec(const char* name, std::optional<Codec>& codec) {
  const char* value = sqlite3_uri_parameter(name, "codec");
  if (value == nullptr) return absl::OkStatus();
  codec = GeneralCodecNamed(value);
  if (codec.has_value()) return absl::OkStatus();
  return BadValue("codec", value, "blosclz, lz4, lz4hc, zlib or zstd");
}

absl::Status ParseDurability(const char* name, std::optional<Durability>& durability) {
  const char* value = sqlite3_uri_parameter(name, "durability");
  if (value == nullptr) return absl::OkStatus();
  if (value == std::string_view("machine")) {
    durability = Durability::kMachine;
  } else if (value == std::string_view("process")) {
    durability = Durability::kProcess;
  } else {
    return BadValue("durability", value, "machine or process");
  }
  return absl::OkStatus();
}

absl::Status ParseSwitch(const char* name, const char* parameter, bool& on) {
  const char* value = sqlite3_uri_parameter(name, parameter);
  if (value == nullptr) return absl::OkStatus();
  if (absl::SimpleAtob(value, &on)) return absl::OkStatus();
  return BadValue(parameter, value, "0 or 1");
}

absl::Status ParseFolder(const char* name, const char* parameter, std::string& folder) {
  const char* value = sqlite3_uri_parameter(name, parameter);
  if (value == nullptr) return absl::OkStatus();
  std::error_code error;
  if (!std::filesystem::is_directory(value, error)) return BadValue(parameter, value, "a folder");
  folder = value;
  return absl::OkStatus();
}

// Refuses misspelled parameters and duplicates, which SQLite would ignore.
absl::Status CheckNames(const char* name) {
  // Known are Cairn's, and SQLite's own: https://www.sqlite.org/uri.html and its C API.
  static constexpr const char* kKnown[] = {
      "codec", "level", "chunksize", "generation", "history", "durability", "mmap",   "tmpdir",
      "vfs",   "mode",  "cache",     "psow",       "nolock",  "immutable",  "modeof", "8_3_names"};
  std::vector<std::string_view> seen;
  const auto holds = [](const auto& names, std::string_view wanted) {
    return std::ranges::find(names, wanted) != std::end(names);
  };
  for (int i = 0; const char* const key = sqlite3_uri_key(name, i); ++i) {
    // Drivers pass on their own parameters, such as _busy_timeout.
    if (key[0] == '_') continue;
    if (!holds(kKnown, key)) {
      return absl::InvalidArgumentError(
          absl::StrCat("URI parameter ", key, ": expected one of ", absl::StrJoin(kKnown, ", ")));
    }
    if (holds(seen, key)) {
      return absl::InvalidArgumentError(absl::StrCat("URI parameter ", key, ": given twice"));
    }
    seen.push_back(key);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DatabaseOptions> ParseDatabaseOptions(const char* name) {
  DatabaseOptions options;
  RETURN_IF_ERROR(CheckNames(name));
  RETURN_IF_ERROR(ParseCodec(name, options.codec));
  RETURN_IF_ERROR(ParseNumber(name, "level", 0, kMaxLevel, options.level));
  RETURN_IF_ERROR(
      ParseNumber(name, "chunksize", kMinPage, DatabaseOptions::kMaxChunk, options.chunksize));
  RETURN_IF_ERROR(ParseNumber(name, "generation", uint64_t{0}, UINT64_MAX, options.generation));
  std::optional<uint64_t> keep;
  RETURN_IF_ERROR(ParseNumber(name, "history", uint64_t{0}, UINT64_MAX, keep));
  options.keep_generations = keep.value_or(0);
  RETURN_IF_ERROR(ParseDurability(name, options.durability));
  RETURN_IF_ERROR(ParseSwitch(name, "mmap", options.mmap));
  RETURN_IF_ERROR(ParseFolder(name, "tmpdir", options.tmpdir));
  return options;
}

int PageLevel(Codec codec) {
  switch (codec) {
    case Codec::kLz4:
      return 9;  // costs no more time than 5
    case Codec::kZstd:
      return 1;  // as small as 3 within 3%, in half its time
    default:
      return 5;
  }
}

CompressionOptions CompressionOf(const DatabaseOptions& options, CompressionOptions stored) {
  if (options.codec.has_value() && *options.codec != stored.codec) {
    stored.codec = *options.codec;
    stored.clevel = PageLevel(stored.codec);
  }
  if (options.level.has_value()) stored.clevel = *options.level;
  return stored;
}

}  // namespace cairn::sqlite

// cairn: packs files into Blosc2 frames, reads them, and inspects, edits and checks frames.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/command_line.h"
#include "tools/cairn/io/effort.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/sudden_end.h"
#include "tools/cairn/text/complain.h"
#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/exit.h"
#include "tools/cairn/text/json.h"

namespace cairn::tool {
namespace {

// Reports on standard error. If JSON was asked for and none was printed, prints an object, too.
ExitCode Report(ExitCode code, bool json, absl::StatusCode kind, const std::string& complaint) {
  Complain(complaint);
  if (json) {
    const Json object = {{"error", HideQueries(complaint)},
                         {"code", absl::StatusCodeToString(kind)},
                         {"exit_status", static_cast<int>(code)}};
    WriteStdout(Dump(object, 2) + "\n").IgnoreError();
  }
  return code;
}

// Reports a wrong command line in one line too, which tells where to read more.
ExitCode ComplainOfUsage(const std::string& name, bool json, std::string_view complaint) {
  return Report(kExitUsage, json, absl::StatusCode::kInvalidArgument,
                absl::StrFormat("%s; see '%s --help'", complaint, name));
}

// Returns the command that helps after an error, or an empty text.
std::string AdviceOn(const absl::Status& status) {
  if (absl::StrContains(status.message(), "the file is truncated")) {
    return "see 'cairn recover --help'";
  }
  if (absl::StrContains(status.message(), "a recovery that drops stranded commits")) {
    return "save first what can be saved, by 'cairn recover --salvage FRAME OUT'; then "
           "'cairn recover --drop-stranded FRAME' does it";
  }
  if (absl::IsDataLoss(status) && absl::StrContains(status.message(), ": trailer: fingerprint:")) {
    return "'cairn recover --salvage FRAME OUT' saves what is intact";
  }
  if (absl::EndsWith(status.message(), ", or be anonymous")) return "--anonymous signs no request";
  if (absl::EndsWith(status.message(), ": cannot create: Permission denied")) {
    return "this user may not write its directory";
  }
  if (!IsNoFrame(status)) return "";
  const bool is_file = absl::EndsWith(status.message(), ": not a Blosc2 frame");
  return is_file ? "if its first bytes were overwritten, see 'cairn recover --help'"
                 : "of a log, name one of its files, or see 'cairn log --help'";
}

ExitCode Run(const std::string& name, bool json, const Command& command) {
  const absl::Status status = command();
  if (const std::string advice = AdviceOn(status); !advice.empty()) {
    return Report(kExitFailure, json && !IsPrinted(status), status.code(),
                  absl::StrCat(status.message(), "; ", advice));
  }
  const ExitCode code = ExitCodeOf(status);
  json = json && !IsPrinted(status);
  if (code == kExitUsage) return ComplainOfUsage(name, json, std::string(status.message()));
  if (code == kExitFailure) return Report(code, json, status.code(), std::string(status.message()));
  return code;
}

int Main(int argc, char** argv) {
  const ParsedCommandLine parsed = ParseCommandLine(argc, argv);
  const bool json = std::count(argv, argv + argc, std::string_view("--json")) > 0;
  ReportLackOfMemory(json);
  if (!parsed.complaint.empty()) return ComplainOfUsage(parsed.name, json, parsed.complaint);
  if (!parsed.text.empty())
    return Run(parsed.name, false, [&] { return WriteStdout(parsed.text); });
  // Options of stores come from the environment.
  if (parsed.anonymous) ::setenv("AWS_NO_SIGN_REQUEST", "true", 1);
  const auto begin = std::chrono::steady_clock::now();
  const ExitCode code = Run(parsed.name, json, parsed.command);
  if (parsed.verbose) Complain(DescribeEffort(std::chrono::steady_clock::now() - begin));
  return code;
}

}  // namespace
}  // namespace cairn::tool

int main(int argc, char** argv) {
  if (!cairn::tool::FillClosedStreams()) return cairn::tool::kExitFailure;
  // A closed pipe and a file size limit must be errors of write. They must not kill the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  cairn::tool::RaiseFileLimit();
  cairn::tool::ReportLostPages();
  return cairn::tool::Main(argc, argv);
}

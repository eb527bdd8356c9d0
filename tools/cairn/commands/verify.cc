// cairn verify: checks every section and chunk of frames.

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/progress.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/exit.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/place.h"
#include "tools/cairn/text/stored_size.h"
#include "tools/cairn/text/units.h"

namespace cairn::tool {

namespace {

struct VerifyFlags {
  std::vector<std::string> frames;
  bool json = false;
  int64_t offset = 0;
  int threads = 0;
};

// The result for one frame.
struct Outcome {
  std::string path;
  absl::StatusOr<VerifyReport> report;
  // Bytes of the frame and of its journal, if there is a report.
  int64_t size = 0;
  int64_t journal_size = 0;
};

bool IsFine(const Outcome& outcome) { return outcome.report.ok() && outcome.report->ok(); }

// Returns the error without the path that it may begin with.
std::string ErrorOf(const Outcome& outcome) {
  std::string message(About(outcome.path, outcome.report.status()).message());
  if (message.starts_with(outcome.path + ": ")) message.erase(0, outcome.path.size() + 2);
  return message;
}

std::vector<std::string> Describe(const Outcome& outcome) {
  std::string text = absl::StrCat(outcome.path, ": ");
  if (!outcome.report.ok()) {
    const char* verdict = absl::IsDataLoss(outcome.report.status()) ? "DAMAGED" : "not checked";
    return {absl::StrCat(text, verdict, ": ", ErrorOf(outcome))};
  }
  const VerifyReport& report = *outcome.report;
  if (!report.ok()) {
    const int64_t findings = std::ssize(report.findings) + report.omitted;
    absl::StrAppend(&text, "DAMAGED: ", FormatCount(findings, "finding"), ", ");
  } else {
    absl::StrAppend(&text, "ok, ");
  }
  absl::StrAppend(&text, report.sealed ? "sealed, " : "not sealed, ",
                  FormatCount(report.nchunks, "chunk"), ", ", FormatByteSize(outcome.size));
  if (outcome.journal_size > 0) {
    absl::StrAppend(&text, " and a journal of ", FormatByteSize(outcome.journal_size));
  }
  std::vector<std::string> lines = {std::move(text)};
  for (const Finding& finding : report.findings) {
    lines.push_back(absl::StrFormat("  [%d, %d) %s: %s", finding.begin, finding.end,
                                    finding.section,
                                    WithoutPlace(finding.section, finding.reason)));
  }
  if (report.omitted > 0) lines.push_back(absl::StrFormat("  and %d more", report.omitted));
  for (const std::string& note : report.notes) lines.push_back("  note: " + note);
  return lines;
}

// Returns one line. Its keys are those that docs/cli.md lists.
std::string JsonOf(const Outcome& outcome) {
  if (!outcome.report.ok()) {
    const char* verdict = absl::IsDataLoss(outcome.report.status()) ? "damaged" : "not checked";
    return Dump(
        {{"path", HideQueries(outcome.path)}, {"verdict", verdict}, {"error", ErrorOf(outcome)}},
        -1);
  }
  const VerifyReport& report = *outcome.report;
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"begin", finding.begin},
                        {"end", finding.end},
                        {"section", finding.section},
                        {"reason", WithoutPlace(finding.section, finding.reason)}});
  }
  return Dump({{"path", HideQueries(outcome.path)},
               {"verdict", report.ok() ? "ok" : "damaged"},
               {"sealed", report.sealed},
               {"nchunks", report.nchunks},
               {"size", outcome.size},
               {"journal_size", outcome.journal_size},
               {"findings", findings},
               {"omitted", report.omitted},
               {"notes", report.notes}},
              -1);
}

// A zip file has checksums beside those of its frames.
Outcome CheckStore(const std::string& path, Sources& sources) {
  const absl::StatusOr<CollectionSnapshot> store = sources.OpenPacked(path);
  if (!store.ok()) return {.path = path, .report = store.status()};
  std::error_code error;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, error));
  absl::StatusOr<VerifyReport> report = store->Verify();
  const absl::StatusOr<IncrementInfo> increment = store->GetIncrementInfo();
  if (report.ok() && increment.ok()) {
    report->notes.push_back(absl::StrFormat("an increment of a collection, from commit %d to %d",
                                            increment->base_generation,
                                            increment->result_generation));
  }
  return {.path = path, .report = std::move(report), .size = error ? 0 : size};
}

Outcome CheckFrame(const std::string& path, Sources& sources) {
  const std::optional<CollectionPlace> place = sources.Find(path);
  if (place.has_value() && place->name.empty()) return CheckStore(place->collection, sources);
  // A store of values is a frame, too, whose values are frames again.
  if (members::IsStoreFile(path) && sources.OpenPacked(path).ok()) {
    return CheckStore(path, sources);
  }
  const absl::StatusOr<Snapshot> snapshot = sources.Open(path);
  if (!snapshot.ok()) return {.path = path, .report = snapshot.status()};
  const FrameInfo& info = snapshot->info();
  Progress progress(absl::StrCat("verifying ", path), info.nchunks, "chunk");
  const auto show = [&](int64_t chunks) {
    progress.Show(chunks);
    return true;
  };
  return {.path = path,
          .report = snapshot->Verify({.progress = show}),
          .size = StoredSize(info),
          .journal_size = info.journal_size};
}

// By the paths of members: what contradicts the ledger, and not the member's own checksums.
using Contradictions = std::map<std::string, Finding>;

// Finds members that the ledger lists in another state than the newest one of their files. The rest
// of the report is that of the frames, which are checked one by one, and so are errors.
void AddContradictions(const std::string& path, Sources& sources, Contradictions& found) {
  const std::optional<CollectionPlace> place = sources.Find(path);
  const bool is_whole = place.has_value() && place->name.empty();
  if (!is_whole || IsUri(path) || members::IsStoreFile(path)) return;
  const absl::StatusOr<CollectionSnapshot> snapshot = sources.OpenCollection(place->collection);
  if (!snapshot.ok()) return;
  const absl::StatusOr<VerifyReport> report = snapshot->Verify({.depth = VerifyDepth::kStructure});
  if (!report.ok()) return;
  for (const Finding& finding : report->findings) {
    if (snapshot->HasMember(finding.section)) {
      found.emplace(place->collection + finding.section, finding);
    }
  }
}

// Prints each result as soon as it is known. In JSON they are the elements of one array.
absl::Status Print(const Outcome& outcome, bool json, bool first) {
  if (!json) return WriteLines(Describe(outcome));
  return WriteStdout(absl::StrCat(first ? "[\n  " : ",\n  ", JsonOf(outcome)));
}

absl::Status Conclude(int64_t frames, int64_t checked, int64_t bad) {
  const std::string all = FormatCount(frames, "frame");
  if (checked < frames) {
    return Printed(absl::UnavailableError(absl::StrFormat(
        "standard output was closed: only %d of %s were checked, %d failed the check", checked, all,
        bad)));
  }
  if (bad == 0) return absl::OkStatus();
  return Printed(absl::DataLossError(absl::StrFormat("%d of %s failed the check", bad, all)));
}

absl::Status Verify(const VerifyFlags& flags) {
  OpenOptions options;
  options.offset = flags.offset;
  options.executor = MakeExecutor(flags.threads);
  Sources sources(options);
  const std::vector<std::string> asked = FramesAt(flags.frames);
  Contradictions contradictions;
  for (const std::string& path : asked) AddContradictions(path, sources, contradictions);
  const std::vector<std::string> frames = sources.Expand(asked);
  int64_t checked = 0;
  int64_t bad = 0;
  for (const std::string& path : frames) {
    Outcome outcome = CheckFrame(path, sources);
    const auto contradiction = contradictions.find(path);
    if (contradiction != contradictions.end() && outcome.report.ok()) {
      outcome.report->findings.push_back(contradiction->second);
      outcome.report->findings.back().section = "ledger";
    }
    ++checked;
    if (!IsFine(outcome)) ++bad;
    const absl::Status written = Print(outcome, flags.json, checked == 1);
    // The reader of a closed pipe has the lines that it wanted, but the verdict still counts all
    // frames.
    if (absl::IsCancelled(written)) break;
    if (!written.ok()) return written;
  }
  if (flags.json) {
    const absl::Status written = WriteStdout("\n]\n");
    if (!written.ok() && !absl::IsCancelled(written)) return written;
  }
  return Conclude(std::ssize(frames), checked, bad);
}

}  // namespace

void AddVerify(CLI::App& app, Command& chosen) {
  CLI::App* verify = app.add_subcommand("verify", "Check every section and chunk of frames");
  const auto flags = std::make_shared<VerifyFlags>();
  AddPaths(*verify, "FRAME", flags->frames)
      ->description("The frames; of a log of many files, or a collection, its directory");
  verify->add_flag("--json", flags->json, "Print JSON");
  AddOffset(*verify, flags->offset)->description("Where in each file the frame begins");
  AddThreads(*verify, flags->threads);
  verify->footer(
      "Prints one line per frame and, below it, one for each damaged chunk or section with its\n"
      "bytes [begin, end) in the frame. Exit status 1 when any frame is damaged or not checked.\n"
      "\nExample:\n"
      "  cairn verify *.b2frame");
  verify->callback([flags, &chosen] { chosen = [flags] { return Verify(*flags); }; });
}

}  // namespace cairn::tool

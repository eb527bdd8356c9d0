// cairn recover: repairs a frame that a dead writer or a damaged disk left.

#include "cairn/recover.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "cairn/collection.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/patience.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/place.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct RecoverFlags {
  std::string frame;
  std::string out;
  bool dry_run = false;
  bool drop_stranded = false;
  bool salvage = false;
  bool json = false;
  int threads = 0;
  std::chrono::milliseconds wait{0};
};

bool IsWell(const RecoveryReport& report) {
  return !report.header_restored && report.commits == 0 && report.stranded_commits == 0 &&
         report.cut == 0;
}

// Returns true unless Cairn reads and writes the frame as it is. Commits of a journal are an affair
// of other libraries.
bool NeedsRepair(const RecoveryReport& report) {
  return report.header_restored || report.stranded_commits > 0;
}

std::string Summarize(const RecoverFlags& flags, const RecoveryReport& report) {
  const std::string head = absl::StrFormat("%s: generation %d, ", flags.frame, report.generation);
  if (IsWell(report)) return head + "nothing to recover (cairn verify checks the chunks)";
  if (flags.dry_run) {
    return absl::StrCat(head, NeedsRepair(report) ? "needs recovery" : "Cairn needs no recovery",
                        "; nothing was changed");
  }
  return absl::StrFormat("%srecovered, %s before, %s now", head, FormatByteSize(report.size_before),
                         FormatByteSize(report.size_after));
}

std::vector<std::string> Describe(const RecoverFlags& flags, const RecoveryReport& report) {
  std::vector<std::string> lines = {Summarize(flags, report)};
  if (report.header_restored) {
    lines.push_back(
        absl::StrFormat("  the header is unusable or older than the file, and %s restored from the "
                        "trailer of generation %d",
                        flags.dry_run ? "would be" : "was", report.checkpoint_generation));
  }
  if (report.missing_checkpoint_end > 0) {
    lines.push_back(absl::StrFormat(
        "  the header led to a checkpoint that ends at byte %d and cannot be read: if it was newer "
        "than generation %d, its commits are lost",
        report.missing_checkpoint_end, report.checkpoint_generation));
  }
  if (report.commits > 0) {
    lines.push_back(absl::StrFormat(
        "  %s after the checkpoint of generation %d%s", FormatCount(report.commits, "commit"),
        report.checkpoint_generation,
        flags.dry_run ? ", which another Blosc2 sees only once they are checkpointed"
                      : ", now checkpointed"));
  }
  if (report.stranded_commits > 0) {
    lines.push_back(absl::StrFormat(
        "  %s after generation %d that cannot be read because the journal is damaged%s",
        FormatCount(report.stranded_commits, "commit"), report.generation,
        flags.dry_run ? "" : ", dropped"));
  }
  if (report.cut > 0) {
    lines.push_back(absl::StrFormat("  %s at the end that hold %s%s", FormatByteSize(report.cut),
                                    report.stranded_commits > 0 ? "no other commit" : "no commit",
                                    flags.dry_run ? "" : ", cut off"));
  }
  return lines;
}

// Says what a log loses with a vlmetalayer whose name begins so. The first that fits counts.
struct LogPart {
  std::string_view name;
  std::string_view lost;
};
constexpr LogPart kLogParts[] = {
    {.name = "cairn.log.keys",
     .lost = "texts of keys are lost: a query shows such a key as '?' with its code"},
    {.name = "cairn.log.edits",
     .lost =
         "the list of deleted records is lost: deleted records are there again, without values"},
    {.name = "cairn.log.fields",
     .lost = "which fields hold keys is lost: keys are shown as the numbers that stand for them"},
    {.name = "cairn.log.stats", .lost = ""},  // a writer makes them again
    {.name = "cairn.log",
     .lost = "limits and the number of the first record are lost: records count from 0"},
};

// Returns what the log loses, each once.
std::vector<std::string> LostOfLog(const SalvageReport& report) {
  std::vector<std::string> lines;
  for (const std::string& name : report.lost_metalayers) {
    const auto* const part = std::ranges::find_if(
        kLogParts, [&](const LogPart& one) { return name.starts_with(one.name); });
    if (part == std::end(kLogParts) || part->lost.empty()) continue;
    if (std::ranges::count(report.older_metalayers, name) > 0) continue;
    std::string line = std::string("  log: ").append(part->lost);
    if (std::ranges::count(lines, line) == 0) lines.push_back(std::move(line));
  }
  return lines;
}

void DescribeLostMetalayers(const SalvageReport& report, std::vector<std::string>& lines) {
  std::vector<std::string> lost = report.lost_metalayers;
  const bool has_others = std::erase(lost, "*") > 0;
  if (!lost.empty()) {
    lines.push_back("  lost: metalayer " + OneLine(absl::StrJoin(lost, ", ")));
  }
  if (has_others) {
    lines.push_back(
        "  other metalayers may be lost, such as the keys, the deletions and the limits of a log");
  }
  if (!report.older_metalayers.empty()) {
    lines.push_back(
        absl::StrFormat("  from an older state: metalayer %s; what changed in it since is lost",
                        OneLine(absl::StrJoin(report.older_metalayers, ", "))));
  }
  for (std::string& line : LostOfLog(report)) lines.push_back(std::move(line));
}

std::vector<std::string> Describe(const RecoverFlags& flags, const SalvageReport& report) {
  std::vector<std::string> lines = {absl::StrFormat("%s: %s, %s saved", flags.out,
                                                    FormatCount(report.chunks, "chunk"),
                                                    FormatByteSize(report.nbytes))};
  if (report.scanned) {
    lines.push_back(
        "  all bytes were searched: the chunks are in the order of the file, overwritten ones "
        "among them, and chunks of one value that only the index held are lost");
  }
  for (const LostBytes& lost : report.lost) {
    lines.push_back(
        absl::StrFormat("  [%d, %d): %s", lost.begin, lost.end, PlaceOnce(lost.reason)));
  }
  if (!report.holes.empty()) {
    lines.push_back("  holes, which cannot be read: chunk " + FormatRanges(report.holes));
  }
  if (!report.unproven.empty()) {
    lines.push_back("  not proven by a fingerprint: chunk " + FormatRanges(report.unproven));
  }
  if (!report.unproven_metalayers.empty()) {
    lines.push_back("  not proven by a seal: metalayer " +
                    OneLine(absl::StrJoin(report.unproven_metalayers, ", ")));
  }
  DescribeLostMetalayers(report, lines);
  return lines;
}

// The keys are those that docs/cli.md lists.
Json JsonOf(const RecoverFlags& flags, const RecoveryReport& report) {
  return {{"path", HideQueries(flags.frame)},
          {"dry_run", flags.dry_run},
          {"well", IsWell(report)},
          {"header_restored", report.header_restored},
          {"checkpoint_generation", report.checkpoint_generation},
          {"generation", report.generation},
          {"commits", report.commits},
          {"stranded_commits", report.stranded_commits},
          {"cut", report.cut},
          {"size_before", report.size_before},
          {"size_after", report.size_after},
          {"missing_checkpoint_end", report.missing_checkpoint_end}};
}

Json JsonOf(const RecoverFlags& flags, const SalvageReport& report) {
  Json lost = Json::array();
  for (const LostBytes& bytes : report.lost) {
    lost.push_back(
        {{"begin", bytes.begin}, {"end", bytes.end}, {"reason", PlaceOnce(bytes.reason)}});
  }
  return {{"path", HideQueries(flags.out)},
          {"nchunks", report.chunks},
          {"nbytes", report.nbytes},
          {"lost", lost},
          {"holes", report.holes},
          {"unproven", report.unproven},
          {"unproven_metalayers", report.unproven_metalayers},
          {"scanned", report.scanned},
          {"lost_metalayers", report.lost_metalayers},
          {"older_metalayers", report.older_metalayers}};
}

template <typename Report>
absl::Status Print(const RecoverFlags& flags, const Report& report) {
  return flags.json ? WriteStdout(Dump(JsonOf(flags, report), 2) + "\n")
                    : WriteLines(Describe(flags, report));
}

absl::Status RecoverFrame(const RecoverFlags& flags) {
  const HeldSignals signals;
  const absl::StatusOr<RecoveryReport> report =
      WaitForTurn(flags.wait, [&](std::chrono::milliseconds part) {
        auto tried = Recover(flags.frame, {.dry_run = flags.dry_run,
                                           .drop_stranded = flags.drop_stranded,
                                           .file_system = FilesAt(flags.frame)});
        if (absl::IsUnavailable(tried.status())) std::this_thread::sleep_for(part);
        return tried;
      });
  return report.ok() ? Print(flags, *report) : report.status();
}

absl::Status SalvageFrame(const RecoverFlags& flags) {
  const HeldSignals signals;
  const std::shared_ptr<Executor> executor = MakeExecutor(flags.threads);
  RETURN_IF_ERROR(CheckIsNoMember(flags.out));
  SalvageOptions options;
  options.open.executor = executor;
  options.progress = [&](int64_t /*byte*/) { return signals.Check().ok(); };
  const absl::StatusOr<SalvageReport> report = Salvage(flags.frame, flags.out, options);
  return report.ok() ? Print(flags, *report) : report.status();
}

void AddLines(std::string_view what, const std::vector<std::string>& names,
              std::vector<std::string>& lines) {
  for (const std::string& name : names)
    lines.push_back(absl::StrFormat("  %s: %s", what, OneLine(name)));
}

absl::Status Print(const RecoverFlags& flags, const CollectionRecovery& report) {
  if (flags.json) {
    const Json json = {{"path", flags.frame},
                       {"kind", "collection"},
                       {"ledger_lost", report.ledger_lost},
                       {"adopted", report.adopted},
                       {"missing", report.missing},
                       {"unreadable", report.unreadable}};
    return WriteStdout(Dump(json, 2) + "\n");
  }
  const bool is_well = report == CollectionRecovery();
  std::vector<std::string> lines = {absl::StrCat(
      OneLine(flags.frame), is_well ? ": nothing to recover (cairn verify checks the members)"
                            : report.ledger_lost ? ": recovered, with a new ledger"
                                                 : ": recovered")};
  AddLines("listed as it is", report.adopted, lines);
  AddLines("removed, since its file is missing", report.missing, lines);
  AddLines("left as it is", report.unreadable, lines);
  return WriteLines(lines);
}

// Returns true for a directory that is neither a sparse frame nor a log, and for the path of a
// collection in a store.
bool MayBeCollection(const std::string& path) {
  const std::optional<CollectionPlace> place = FindInCollection(path);
  if (IsUri(path)) return place.has_value() && place->name.empty();
  std::error_code error;
  const std::filesystem::path directory(path);
  return std::filesystem::is_directory(directory, error) &&
         !std::filesystem::exists(directory / "chunks.b2frame", error);
}

absl::Status RecoverMembers(const RecoverFlags& flags) {
  if (flags.dry_run || flags.drop_stranded) {
    return absl::InvalidArgumentError(
        "--dry-run and --drop-stranded are of frames; 'cairn verify' tells what differs in a "
        "collection");
  }
  const absl::StatusOr<CollectionRecovery> report =
      WaitForTurn(flags.wait, [&](std::chrono::milliseconds part) {
        auto tried =
            Collection::Recover(flags.frame, {.members = {.file_system = FilesAt(flags.frame)}});
        if (absl::IsUnavailable(tried.status())) std::this_thread::sleep_for(part);
        return tried;
      });
  // A directory without members is none of a collection.
  if (absl::IsNotFound(report.status())) return RecoverFrame(flags);
  if (!report.ok()) return report.status();
  RETURN_IF_ERROR(Print(flags, *report));
  if (report->unreadable.empty()) return absl::OkStatus();
  return Printed(absl::DataLossError(
      absl::StrFormat("%s cannot be read", FormatCount(std::ssize(report->unreadable), "member"))));
}

absl::Status Run(const RecoverFlags& flags) {
  if (!flags.salvage && MayBeCollection(flags.frame)) return RecoverMembers(flags);
  return flags.salvage ? SalvageFrame(flags) : RecoverFrame(flags);
}

}  // namespace

void AddRecover(CLI::App& app, Command& chosen) {
  CLI::App* recover =
      app.add_subcommand("recover", "Repair a frame or a collection after a crash or damage");
  const auto flags = std::make_shared<RecoverFlags>();
  recover->add_option("FRAME", flags->frame, "The frame, or the collection")->required();
  CLI::Option* out = recover->add_option("OUT", flags->out, "With --salvage: the frame to make");
  CLI::Option* dry_run =
      recover->add_flag("--dry-run", flags->dry_run, "Only print what would be done");
  CLI::Option* drop = recover->add_flag("--drop-stranded", flags->drop_stranded,
                                        "Cut off commits that a damaged journal makes unreadable");
  CLI::Option* salvage = recover
                             ->add_flag("--salvage", flags->salvage,
                                        "Search all bytes for intact chunks and make a "
                                        "frame of them; FRAME stays as it is")
                             ->needs(out)
                             ->excludes(dry_run)
                             ->excludes(drop);
  out->needs(salvage);
  recover->add_flag("--json", flags->json, "Print JSON");
  AddWait(*recover, flags->wait)->excludes(salvage);
  AddThreads(*recover, flags->threads)->needs(salvage);
  recover->footer(
      "Leaves a frame that any Blosc2 reads completely: it checkpoints the commits of the journal "
      "and\n"
      "restores an unusable header from its copy. If that fails, use --salvage.\n"
      "In a collection, lists members as their files are, and makes a lost ledger again.\n"
      "\nExamples:\n"
      "  cairn recover temps.b2frame\n"
      "  cairn recover --salvage broken.b2frame saved.b2frame");
  recover->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Run(*flags)); }; });
}

}  // namespace cairn::tool

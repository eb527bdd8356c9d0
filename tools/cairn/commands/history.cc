// cairn history: lists the states of a frame or a collection that can still be read.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/report/damage_check.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct HistoryFlags {
  std::string frame;
  bool json = false;
  int64_t offset = 0;
  HistoryOptions page;
};

using History = std::vector<GenerationInfo>;

const char* KindOf(const GenerationInfo& state) {
  return state.checkpoint ? "checkpoint" : "commit";
}

std::string TextOfHistory(const History& history) {
  std::string text =
      absl::StrFormat("%12s  %-10s %8s %11s %14s\n", "generation", "kind", "chunks", "data", "end");
  for (const GenerationInfo& state : history) {
    absl::StrAppendFormat(&text, "%12d  %-10s %8d %11s %14d\n", state.generation, KindOf(state),
                          state.nchunks, FormatByteSize(state.nbytes), state.end);
  }
  return text;
}

std::string JsonOfHistory(const History& history) {
  Json array = Json::array();
  for (const GenerationInfo& state : history) {
    array.push_back({{"generation", state.generation},
                     {"kind", KindOf(state)},
                     {"nchunks", state.nchunks},
                     {"nbytes", state.nbytes},
                     {"end", state.end}});
  }
  return array.dump(2) + "\n";
}

// Takes the page out of all commits of a collection.
std::vector<CommitInfo> PageOf(std::vector<CommitInfo> history, const HistoryOptions& page) {
  if (page.before.has_value()) {
    std::erase_if(history, [&](const CommitInfo& commit) { return commit.number >= *page.before; });
  }
  const auto most = static_cast<size_t>(std::min<int64_t>(page.limit, std::ssize(history)));
  history.erase(history.begin(), history.end() - static_cast<ptrdiff_t>(most));
  return history;
}

std::string TextOfCommits(const std::vector<CommitInfo>& history) {
  std::string text = absl::StrFormat("%12s %9s %9s %9s %12s\n", "commit", "added", "removed",
                                     "changed", "attributes");
  for (const CommitInfo& commit : history) {
    absl::StrAppendFormat(&text, "%12d %9d %9d %9d %12d\n", commit.number, commit.added.size(),
                          commit.removed.size(), commit.changed.size(), commit.attributes.size());
  }
  return text;
}

std::string JsonOfCommits(const std::vector<CommitInfo>& history) {
  Json array = Json::array();
  for (const CommitInfo& commit : history) {
    array.push_back({{"generation", commit.number},
                     {"added", commit.added},
                     {"removed", commit.removed},
                     {"changed", commit.changed},
                     {"attributes", commit.attributes}});
  }
  return Dump(array, 2) + "\n";
}

absl::Status ListCommits(const HistoryFlags& flags) {
  if (flags.offset != 0) return absl::InvalidArgumentError("--offset is of frames");
  ASSIGN_OR_RETURN(
      Collection collection,
      Collection::Open(flags.frame, {.members = {.file_system = FilesAt(flags.frame)}}));
  ASSIGN_OR_RETURN(std::vector<CommitInfo> all, collection.History());
  const std::vector<CommitInfo> history = PageOf(std::move(all), flags.page);
  return WriteStdout(flags.json ? JsonOfCommits(history) : TextOfCommits(history));
}

absl::Status ListHistory(const HistoryFlags& flags) {
  const std::optional<CollectionPlace> place = FindInCollection(flags.frame);
  if (place.has_value() && place->name.empty()) return ListCommits(flags);
  OpenOptions options;
  options.offset = flags.offset;
  ASSIGN_OR_RETURN(const Frame frame, OpenFrame(flags.frame, options));
  ASSIGN_OR_RETURN(const History history, frame.History(flags.page));
  const absl::Status status =
      WriteStdout(flags.json ? JsonOfHistory(history) : TextOfHistory(history));
  return status.ok() ? CheckDamage(frame.snapshot()) : status;
}

}  // namespace

void AddHistory(CLI::App& app, Command& chosen) {
  CLI::App* history = app.add_subcommand("history", "List the generations that can still be read");
  const auto flags = std::make_shared<HistoryFlags>();
  history->add_option("FRAME", flags->frame, "The frame, or a collection, whose commits are listed")
      ->required();
  history->add_flag("--json", flags->json, "Print JSON");
  AddNumber(*history, "--limit", flags->page.limit, int64_t{0}, std::numeric_limits<int64_t>::max())
      ->description("The newest N generations only [all]");
  AddNumber(*history, "--before", flags->page.before, uint64_t{0},
            std::numeric_limits<uint64_t>::max())
      ->type_name("G")
      ->description("Only generations before G");
  AddOffset(*history, flags->offset)->description("Where in the file the frame begins");
  history->footer(
      "The oldest comes first. Any Blosc2 could read a checkpoint; only Cairn reads the journal.\n"
      "\nExample: read generation 2\n"
      "  cairn history temps.b2frame\n"
      "  cairn cat temps.b2frame --generation 2 > old.f32");
  history->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, ListHistory(*flags)); }; });
}

}  // namespace cairn::tool

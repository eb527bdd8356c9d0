// cairn meta: shows or changes the metadata of a frame, one layer at a time.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/patience.h"
#include "tools/cairn/report/damage_check.h"
#include "tools/cairn/report/frame_summary.h"
#include "tools/cairn/report/meta_text.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/exit.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct MetaFlags {
  std::string frame;
  std::string name;
  std::string input = "-";
  bool fixed = false;
  bool json = false;
  bool raw = false;
  int64_t offset = 0;
  std::chrono::milliseconds wait{0};
  uint64_t keep = 0;
};

absl::StatusOr<Snapshot> OpenSnapshot(const MetaFlags& flags) {
  OpenOptions options;
  options.offset = flags.offset;
  return Sources(options).Open(flags.frame);
}

absl::Status List(const MetaFlags& flags) {
  ASSIGN_OR_RETURN(const Snapshot snapshot, OpenSnapshot(flags));
  std::vector<LayerSize> layers;
  std::vector<UnreadLayer> unread;
  for (const Metalayer& layer : snapshot.metalayers()) {
    layers.push_back({.fixed = true, .name = layer.name, .size = layer.content.size()});
  }
  for (const std::string& name : ReadableVlmeta(snapshot)) {
    const absl::StatusOr<std::vector<std::byte>> content = snapshot.GetVlmetalayer(name);
    LayerSize layer = {.fixed = false, .name = name};
    if (content.ok()) {
      layer.size = content->size();
    } else {
      layer.error = std::string(content.status().message());
      unread.push_back({.name = name, .why = content.status()});
    }
    layers.push_back(std::move(layer));
  }
  const absl::Status status =
      WriteStdout(flags.json ? JsonOfLayerSizes(layers) : TextOfLayerSizes(layers));
  if (!status.ok()) return status;
  RETURN_IF_ERROR(CheckDamage(snapshot));
  return Printed(DamageOf(unread));
}

bool HasLayer(const Snapshot& snapshot, bool fixed, const std::string& name) {
  if (!fixed) return std::ranges::count(snapshot.vlmetalayers(), name) > 0;
  return std::ranges::count(snapshot.metalayers(), name, &Metalayer::name) > 0;
}

// Errors: kNotFound if the layer does not exist, with a hint if the other kind has one of that
// name.
absl::Status CheckLayer(const Snapshot& snapshot, const MetaFlags& flags) {
  if (HasLayer(snapshot, flags.fixed, flags.name)) return absl::OkStatus();
  const std::string& name = flags.name;
  const char* const kind = flags.fixed ? "metalayer" : "vlmetalayer";
  if (!HasLayer(snapshot, !flags.fixed, flags.name)) {
    return absl::NotFoundError(absl::StrFormat("%s: no %s '%s'", flags.frame, kind, name));
  }
  return absl::NotFoundError(absl::StrFormat(
      "%s: no %s '%s', but there is a %s of that name: %s --fixed", flags.frame, kind, name,
      flags.fixed ? "vlmetalayer" : "metalayer", flags.fixed ? "leave out" : "give"));
}

// Checks the layer of a frame that is held for writing. Keeps no snapshot, which would keep the
// files of a sparse frame that the edit replaces.
absl::Status CheckLayer(Frame& frame, const MetaFlags& flags) {
  const absl::StatusOr<Snapshot> snapshot = frame.Refresh();
  return snapshot.ok() ? CheckLayer(*snapshot, flags) : snapshot.status();
}

absl::Status PrintContent(const std::vector<std::byte>& content, const MetaFlags& flags) {
  if (flags.raw) return WriteStdout(content);
  return WriteStdout(flags.json ? JsonOfContent(content) : TextOfContent(content));
}

absl::Status Get(const MetaFlags& flags) {
  ASSIGN_OR_RETURN(const Snapshot snapshot, OpenSnapshot(flags));
  const absl::Status damage = CheckDamage(snapshot);
  // A layer that cannot be seen may be lost to the damage.
  if (absl::Status missing = CheckLayer(snapshot, flags); !missing.ok()) {
    return damage.ok() ? missing : damage;
  }
  ASSIGN_OR_RETURN(const std::vector<std::byte> content, flags.fixed
                                                             ? snapshot.GetMetalayer(flags.name)
                                                             : snapshot.GetVlmetalayer(flags.name));
  const absl::Status status = PrintContent(content, flags);
  return status.ok() ? damage : status;
}

absl::Status Set(const MetaFlags& flags) {
  ASSIGN_OR_RETURN(Input input, Input::Open(flags.input));
  ASSIGN_OR_RETURN(Frame frame, OpenFrame(flags.frame));
  ASSIGN_OR_RETURN(
      Writer writer,
      OpenWriterInTurn(frame, WriterOptions{.wait = flags.wait, .keep_generations = flags.keep}));
  if (flags.fixed) {
    RETURN_IF_ERROR(CheckLayer(frame, flags));
  }
  ASSIGN_OR_RETURN(const std::vector<std::byte> content,
                   input.ReadAll(static_cast<size_t>(Limits().max_metadata_nbytes)));
  const absl::Status status = flags.fixed ? writer.SetMetalayer(flags.name, content)
                                          : writer.SetVlmetalayer(flags.name, content);
  return status.ok() ? writer.Close() : status;
}

// Returns the error for a layer whose place in the header cannot be removed.
absl::Status CannotRemove(absl::StatusCode code, const MetaFlags& flags) {
  return {code, absl::StrFormat("%s: '%s' is a metalayer, which cannot be removed; 'cairn meta set "
                                "%s %s --fixed' replaces its content with one of the same size",
                                flags.frame, flags.name, flags.frame, flags.name)};
}

// Keeps no snapshot, as CheckLayer does.
absl::Status CheckRemovable(Frame& frame, const MetaFlags& flags) {
  ASSIGN_OR_RETURN(const Snapshot snapshot, frame.Refresh());
  const bool fixed = HasLayer(snapshot, true, flags.name);
  if (!fixed || HasLayer(snapshot, false, flags.name)) return CheckLayer(snapshot, flags);
  return CannotRemove(absl::StatusCode::kFailedPrecondition, flags);
}

absl::Status Remove(const MetaFlags& flags) {
  if (flags.fixed) return CannotRemove(absl::StatusCode::kInvalidArgument, flags);
  ASSIGN_OR_RETURN(Frame frame, OpenFrame(flags.frame));
  ASSIGN_OR_RETURN(
      Writer writer,
      OpenWriterInTurn(frame, WriterOptions{.wait = flags.wait, .keep_generations = flags.keep}));
  RETURN_IF_ERROR(CheckRemovable(frame, flags));
  const absl::Status status = writer.DeleteVlmetalayer(flags.name);
  return status.ok() ? writer.Close() : status;
}

// A verb of the group, and the command that it runs.
struct Verb {
  const char* name;
  const char* description;
  absl::Status (*command)(const MetaFlags&);
};

CLI::App* AddVerb(CLI::App& group, const Verb& verb, const std::shared_ptr<MetaFlags>& flags,
                  Command& chosen) {
  CLI::App* app = group.add_subcommand(verb.name, verb.description);
  app->add_option("FRAME", flags->frame, "The frame")->required();
  app->callback([flags, command = verb.command, &chosen] {
    chosen = [flags, command] { return About(flags->frame, command(*flags)); };
  });
  return app;
}

void AddName(CLI::App& verb, MetaFlags& flags) {
  verb.add_option("NAME", flags.name, "The layer")->required();
  verb.add_flag("--fixed", flags.fixed, "A metalayer of the header, not a vlmetalayer");
}

void AddMetaLs(CLI::App& group, Command& chosen) {
  const auto flags = std::make_shared<MetaFlags>();
  CLI::App* verb = AddVerb(group, {"ls", "List the layers of both kinds", List}, flags, chosen);
  verb->add_flag("--json", flags->json, "Print JSON");
  AddOffset(*verb, flags->offset)->description("Where in the file the frame begins");
  verb->footer(
      "Example:\n"
      "  cairn meta ls temps.b2frame");
}

void AddGet(CLI::App& group, Command& chosen) {
  const auto flags = std::make_shared<MetaFlags>();
  CLI::App* verb = AddVerb(group, {"get", "Print one layer", Get}, flags, chosen);
  AddName(*verb, *flags);
  CLI::Option* json = verb->add_flag("--json", flags->json, "Always JSON, whatever the content");
  verb->add_flag("--raw", flags->raw, "The bytes unchanged")->excludes(json);
  AddOffset(*verb, flags->offset)->description("Where in the file the frame begins");
  verb->footer(
      "Text is printed unchanged, msgpack as JSON, other bytes as hexadecimal digits.\n"
      "\nExample:\n"
      "  cairn meta get temps.b2frame station");
}

void AddSet(CLI::App& group, Command& chosen) {
  const auto flags = std::make_shared<MetaFlags>();
  CLI::App* verb = AddVerb(group, {"set", "Add or replace a layer", Set}, flags, chosen);
  AddName(*verb, *flags);
  verb->add_option("FILE", flags->input, "The content; '-' is standard input");
  AddKeep(*verb, flags->keep);
  AddWait(*verb, flags->wait);
  verb->footer(
      "A metalayer must exist and keeps its size.\n"
      "\nExample:\n"
      "  printf Lisbon | cairn meta set temps.b2frame station");
}

void AddRemove(CLI::App& group, Command& chosen) {
  const auto flags = std::make_shared<MetaFlags>();
  CLI::App* verb = AddVerb(group, {"rm", "Remove a vlmetalayer", Remove}, flags, chosen);
  AddName(*verb, *flags);
  verb->get_option("--fixed")->description("Refused: metalayers cannot be removed");
  AddKeep(*verb, flags->keep);
  AddWait(*verb, flags->wait);
  verb->footer(
      "Example:\n"
      "  cairn meta rm temps.b2frame station");
}

}  // namespace

void AddMeta(CLI::App& app, Command& chosen) {
  CLI::App* group = app.add_subcommand("meta", "List, print, set or remove metadata");
  group->require_subcommand(1);
  AddMetaLs(*group, chosen);
  AddGet(*group, chosen);
  AddSet(*group, chosen);
  AddRemove(*group, chosen);
  group->footer("See 'cairn meta COMMAND --help' for the options of a command.");
}

}  // namespace cairn::tool

// cairn list: prints the names of a collection's members.

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/json.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct ListFlags {
  std::string path;
  std::optional<uint64_t> commit;
  bool json = false;
};

absl::Status ListMembers(const ListFlags& flags) {
  std::optional<CollectionPlace> place = FindInCollection(flags.path);
  if (!place && members::IsStoreFile(flags.path)) place = {.collection = flags.path, .name = {}};
  if (!place.has_value()) {
    return absl::NotFoundError(absl::StrCat(
        flags.path,
        ": no collection: neither a directory with a file embed.b2e nor a .b2z or .b2e file"));
  }
  OpenOptions options;
  options.generation = flags.commit;
  ASSIGN_OR_RETURN(const CollectionSnapshot snapshot,
                   Sources(options).OpenCollection(place->collection));
  std::vector<std::string> names = snapshot.Members(place->name + "/");
  if (place->is_member && snapshot.HasMember(place->name)) names = {place->name};
  if (place->is_member && names.empty()) {
    return absl::NotFoundError(
        absl::StrCat(place->collection, ": no group or member ", place->name));
  }
  if (!flags.json) return WriteLines(names);
  return WriteStdout(Dump(Json(names), 2) + "\n");
}

}  // namespace

void AddList(CLI::App& app, Command& chosen) {
  CLI::App* list = app.add_subcommand("list", "List the members of a collection");
  const auto flags = std::make_shared<ListFlags>();
  list->add_option("COLLECTION", flags->path,
                   "The directory of the collection, or of a group; or a .b2z or .b2e file")
      ->required();
  AddGeneration(*list, flags->commit);
  list->add_flag("--json", flags->json, "Print JSON");
  list->footer(
      "Prints the name of each member. 'cairn info COLLECTION' tells what they hold.\n"
      "\nExample: read a member\n"
      "  cairn list weather.b2d\n"
      "  cairn cat weather.b2d/day/temp --csv");
  list->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, ListMembers(*flags)); }; });
}

}  // namespace cairn::tool

#include "tools/cairn/report/info_json.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/flags/metadata.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/holders.h"
#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/words.h"

namespace cairn::tool {

namespace {

Json JsonOfFilters(const std::vector<FilterStage>& filters) {
  Json array = Json::array();
  for (const FilterStage& stage : filters) {
    array.push_back({static_cast<int>(stage.filter), static_cast<int>(stage.meta)});
  }
  return array;
}

Json JsonOfCodec(Codec codec) {
  for (const Word<Codec>& word : kCodecWords) {
    if (word.value == codec) return word.name;
  }
  return static_cast<int>(codec);
}

Json JsonOfLayers(const std::vector<Metalayer>& layers) {
  Json object = Json::object();
  for (const Metalayer& layer : layers) object[JsonName(layer.name)] = ToHex(layer.content);
  return object;
}

Json JsonOfNames(const std::vector<std::string>& names) {
  Json array = Json::array();
  for (const std::string& name : names) array.push_back(JsonName(name));
  return array;
}

// A value that was not read is null.
Json JsonOfVlmetalayers(const FrameSummary& summary) {
  Json object = JsonOfLayers(summary.vlmetalayers);
  for (const UnreadLayer& layer : summary.unread) object[JsonName(layer.name)] = nullptr;
  return object;
}

Json JsonOfFields(const std::vector<Field>& fields) {
  Json array = Json::array();
  for (const Field& field : fields) {
    array.push_back({{"name", JsonName(field.name)},
                     {"type", TypeOf(field)},
                     {"offset", field.offset},
                     {"size", field.size}});
  }
  return array;
}

Json JsonOfArray(const std::optional<ArrayInfo>& array) {
  if (!array) return nullptr;
  return {{"shape", array->shape},
          {"chunkshape", array->chunkshape},
          {"blockshape", array->blockshape},
          {"dtype", array->dtype}};
}

Json JsonOfColumns(const FrameSummary& summary) {
  Json columns = Json::array();
  for (const CodedColumn& column : summary.columns) {
    columns.push_back({{"name", JsonName(NameOfColumn(summary, column))},
                       {"offset", column.offset},
                       {"size", column.column.size * column.column.count},
                       {"codec", JsonOfCodec(column.codec)},
                       {"shuffled", column.shuffled}});
  }
  return columns;
}

// A file gets null.
Json JsonOfRequests(const std::optional<ObjectStoreStats>& stats) {
  if (!stats.has_value()) return nullptr;
  return {{"all", stats->requests()},
          {"retries", stats->retries},
          {"bytes_read", stats->bytes_read},
          {"bytes_written", stats->bytes_written}};
}

}  // namespace

std::string JsonOfFrame(const FrameSummary& summary) {
  const FrameInfo& info = summary.info;
  const Json json = {
      {"path", HideQueries(summary.path)},
      {"kind", info.layout == Layout::kContiguous ? "contiguous" : "sparse"},
      {"era", NameOf(kEraWords, info.era)},
      {"format_version", info.format_version},
      {"codec", JsonOfCodec(info.codec)},
      {"level", info.clevel},
      {"filters", JsonOfFilters(info.filters)},
      {"split_mode", NameOf(kSplitModeWords, info.split_mode)},
      {"typesize", info.typesize},
      {"blocksize", info.blocksize.value_or(0)},
      {"chunksize", info.chunksize.value_or(info.variable_chunks ? 0 : -1)},
      {"nchunks", info.nchunks},
      {"nitems", info.nitems},
      {"nbytes", info.nbytes},
      {"cbytes", info.cbytes},
      {"frame_size", info.frame_size},
      {"journal_size", info.journal_size},
      {"journal_damaged", info.journal_damaged},
      {"stranded_commits", info.stranded_commits},
      {"trailer_damaged", info.trailer_damaged},
      {"header_len", info.header_len},
      {"dead_bytes", info.dead_bytes.value_or(-1)},
      {"fingerprint", NameOf(kFingerprintWords, info.fingerprint)},
      {"sealed", info.sealed},
      {"changed_metalayers", JsonOfNames(info.changed_metalayers)},
      {"generation", info.generation},
      {"holders", JsonOfHolders(summary.holders)},
      {"array", JsonOfArray(summary.array)},
      {"recipe", info.recipe.empty() ? Json() : Json(info.recipe)},
      {"fields", JsonOfFields(summary.fields)},
      {"columns", JsonOfColumns(summary)},
      {"requests", JsonOfRequests(summary.requests)},
      {"metalayers", JsonOfLayers(summary.metalayers)},
      {"vlmetalayers", JsonOfVlmetalayers(summary)},
  };
  return Dump(json, 2) + "\n";
}

std::string JsonOfUnreadableFrame(const std::string& path, const absl::Status& why) {
  const Json json = {{"path", HideQueries(path)},
                     {"error", HideQueries(std::string(why.message()))},
                     {"code", absl::StatusCodeToString(why.code())}};
  return Dump(json, 2) + "\n";
}

std::string OpenChunkArray(const std::string& object) {
  return absl::StrCat(object.substr(0, object.rfind("\n}")), ",\n  \"chunks\": [");
}

std::string JsonOfChunk(const ChunkSummary& chunk) {
  const char* const separator = chunk.index == 0 ? "\n    " : ",\n    ";
  if (!chunk.error.empty()) {
    const Json json = {{"index", chunk.index}, {"error", chunk.error}};
    return absl::StrCat(separator, Dump(json, -1));
  }
  const bool special = chunk.special != SpecialValue::kNone;
  const Json json = {
      {"index", chunk.index},
      {"offset", chunk.offset.value_or(-1)},
      {"file", chunk.file.value_or(-1)},
      {"nbytes", chunk.nbytes},
      {"cbytes", chunk.cbytes},
      {"blocksize", chunk.blocksize},
      {"special", special ? Json(NameOf(kSpecialWords, chunk.special)) : Json()},
      {"fingerprint",
       chunk.fingerprint ? Json(absl::StrFormat("%016x", *chunk.fingerprint)) : Json()},
  };
  return absl::StrCat(separator, Dump(json, -1));
}

std::string CloseChunkArray() { return "\n  ]\n}\n"; }

}  // namespace cairn::tool

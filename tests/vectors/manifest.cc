#include "tests/vectors/manifest.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "cairn/chunk.h"

namespace cairn::vectors {
namespace {

std::byte HexDigit(char c) { return static_cast<std::byte>(c <= '9' ? c - '0' : c - 'a' + 10); }

std::vector<std::byte> FromHex(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(HexDigit(hex[i]) << 4 | HexDigit(hex[i + 1]));
  }
  return bytes;
}

}  // namespace

bool Entry::Has(std::string_view key) const {
  const auto found = json.find(key);
  return found != json.end() && !found->is_null();
}

bool Entry::Flag(std::string_view key) const { return Has(key) && json.find(key)->get<bool>(); }

int64_t Entry::Number(std::string_view key) const {
  return Has(key) ? json.find(key)->get<int64_t>() : 0;
}

std::string Entry::Text(std::string_view key) const {
  return Has(key) ? json.find(key)->get<std::string>() : std::string();
}

std::string Entry::content_hash() const {
  return Has("content_xxh128") ? Text("content_xxh128") : Text("content_xxh128_uninit_as_zero");
}

std::optional<Codec> Entry::codec() const {
  const std::string name = Text("codec");
  if (name == "blosclz") return Codec::kBloscLz;
  if (name == "lz4") return Codec::kLz4;
  if (name == "lz4hc") return Codec::kLz4Hc;
  if (name == "zlib") return Codec::kZlib;
  if (name == "zstd") return Codec::kZstd;
  if (name == "ndlz") return Codec::kNdlz;
  if (name == "zfp_acc") return Codec::kZfpAccuracy;
  if (name == "zfp_prec") return Codec::kZfpPrecision;
  if (name == "zfp_rate") return Codec::kZfpRate;
  return std::nullopt;
}

bool Entry::NeedsAnotherBuild() const {
  const std::optional<Codec> id = codec();
  if (!id.has_value() || *id < Codec::kZfpAccuracy) return false;
  CompressionOptions options;
  options.codec = *id;
  options.typesize = 4;
  options.blockshape = {4};
  options.filters.clear();
  return absl::IsUnimplemented(ChunkCompressor::Make(options).status());
}

std::vector<FilterStage> Entry::filters() const {
  std::vector<FilterStage> stages;
  for (const auto& pair : json["filters"]) {
    stages.push_back({.filter = static_cast<Filter>(pair[0].get<int>()),
                      .meta = static_cast<uint8_t>(pair[1].get<int>())});
  }
  return stages;
}

std::vector<SpecialValue> Entry::specials() const {
  std::vector<SpecialValue> kinds;
  if (!Has("specials")) return kinds;
  for (const auto& run : json["specials"]) {
    kinds.insert(kinds.end(), run[1].get<size_t>(), static_cast<SpecialValue>(run[0].get<int>()));
  }
  return kinds;
}

std::vector<Metalayer> Entry::Layers(std::string_view key) const {
  std::vector<Metalayer> layers;
  if (!Has(key)) return layers;
  for (const auto& [name, hex] : json.find(key)->items()) {
    layers.push_back({.name = name, .content = FromHex(hex.get<std::string>())});
  }
  std::ranges::sort(layers, {}, &Metalayer::name);
  return layers;
}

std::vector<Metalayer> Entry::vlmetalayers() const {
  std::vector<Metalayer> layers = Layers("vlmetalayers");
  constexpr std::pair<std::string_view, std::string_view> kUnnamed[] = {
      {"packed_metadata", "metadata"}, {"packed_userdata", "userdata"}, {"usermeta", "usermeta"}};
  for (const auto& [key, name] : kUnnamed) {
    if (Has(key)) layers.push_back({.name = std::string(name), .content = FromHex(Text(key))});
  }
  return layers;
}

Era Entry::era() const {
  if (kind == "packed") return Era::kPacked2015;
  if (!Has("frame_nelems")) return Era::kCurrent;
  const int64_t nelems = Number("frame_nelems");
  if (nelems < 13) return Era::kFrame2019;
  return nelems == 13 ? Era::kBeta : Era::kCurrent;
}

Layout Entry::layout() const { return kind == "sframe" ? Layout::kSparse : Layout::kContiguous; }

void PrintTo(const Entry& entry, std::ostream* stream) { *stream << entry.path; }

std::string VectorFolder() {
  const char* folder = std::getenv("CAIRN_VECTORS");
  return folder != nullptr && *folder != '\0' ? folder : CAIRN_VECTOR_FOLDER;
}

std::vector<Entry> LoadEntries(std::string_view kind) {
  std::vector<Entry> entries;
  std::ifstream stream(VectorFolder() + "/manifest.json");
  const nlohmann::json manifest = nlohmann::json::parse(stream, nullptr, false);
  if (!manifest.is_array()) return entries;
  for (const auto& object : manifest) {
    Entry entry{.path = object.value("path", ""), .kind = object.value("kind", ""), .json = object};
    if (entry.kind == kind) entries.push_back(std::move(entry));
  }
  return entries;
}

std::string NameOf(const Entry& entry) {
  std::string name = entry.path;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace cairn::vectors

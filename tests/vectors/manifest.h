// The entries of a folder of golden vectors; README.md documents the keys.
#ifndef CAIRN_TESTS_VECTORS_MANIFEST_H_
#define CAIRN_TESTS_VECTORS_MANIFEST_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cairn/types.h"

namespace cairn::vectors {

struct Entry {
  std::string path;  // inside the folder
  std::string kind;
  nlohmann::json json;

  bool Has(std::string_view key) const;  // there and not null
  bool Flag(std::string_view key) const;
  int64_t Number(std::string_view key) const;
  std::string Text(std::string_view key) const;

  std::string expect() const { return Text("expect"); }
  // The hash of the content, uninitialised values as zeros; empty when the manifest has none.
  std::string content_hash() const;
  // None for Snappy and Lizard, which Cairn does not know.
  std::optional<Codec> codec() const;
  // Returns true if this build was made without the codec.
  bool NeedsAnotherBuild() const;
  std::vector<FilterStage> filters() const;
  // The kind of every chunk in order; empty when the manifest does not say.
  std::vector<SpecialValue> specials() const;
  // Sorted by name.
  std::vector<Metalayer> Layers(std::string_view key) const;
  // Includes the layers that older formats have in their place.
  std::vector<Metalayer> vlmetalayers() const;
  Era era() const;
  Layout layout() const;
};

void PrintTo(const Entry& entry, std::ostream* stream);

// The folder that CAIRN_VECTORS names, else the one in the source tree.
std::string VectorFolder();
// The manifest's entries of one kind; empty when there is no manifest.
std::vector<Entry> LoadEntries(std::string_view kind);
// A test name: letters, digits and underscores.
std::string NameOf(const Entry& entry);

}  // namespace cairn::vectors

#endif  // CAIRN_TESTS_VECTORS_MANIFEST_H_

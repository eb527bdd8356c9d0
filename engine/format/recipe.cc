#include "engine/format/recipe.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/escaping.h"

#include "engine/base/bytes.h"

namespace cairn::format {

namespace {

// The metalayer, with their kind, of all objects that python-blosc2 makes today.
constexpr std::string_view kObjectLayer = "b2o";
// The metalayers of its older versions.
constexpr std::string_view kLazyLayer = "LazyArray";
constexpr std::string_view kProxyLayer = "proxy-source";

struct Kind {
  std::string_view name;
  std::string_view type;
};
constexpr Kind kKinds[] = {{"lazyexpr", "LazyExpr"},
                           {"lazyudf", "LazyUDF"},
                           {"c2array", "C2Array"},
                           {"remote_array", "RemoteArray"}};

// Returns the short string after the key "kind" of a map in msgpack, or an empty one if there is
// none.
std::string_view FindKind(std::string_view content) {
  constexpr std::string_view kKey = "\xA4kind";
  const size_t key = content.find(kKey);
  if (key == std::string_view::npos || key + kKey.size() == content.size()) return {};
  content.remove_prefix(key + kKey.size());
  const auto marker = static_cast<uint8_t>(content[0]);
  if ((marker & 0xE0) != 0xA0) return {};
  return content.substr(1, marker & 0x1FU);
}

}  // namespace

std::string RecipeOf(const std::vector<Metalayer>& metalayers) {
  for (const Metalayer& layer : metalayers) {
    const std::string_view content = AsText(layer.content);
    if (layer.name == kProxyLayer) return "Proxy";
    // 0 is an expression, 1 a function.
    if (layer.name == kLazyLayer)
      return content == std::string_view("\0", 1) ? "LazyExpr" : "LazyUDF";
    if (layer.name != kObjectLayer) continue;
    const std::string_view kind = FindKind(content);
    const auto* const known = std::ranges::find(kKinds, kind, &Kind::name);
    if (known != std::end(kKinds)) return std::string(known->type);
    if (!kind.empty()) return absl::Utf8SafeCEscape(absl::string_view(kind.data(), kind.size()));
  }
  return "";
}

}  // namespace cairn::format

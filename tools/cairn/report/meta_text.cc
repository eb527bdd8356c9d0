#include "tools/cairn/report/meta_text.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "absl/strings/str_format.h"

#include "tools/cairn/flags/metadata.h"
#include "tools/cairn/report/msgpack.h"
#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/units.h"

namespace cairn::tool {

namespace {

std::string_view TextOf(Bytes content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; });
}

// Returns true for UTF-8 without the control characters that could steer a terminal.
bool IsText(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n' && text[i] != '\t' && ControlSizeAt(text, i) > 0) return false;
  }
  return IsUtf8(text);
}

// Adds blanks to fill this many columns.
std::string Padded(std::string text, size_t columns) {
  const auto is_first = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  const auto width = static_cast<size_t>(std::ranges::count_if(text, is_first));
  return text.append(columns - std::min(columns, width), ' ');
}

}  // namespace

std::string TextOfLayerSizes(const std::vector<LayerSize>& layers) {
  std::string text;
  for (const LayerSize& layer : layers) {
    absl::StrAppendFormat(
        &text, "%-11s  %s  %11s\n", layer.fixed ? "metalayer" : "vlmetalayer",
        Padded(OneLine(layer.name), 31),
        layer.size ? FormatByteSize(static_cast<int64_t>(*layer.size)) : OneLine(layer.error));
  }
  return text;
}

std::string JsonOfLayerSizes(const std::vector<LayerSize>& layers) {
  Json json = {{"metalayers", Json::array()}, {"vlmetalayers", Json::array()}};
  for (const LayerSize& layer : layers) {
    Json entry = {{"name", JsonName(layer.name)}, {"size", nullptr}};
    if (layer.size) {
      entry["size"] = *layer.size;
    } else {
      entry["error"] = layer.error;
    }
    json[layer.fixed ? "metalayers" : "vlmetalayers"].push_back(entry);
  }
  return Dump(json, 2) + "\n";
}

std::string TextOfContent(Bytes content) {
  const std::string_view text = TextOf(content);
  // A letter is a msgpack number too, but users who wrote a unit want to see it.
  const std::optional<std::string> json = IsAscii(text) ? std::nullopt : MsgpackToJson(content);
  if (json) return *json + "\n";
  if (!IsText(text)) return ToHex(content) + "\n";
  return absl::StrFormat("%s%s", text, text.ends_with('\n') ? "" : "\n");
}

std::string JsonOfContent(Bytes content) {
  const std::string_view text = TextOf(content);
  if (const std::optional<std::string> json = MsgpackToJson(content)) return *json + "\n";
  const Json json = IsText(text) ? Json(text) : Json{{"bin", ToHex(content)}};
  return Dump(json, -1) + "\n";
}

}  // namespace cairn::tool

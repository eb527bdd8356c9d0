#include "engine/object/s3/http/xml.h"

#include <algorithm>
#include <expat.h>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace cairn::object {

namespace {

// The deepest answer has five levels, and the longest has 1,000 names of six parts.
constexpr size_t kMostLevels = 16;
constexpr size_t kMostElements = 65536;
constexpr size_t kMostBytes = size_t{64} << 20;

class Builder {
 public:
  Builder() : parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {
    if (parser_ == nullptr) return;
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const char* name, const char** /*attributes*/) {
          static_cast<Builder*>(self)->Begin(name);
        },
        [](void* self, const char* /*name*/) { static_cast<Builder*>(self)->End(); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const char* text, int size) {
      static_cast<Builder*>(self)->open_.back().text.append(text, static_cast<size_t>(size));
    });
    XML_SetStartDoctypeDeclHandler(parser_.get(),
                                   [](void* self, const char*, const char*, const char*, int) {
                                     static_cast<Builder*>(self)->Stop();
                                   });
  }

  absl::StatusOr<XmlElement> Parse(Bytes bytes) {
    if (bytes.size() > kMostBytes || parser_ == nullptr ||
        XML_Parse(parser_.get(), reinterpret_cast<const char*>(bytes.data()),
                  static_cast<int>(bytes.size()), 1) != XML_STATUS_OK) {
      return absl::DataLossError(absl::StrFormat(
          "answer of %d bytes is not the XML of S3, after line %d", bytes.size(),
          parser_ == nullptr ? 0 : static_cast<int64_t>(XML_GetCurrentLineNumber(parser_.get()))));
    }
    return std::move(root_);
  }

 private:
  void Begin(std::string_view name) {
    if (open_.size() == kMostLevels || ++elements_ > kMostElements) Stop();
    const size_t colon = name.rfind(':');
    if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
    open_.push_back({.name = std::string(name), .text = {}, .children = {}});
  }
  void End() {
    XmlElement element = std::move(open_.back());
    open_.pop_back();
    if (open_.empty()) {
      root_ = std::move(element);
    } else {
      open_.back().children.push_back(std::move(element));
    }
  }
  void Stop() { XML_StopParser(parser_.get(), XML_FALSE); }

  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::vector<XmlElement> open_;
  XmlElement root_;
  size_t elements_ = 0;
};

}  // namespace

const XmlElement* XmlElement::Find(std::string_view child) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const XmlElement& element) { return element.name == child; });
  return found == children.end() ? nullptr : &*found;
}

std::string XmlElement::TextOf(std::string_view child) const {
  const XmlElement* const found = Find(child);
  return found == nullptr ? std::string() : found->text;
}

absl::StatusOr<XmlElement> ParseXml(Bytes bytes) { return Builder().Parse(bytes); }

std::string EscapeXml(const std::string& text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace cairn::object

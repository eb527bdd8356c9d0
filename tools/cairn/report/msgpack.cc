#include "tools/cairn/report/msgpack.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tools/cairn/flags/metadata.h"
#include "tools/cairn/text/json.h"

namespace cairn::tool {

namespace {

// Writes text while the library reads. So memory is bounded by the content, whatever sizes it
// declares, and the depth is bounded here. Returning false ends the reading.
class JsonWriter {
 public:
  bool null() { return Add("null"); }
  bool boolean(bool value) { return Add(value ? "true" : "false"); }
  bool number_integer(int64_t value) { return Add(absl::StrCat(value)); }
  bool number_unsigned(uint64_t value) { return Add(absl::StrCat(value)); }
  bool number_float(double value, const std::string& /*text*/) { return Add(Json(value).dump()); }
  bool string(const std::string& value) { return Add(Quote(value)); }
  bool binary(const Json::binary_t& value) {
    const std::string hex = ToHex(std::as_bytes(std::span(value)));
    if (!value.has_subtype()) return Add(absl::StrCat(R"({"bin":")", hex, "\"}"));
    const auto type = static_cast<int8_t>(value.subtype());
    return Add(absl::StrCat(R"({"ext":)", type, R"(,"bin":")", hex, "\"}"));
  }
  bool key(const std::string& value) {
    Separate();
    absl::StrAppend(&text_, Quote(value), ":");
    after_key_ = true;
    return true;
  }
  bool start_object(size_t /*size*/) { return Open('{'); }
  bool end_object() { return Close('}'); }
  bool start_array(size_t /*size*/) { return Open('['); }
  bool end_array() { return Close(']'); }
  bool parse_error(size_t /*at*/, const std::string& /*token*/, const Json::exception& /*error*/) {
    return false;
  }

  std::string TakeText() { return std::move(text_); }

 private:
  static std::string Quote(const std::string& value) { return Dump(Json(value), -1); }

  void Separate() {
    if (after_key_) {
      after_key_ = false;
    } else if (!first_.empty()) {
      if (!first_.back()) text_ += ',';
      first_.back() = false;
    }
  }

  bool Add(const std::string& value) {
    Separate();
    text_ += value;
    return true;
  }

  bool Open(char bracket) {
    constexpr size_t kMaxDepth = 64;
    if (first_.size() == kMaxDepth) return false;
    Separate();
    text_ += bracket;
    first_.push_back(true);
    return true;
  }

  bool Close(char bracket) {
    text_ += bracket;
    first_.pop_back();
    return true;
  }

  std::string text_;
  std::vector<bool> first_;  // for each open bracket, true until something followed it
  bool after_key_ = false;
};

}  // namespace

std::optional<std::string> MsgpackToJson(Bytes content) {
  if (content.empty()) return std::nullopt;
  const auto* const begin = reinterpret_cast<const uint8_t*>(content.data());
  JsonWriter writer;
  const bool whole = Json::sax_parse(begin, begin + content.size(), &writer,
                                     Json::input_format_t::msgpack, /*strict=*/true);
  if (!whole) return std::nullopt;
  return writer.TakeText();
}

}  // namespace cairn::tool

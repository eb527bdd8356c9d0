#include <cstddef>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/text/json.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

// Gives the members of one object to a builder as they come. Each call returns whether to continue.
class Members : public nlohmann::json_sax<Json> {
 public:
  explicit Members(RecordBuilder& builder) : builder_(builder) {}

  const absl::Status& status() const { return status_; }

  bool null() override {
    return depth_ == 1 && field_ ? Keep(builder_.SetMissing(*field_)) : Text("null");
  }
  bool boolean(bool value) override { return Text(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return Text(absl::StrCat(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Text(absl::StrCat(value)); }
  // The text is taken, so that nothing is rounded twice.
  bool number_float(number_float_t /*value*/, const string_t& text) override { return Text(text); }
  bool string(string_t& text) override {
    if (!std::exchange(base64_, false)) return Text(text);
    std::string bytes;
    return absl::Base64Unescape(text, &bytes) ? Text(bytes) : Bad("no base64");
  }
  bool binary(binary_t& /*value*/) override { return Bad("binary data"); }

  // An object in an object is a text that is not UTF-8.
  bool start_object(size_t /*size*/) override { return ++depth_ <= 2 || BadValue("an object"); }
  bool key(string_t& name) override {
    if (depth_ == 2) {
      base64_ = name == "base64";
      return base64_ || BadValue("an object without 'base64'");
    }
    const absl::StatusOr<std::optional<size_t>> found = builder_.Find(name);
    if (!found.ok()) return Keep(found.status());
    field_ = *found;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(size_t /*size*/) override { return BadValue("an array"); }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;  // a number that no double holds
    if (error.id == kNumberOverflow && depth_ > 0 && field_) {
      const Field& field = builder_.schema().fields()[*field_];
      return Bad(absl::StrCat("field '", NameOf(field), "': ", token, " is out of range"));
    }
    return Bad(absl::StrCat("no JSON at byte ", position));
  }

 private:
  bool Keep(const absl::Status& status) {
    status_ = status;
    return status.ok();
  }
  // Refuses a value of a field.
  bool BadValue(const std::string& what) {
    if (depth_ == 0 || !field_)
      return Bad(absl::StrCat("expected an object of values, got ", what));
    return Bad(absl::StrCat("field '", NameOf(builder_.schema().fields()[*field_]),
                            "': expected a number, a text, true, false or null, got ", what));
  }
  bool Bad(const std::string& what) { return Keep(absl::InvalidArgumentError(what)); }
  bool Text(std::string_view text) {
    if (depth_ == 0) return Bad("no object");
    if (base64_) return Bad("no base64");
    return !field_ || Keep(builder_.Set(*field_, text));
  }

  RecordBuilder& builder_;
  absl::Status status_;
  std::optional<size_t> field_;  // of the next value; none: it is left out
  int depth_ = 0;
  bool base64_ = false;
};

class JsonParser : public RecordParser {
 public:
  explicit JsonParser(RecordBuilder& builder) : builder_(builder) {}

  absl::StatusOr<bool> Parse(std::string_view row, MutableBytes record) override {
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) return false;
    builder_.Begin(record);
    Members members(builder_);
    Json::sax_parse(row, &members);
    RETURN_IF_ERROR(members.status());
    RETURN_IF_ERROR(builder_.End());
    return true;
  }

 private:
  RecordBuilder& builder_;
};

}  // namespace

std::unique_ptr<RecordParser> MakeJsonParser(RecordBuilder& builder) {
  return std::make_unique<JsonParser>(builder);
}

}  // namespace cairn::tool

// The input is what stores, their users and their settings say: after a byte that says what, the
// name of an object, an answer in XML, a file of settings, a URI, a listing, a Content-Range, an
// answer that lends keys, a command, or the URL of a container's service.

#include <span>
#include <string>
#include <string_view>

#include "engine/object/object_names.h"
#include "engine/object/s3/http/url.h"
#include "engine/object/s3/http/xml.h"
#include "engine/object/s3/keys/key_answers.h"
#include "engine/object/s3/keys/metadata.h"
#include "engine/object/s3/keys/process.h"
#include "engine/object/s3/settings/object_uri.h"
#include "engine/object/s3/settings/profile.h"
#include "engine/object/s3/store/bucket.h"
#include "engine/object/s3/store/reading.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

void ReadName(std::string_view name) {
  if (const auto position = object::ParseJournalObjectName(name); position.has_value()) {
    // Hexadecimal digits are read in both cases, and written in one.
    const auto again = object::ParseJournalObjectName(object::JournalObjectName(*position));
    Check(again == position, "a position is read as it was written", name);
  }
  if (const auto seconds = object::ParseGarbageObjectName(name); seconds.has_value()) {
    const auto again = object::ParseGarbageObjectName(object::GarbageObjectName(*seconds, 1));
    Check(again == seconds, "a time is read as it was written", name);
  }
}

std::string Write(const object::XmlElement& element) {
  std::string xml = "<" + element.name + ">" + object::EscapeXml(element.text);
  for (const object::XmlElement& child : element.children) xml += Write(child);
  return xml + "</" + element.name + ">";
}

void ReadXml(Bytes bytes) {
  const auto root = object::ParseXml(bytes);
  if (!root.ok() || !root->children.empty()) return;
  // White space at the ends of a text may be no part of it.
  const std::string xml = Write(*root);
  const auto again = object::ParseXml(std::as_bytes(std::span(xml)));
  Check(again.ok() && again->name == root->name, "an element is read as it was written", xml);
}

void ReadUri(std::string_view text) {
  const auto uri = object::ParseObjectUri(text);
  if (!uri.ok()) return;
  Check(IsObjectUri(text), "what is read as a URI is called one", text);
  Check(text.starts_with(uri->store), "the store of a URI is its beginning", uri->store);
}

void ReadPercents(std::string_view text) {
  const std::string coded = object::PercentEncode(text, false);
  const auto again = object::PercentDecode(coded);
  Check(again.ok() && *again == text, "text is decoded as it was encoded", coded);
  object::PercentDecode(text).IgnoreError();
  object::ParseUrl(text).IgnoreError();
}

void ReadListing(Bytes bytes) {
  object::ParseDeleted(bytes).IgnoreError();
  const auto listing = object::ParseListing(bytes);
  if (!listing.ok()) return;
  for (size_t i = 0; i < listing->objects.size(); ++i) {
    const ObjectInfo& object = listing->objects[i];
    Check(object.size >= 0, "a listed object has a size", object.name);
    Check(i == 0 || listing->objects[i - 1].name < object.name, "names are in order", object.name);
  }
}

void ReadContentRange(std::string_view text) {
  const auto range = object::ParseContentRange(std::string(text));
  if (!range.has_value()) return;
  Check(0 <= range->begin && range->begin < range->end && range->end <= range->size,
        "a range lies in its object", text);
}

void CheckLent(const absl::StatusOr<S3LentKeys>& lent, std::string_view text) {
  if (!lent.ok()) {
    const std::string message(lent.status().message());
    Check(text.size() < 80 || message.size() < 80, "no message quotes an answer", message);
    return;
  }
  Check(!lent->keys.access_key.empty() && !lent->keys.secret_key.empty(), "lent keys are keys",
        text);
  Check(lent->expiry > std::chrono::system_clock::time_point(), "lent keys have a time", text);
  object::CheckKeyTexts(lent->keys).IgnoreError();
}

void ReadKeys(std::string_view text) {
  CheckLent(object::ParseMetadataKeys(text), text);
  CheckLent(object::ParseProcessKeys(text), text);
  CheckLent(object::ParseRoleKeys(text), text);
  CheckLent(object::ParseStsKeys(text, "AssumeRole"), text);
  const auto sign_in = object::ParseSignIn(text);
  Check(!sign_in.ok() || !sign_in->token.empty(), "a sign-in has a token", text);
}

void ReadCommand(std::string_view text) {
  const auto words = object::SplitCommand(text);
  if (!words.ok()) return;
  std::string again;
  for (const std::string& word : *words) {
    Check(word.find('\0') == std::string::npos, "a word is a text of C", word);
    again += "\"";
    for (const char c : word) again += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    again += "\" ";
  }
  const auto same = object::SplitCommand(again);
  Check(same.ok() && *same == *words, "quoted words are read as they were written", again);
}

void ReadContainerUrl(std::string_view text) {
  if (!object::CheckContainerUrl(std::string(text)).ok()) return;
  for (const char c : text) Check(c > ' ' && c < 0x7F, "a URL has no line breaks", text);
  const auto url = object::ParseUrl(text.substr(0, text.find('?')));
  Check(url.ok(), "what keys are asked of is a URL", text);
  if (url->scheme == "https") return;
  const std::string_view host = url->host;
  Check(host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]") ||
            host.starts_with("169.254.170.2") || host.starts_with("[fd00:ec2::23]"),
        "plain http leads to a service beside the program", text);
}

void Read(Bytes input) {
  Input in(input);
  const int which = in.Number<uint8_t>() % 10;
  const std::string_view text(reinterpret_cast<const char*>(in.rest().data()), in.rest().size());
  if (which == 0) ReadName(text);
  if (which == 1) ReadXml(in.rest());
  if (which == 2) object::ParseSections(std::string(text)).IgnoreError();
  if (which == 3) ReadUri(text);
  if (which == 4) ReadPercents(text);
  if (which == 5) ReadListing(in.rest());
  if (which == 6) ReadContentRange(text);
  if (which == 7) ReadKeys(text);
  if (which == 8) ReadCommand(text);
  if (which == 9) ReadContainerUrl(text);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::AsBytes(data, size));
  return 0;
}

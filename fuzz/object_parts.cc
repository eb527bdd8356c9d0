// The input is what stores, their users and their settings say: after a byte that says what, the
// name of an object, an answer in XML, a file of settings, a URI, a listing, or a Content-Range.

#include <span>
#include <string>
#include <string_view>

#include "engine/object/object_names.h"
#include "engine/object/s3/http/url.h"
#include "engine/object/s3/http/xml.h"
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

void Read(Bytes input) {
  Input in(input);
  const int which = in.Number<uint8_t>() % 7;
  const std::string_view text(reinterpret_cast<const char*>(in.rest().data()), in.rest().size());
  if (which == 0) ReadName(text);
  if (which == 1) ReadXml(in.rest());
  if (which == 2) object::ParseSections(std::string(text)).IgnoreError();
  if (which == 3) ReadUri(text);
  if (which == 4) ReadPercents(text);
  if (which == 5) ReadListing(in.rest());
  if (which == 6) ReadContentRange(text);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::AsBytes(data, size));
  return 0;
}

// Parses XML, in which S3 answers.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_XML_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_XML_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::object {

// An element without its attributes. Names have no prefixes of namespaces.
struct XmlElement {
  std::string name;
  std::string text;
  std::vector<XmlElement> children;

  // Returns the first child of that name, or nullptr.
  const XmlElement* Find(std::string_view child) const;
  // Returns the text of the first child of that name, or an empty text.
  std::string TextOf(std::string_view child) const;
};

// Returns the root. Errors: kDataLoss for bytes that are not XML, or are more than an answer of S3
// holds. Documents with a DTD, and so with entities of their own, are refused too.
absl::StatusOr<XmlElement> ParseXml(Bytes bytes);

std::string EscapeXml(const std::string& text);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_XML_H_

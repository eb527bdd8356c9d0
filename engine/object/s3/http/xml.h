// XML, as S3 answers it.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_XML_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_XML_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::object {

// An element without its attributes; names have no prefixes of namespaces.
struct XmlElement {
  std::string name;
  std::string text;
  std::vector<XmlElement> children;

  // The first child of that name, or nullptr.
  const XmlElement* Find(std::string_view child) const;
  // Its text, or nothing.
  std::string TextOf(std::string_view child) const;
};

// The root. kDataLoss for what is not XML, or more than an answer of S3 holds; documents with a
// DTD, and so with entities of their own, are among these.
absl::StatusOr<XmlElement> ParseXml(Bytes bytes);

std::string EscapeXml(const std::string& text);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_XML_H_

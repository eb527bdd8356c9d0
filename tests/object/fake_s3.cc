#include "tests/object/fake_s3.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

#include "engine/object/s3/http/url.h"
#include "engine/object/s3/http/xml.h"
#include "engine/object/s3/signing/digest.h"

namespace cairn::test {

namespace {

constexpr const char* kTime = "Wed, 21 Oct 2015 07:28:00 GMT";

std::string EtagOf(const std::string& content) {
  std::string digest;
  absl::Base64Unescape(object::Md5Base64(object::AsBytes(content)), &digest);
  return absl::BytesToHexString(digest);
}

std::map<std::string, std::string> HeadersOf(const std::string& content) {
  return {{"ETag", absl::StrCat("\"", EtagOf(content), "\"")},
          {"Last-Modified", kTime},
          {"Date", kTime},
          {"Accept-Ranges", "bytes"}};
}

// The bytes that a Range header asks for: the first, and the one after the last.
std::pair<int64_t, int64_t> RangeOf(const std::string& header, int64_t size) {
  const std::string text = header.substr(std::string("bytes=").size());
  const std::vector<std::string> ends = absl::StrSplit(text, absl::MaxSplits('-', 1));
  int64_t first = 0;
  int64_t last = 0;
  const bool has_last = absl::SimpleAtoi(ends[1], &last);
  if (!absl::SimpleAtoi(ends[0], &first)) return {std::max<int64_t>(size - last, 0), size};
  return {first, has_last ? std::min(last + 1, size) : size};
}

}  // namespace

ServedAnswer S3Failure(int status, const std::string& code) {
  return {.status = status,
          .headers = {},
          .body = absl::StrCat("<?xml version=\"1.0\"?><Error><Code>", code,
                               "</Code><Message>as the test wants</Message></Error>")};
}

std::vector<std::string> FakeS3::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

std::map<std::string, std::string> FakeS3::objects() const {
  const std::lock_guard lock(mutex_);
  return objects_;
}

void FakeS3::Set(const std::string& name, const std::string& content) {
  const std::lock_guard lock(mutex_);
  objects_[name] = content;
}

ServedAnswer FakeS3::Serve(const ServedRequest& request) {
  const std::lock_guard lock(mutex_);
  const size_t slash = request.path.find('/', 1);
  const std::string name =
      slash == std::string::npos ? "" : *object::PercentDecode(request.path.substr(slash + 1));
  log_.push_back(request.method + " " + name);
  if (request.method == "POST") return DeleteMany(request);
  if (name.empty()) return List(request);
  if (request.method == "PUT") return Put(name, request);
  if (request.method != "DELETE") return Get(name, request);
  objects_.erase(name);
  return {.status = 204};
}

ServedAnswer FakeS3::Get(const std::string& name, const ServedRequest& request) const {
  const auto found = objects_.find(name);
  if (found == objects_.end()) return S3Failure(404, "NoSuchKey");
  const std::string& content = found->second;
  const auto match = request.headers.find("if-match");
  if (match != request.headers.end() && match->second != "\"" + EtagOf(content) + "\"") {
    return S3Failure(412, "PreconditionFailed");
  }
  const auto range = request.headers.find("range");
  if (range == request.headers.end()) {
    return {.status = 200, .headers = HeadersOf(content), .body = content};
  }
  const auto size = static_cast<int64_t>(content.size());
  const auto [begin, end] = RangeOf(range->second, size);
  if (begin >= size) return S3Failure(416, "InvalidRange");
  ServedAnswer answer{
      .status = 206,
      .headers = HeadersOf(content),
      .body = content.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin))};
  answer.headers["Content-Range"] = absl::StrCat("bytes ", begin, "-", end - 1, "/", size);
  return answer;
}

bool FakeS3::Refuses(const std::string& name, const ServedRequest& request) const {
  const auto found = objects_.find(name);
  if (request.headers.contains("if-none-match")) {
    return found != objects_.end() && !options_.ignores_absent;
  }
  const auto match = request.headers.find("if-match");
  if (match == request.headers.end() || options_.ignores_match) return false;
  if (options_.ignores_bare_etags && !match->second.starts_with('"')) return false;
  if (found == objects_.end()) return true;
  const std::string etag = EtagOf(found->second);
  return match->second != etag &&
         (options_.wants_bare_etags || match->second != absl::StrCat("\"", etag, "\""));
}

ServedAnswer FakeS3::Put(const std::string& name, const ServedRequest& request) {
  if (Refuses(name, request)) return S3Failure(412, "PreconditionFailed");
  objects_[name] = request.body;
  return {.status = 200, .headers = HeadersOf(request.body)};
}

ServedAnswer FakeS3::List(const ServedRequest& request) const {
  const auto option = [&](const char* name) {
    const auto found = request.query.find(name);
    return found == request.query.end() ? std::string() : found->second;
  };
  const std::string prefix = option("prefix");
  const std::string after = option("start-after");
  size_t most = 1000;
  static_cast<void>(absl::SimpleAtoi(option("max-keys"), &most));
  std::string contents;
  bool more = false;
  for (const auto& [name, content] : objects_) {
    if (!name.starts_with(prefix) || name <= after) continue;
    if (most-- == 0) {
      more = true;
      break;
    }
    absl::StrAppend(
        &contents, "<Contents><Key>", object::EscapeXml(name), "</Key><Size>", content.size(),
        "</Size><ETag>&quot;", EtagOf(content),
        "&quot;</ETag><LastModified>2015-10-21T07:28:00.000Z</LastModified></Contents>");
  }
  return {.status = 200,
          .headers = {{"Date", kTime}},
          .body = absl::StrCat("<ListBucketResult><IsTruncated>", more ? "true" : "false",
                               "</IsTruncated>", contents, "</ListBucketResult>")};
}

ServedAnswer FakeS3::DeleteMany(const ServedRequest& request) {
  const auto md5 = request.headers.find("content-md5");
  if (md5 == request.headers.end() ||
      md5->second != object::Md5Base64(object::AsBytes(request.body))) {
    return S3Failure(400, "InvalidDigest");
  }
  const absl::StatusOr<object::XmlElement> root = object::ParseXml(object::AsBytes(request.body));
  if (!root.ok()) return S3Failure(400, "MalformedXML");
  for (const object::XmlElement& element : root->children) {
    if (element.name == "Object") objects_.erase(element.TextOf("Key"));
  }
  return {.status = 200, .headers = {}, .body = "<DeleteResult></DeleteResult>"};
}

}  // namespace cairn::test

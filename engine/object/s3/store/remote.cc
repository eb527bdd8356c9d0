#include "engine/object/s3/store/remote.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"

#include "engine/base/status.h"
#include "engine/object/s3/signing/digest.h"
#include "engine/object/s3/signing/signature.h"

namespace cairn::object {

namespace {

constexpr size_t kLongestName = 1024;

std::string AwsEndpoint(const std::string& region) {
  return absl::StrCat("https://s3.", region, ".amazonaws.com",
                      region.starts_with("cn-") ? ".cn" : "");
}

bool UsesPath(const S3Options& options) {
  if (options.addressing != S3Addressing::kAuto) return options.addressing == S3Addressing::kPath;
  // The certificates of AWS do not cover names with dots.
  return !options.endpoint.empty() || options.bucket.find('.') != std::string::npos;
}

const char* VerbName(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return "get";
    case Verb::kHead:
      return "head";
    case Verb::kPut:
      return "put";
    case Verb::kList:
      return "list";
    case Verb::kDelete:
      return "delete";
  }
  return "ask for";
}

// Returns the etag without quotes. A server without etags may have a time.
std::string EtagOf(const HttpAnswer& answer) {
  if (answer.etag.empty()) {
    return answer.modified == 0 ? std::string() : absl::StrCat("modified-", answer.modified);
  }
  return absl::StrReplaceAll(answer.etag, {{"\"", ""}});
}

}  // namespace

absl::StatusOr<RemotePlace> PlaceOf(const S3Options& options) {
  CAIRN_ASSIGN_OR_RETURN(
      Url url, ParseUrl(options.endpoint.empty() ? AwsEndpoint(options.region) : options.endpoint));
  if (options.bucket.empty() || PercentEncode(options.bucket, false) != options.bucket) {
    return absl::InvalidArgumentError(
        absl::StrFormat("S3: \"%s\" is not the name of a bucket", options.bucket));
  }
  if (UsesPath(options)) {
    absl::StrAppend(&url.path, "/", options.bucket);
  } else {
    url.host = absl::StrCat(options.bucket, ".", url.host);
  }
  return RemotePlace{.url = std::move(url),
                     .region = options.region,
                     .is_signed = !options.anonymous,
                     .description = "s3://" + options.bucket};
}

std::string Remote::Title(const RemoteRequest& request) const {
  return absl::StrCat(place_.description, ": ", VerbName(request.verb),
                      request.name.empty() ? "" : " ", request.name);
}

void Remote::Start(RemoteRequest request, Check check, Done done, CallHistory history) {
  HttpCall call{.title = Title(request),
                .make = {},
                .check = std::move(check),
                .done = std::move(done),
                .renews_keys = credentials_ != nullptr && credentials_->renews(),
                .count = &counts_[static_cast<size_t>(request.verb)],
                .history = history};
  call.make = [self = shared_from_this(), request = std::move(request)] {
    return self->MakeRequest(request);
  };
  // A forked child would wait for its parent's request for credentials. The client reports the
  // error instead.
  if (credentials_ == nullptr || !client_->is_here()) {
    client_->Start(std::move(call));
    return;
  }
  credentials_->WhenReady([client = client_, call = std::move(call)](absl::Status status) mutable {
    if (status.ok()) {
      client->Start(std::move(call));
    } else {
      call.done(call.history, status);
    }
  });
}

std::string Remote::PathOf(const std::string& name) const {
  if (name.empty()) return place_.url.path.empty() ? "/" : place_.url.path;
  return absl::StrCat(place_.url.path, "/", PercentEncode(name, true));
}

void Remote::Sign(const RemoteRequest& request, const std::string& path, const std::string& query,
                  std::map<std::string, std::string>& headers) {
  const S3Credentials keys = credentials_->Current();
  const std::string hash = request.body_hash.empty() ? Hex(Sha256({})) : request.body_hash;
  headers["x-amz-content-sha256"] = hash;
  headers["x-amz-date"] = SigningTime(absl::Now());
  if (!keys.session_token.empty()) headers["x-amz-security-token"] = keys.session_token;
  headers["host"] = place_.url.host;
  headers["authorization"] = Authorization({.method = request.method,
                                            .path = path,
                                            .query = query,
                                            .headers = headers,
                                            .payload_hash = hash},
                                           keys, place_.region, "s3");
}

absl::StatusOr<HttpRequest> Remote::MakeRequest(const RemoteRequest& request) {
  const std::string path = PathOf(request.name);
  const std::string query = EncodeQuery(request.query);
  std::map<std::string, std::string> headers = request.headers;
  if (place_.is_signed) Sign(request, path, query, headers);
  HttpRequest made{.method = request.method,
                   .url = absl::StrCat(place_.url.scheme, "://", place_.url.host, path,
                                       query.empty() ? "" : "?", query),
                   .headers = {},
                   .body = request.body,
                   .changes = request.verb == Verb::kPut || request.verb == Verb::kDelete,
                   .most_bytes = request.most_bytes};
  for (const auto& [name, value] : headers) made.headers.push_back(absl::StrCat(name, ": ", value));
  return made;
}

ObjectStoreStats Remote::stats() const {
  return {.gets = counts_[static_cast<size_t>(Verb::kGet)],
          .heads = counts_[static_cast<size_t>(Verb::kHead)],
          .puts = counts_[static_cast<size_t>(Verb::kPut)],
          .lists = counts_[static_cast<size_t>(Verb::kList)],
          .deletes = counts_[static_cast<size_t>(Verb::kDelete)],
          .retries = client_->retries(),
          .bytes_read = bytes_read,
          .bytes_written = bytes_written};
}

absl::Status CheckName(const std::string& name) {
  const bool plain =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return c >= ' ' && c != 0x7F; });
  if (!name.empty() && name.size() <= kLongestName && !name.starts_with('/') && plain) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "\"%s\" cannot be the name of an object: %d bytes, or characters that XML has not",
      name.substr(0, kLongestName), name.size()));
}

ObjectInfo DescribeObject(const std::string& name, const HttpAnswer& answer) {
  return {.name = name,
          .size = 0,
          .etag = EtagOf(answer),
          .modified = answer.modified != 0 ? answer.modified : answer.date};
}

}  // namespace cairn::object

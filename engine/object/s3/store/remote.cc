#include "engine/object/s3/store/remote.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"

#include "engine/base/status.h"
#include "engine/object/s3/http/s3_error.h"
#include "engine/object/s3/keys/key_request.h"
#include "engine/object/s3/signing/digest.h"
#include "engine/object/s3/signing/signature.h"

namespace cairn::object {

namespace {

constexpr size_t kLongestName = 1024;

std::string AwsHost(const std::string& region) {
  return AwsUrl("s3", region).substr(std::string_view("https://").size());
}

bool IsRegion(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

// Returns true if a request with newer keys may have another answer.
bool RefusesKeys(Verb verb, const HttpAnswer& answer) {
  if (answer.status < 400) return false;
  // An answer to HEAD has no body that says why. S3 answers 400 if a token has expired.
  if (verb == Verb::kHead) return answer.status == 400;
  const std::string code = ParseS3Error(answer).code;
  return code == "ExpiredToken" || code == "ExpiredTokenException" ||
         code == "TokenRefreshRequired" || code == "InvalidToken" || code == "InvalidAccessKeyId";
}

// Returns the region that an answer sends a request to, or an empty text.
std::string RegionOf(const HttpAnswer& answer) {
  if (answer.status != 301 && answer.status != 307 && answer.status != 400) return {};
  std::string region = answer.region.empty() ? ParseS3Error(answer).region : answer.region;
  return IsRegion(region) ? region : std::string();
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

std::string PathOf(const RemotePlace& place, const std::string& name) {
  if (name.empty()) return place.url.path.empty() ? "/" : place.url.path;
  return absl::StrCat(place.url.path, "/", PercentEncode(name, true));
}

// Adds a signature and what it needs.
void Sign(const RemotePlace& place, const RemoteRequest& request, const S3Credentials& keys,
          const std::string& path, const std::string& query,
          std::map<std::string, std::string>& headers) {
  const std::string hash = request.body_hash.empty() ? Hex(Sha256({})) : request.body_hash;
  headers["x-amz-content-sha256"] = hash;
  headers["x-amz-date"] = SigningTime(absl::Now());
  if (!keys.session_token.empty()) headers["x-amz-security-token"] = keys.session_token;
  headers["host"] = place.url.host;
  headers["authorization"] = Authorization({.method = request.method,
                                            .path = path,
                                            .query = query,
                                            .headers = headers,
                                            .payload_hash = hash},
                                           keys, place.region, "s3");
}

}  // namespace

absl::StatusOr<RemotePlace> PlaceOf(const S3Options& options) {
  CAIRN_ASSIGN_OR_RETURN(Url url, ParseUrl(options.endpoint.empty() ? AwsUrl("s3", options.region)
                                                                    : options.endpoint));
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
                     .description = "s3://" + options.bucket,
                     .host_has_region = options.endpoint.empty()};
}

RemotePlace InRegion(RemotePlace place, const std::string& region) {
  if (place.host_has_region) {
    const size_t bucket = place.url.host.size() - AwsHost(place.region).size();
    place.url.host = place.url.host.substr(0, bucket) + AwsHost(region);
  }
  place.region = region;
  return place;
}

std::string Remote::Title(const RemoteRequest& request) const {
  return absl::StrCat(description_, ": ", VerbName(request.verb), request.name.empty() ? "" : " ",
                      request.name);
}

void Remote::Start(RemoteRequest request, Check check, Done done, CallHistory history) {
  Send(std::make_shared<Sending>(Sending{
           .request = std::move(request), .check = std::move(check), .done = std::move(done)}),
       history);
}

void Remote::Send(const SharedSending& sending, CallHistory history) {
  HttpCall call{
      .title = Title(sending->request),
      .make = [self = shared_from_this(), sending] { return self->MakeRequest(*sending); },
      .check = sending->check,
      .done =
          [self = shared_from_this(), sending](const CallHistory& after,
                                               absl::StatusOr<HttpAnswer> answer) {
            self->Finish(sending, after, std::move(answer));
          },
      .count = &counts_[static_cast<size_t>(sending->request.verb)],
      .history = history};
  // A forked child would wait for its parent's thread that gets keys. The client reports the error
  // instead.
  if (credentials_ == nullptr || !client_->is_here()) {
    client_->Start(std::move(call));
    return;
  }
  credentials_->WhenReady([client = client_, call = std::move(call)](absl::Status status) mutable {
    if (status.ok()) {
      client->Start(std::move(call));
    } else {
      call.done(call.history, AtPlace(call.title, status));
    }
  });
}

void Remote::Finish(const SharedSending& sending, const CallHistory& history,
                    absl::StatusOr<HttpAnswer> answer) {
  if (answer.ok() && !sending->has_moved && FollowsRegion(*sending, *answer)) {
    sending->has_moved = true;
    Send(sending, history);
  } else if (answer.ok() && !sending->has_new_keys && credentials_ != nullptr &&
             credentials_->renews() && RefusesKeys(sending->request.verb, *answer)) {
    sending->has_new_keys = true;
    SendWithNewKeys(sending, history, *std::move(answer));
  } else {
    sending->done(history, std::move(answer));
  }
}

void Remote::SendWithNewKeys(const SharedSending& sending, const CallHistory& history,
                             HttpAnswer answer) {
  credentials_->Refuse(sending->keys);
  credentials_->WhenReady([self = shared_from_this(), sending, history,
                           answer = std::move(answer)](const absl::Status& status) {
    if (status.ok() && !AreSame(self->credentials_->Current(), sending->keys)) {
      self->Send(sending, history);
    } else if (status.ok()) {
      sending->done(history, answer);
    } else {
      sending->done(history, AtPlace(self->Title(sending->request), status));
    }
  });
}

bool Remote::FollowsRegion(Sending& sending, const HttpAnswer& answer) {
  const std::string region = RegionOf(answer);
  if (region.empty() || region == sending.region) return false;
  std::string before;
  {
    const MutexLock lock(mutex_);
    if (place_.region == region) return true;
    before = place_.region;
    place_ = InRegion(std::move(place_), region);
  }
  if (notice_) {
    notice_(absl::StrCat(description_, " is in the region ", region, ", not ", before,
                         ": AWS_REGION would save a request"));
  }
  return true;
}

RemotePlace Remote::place() const {
  const MutexLock lock(mutex_);
  return place_;
}

void Remote::Cancel() {
  if (credentials_ != nullptr) credentials_->Cancel();
  client_->Cancel();
}

void Remote::Stop() {
  Cancel();
  // Its callbacks start requests, which the client ends.
  if (credentials_ != nullptr) credentials_->Stop();
  client_->Stop();
}

absl::StatusOr<HttpRequest> Remote::MakeRequest(Sending& sending) {
  const RemoteRequest& request = sending.request;
  const RemotePlace place = this->place();
  const std::string path = PathOf(place, request.name);
  const std::string query = place.query.empty() ? EncodeQuery(request.query) : place.query;
  std::map<std::string, std::string> headers = request.headers;
  sending.region = place.region;
  if (place.is_signed) {
    sending.keys = credentials_->Current();
    Sign(place, request, sending.keys, path, query, headers);
  }
  HttpRequest made{.method = request.method,
                   .url = absl::StrCat(place.url.scheme, "://", place.url.host, path,
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

#include "engine/object/s3/signing/credentials.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "engine/base/status.h"
#include "engine/object/s3/http/s3_error.h"
#include "engine/object/s3/http/url.h"
#include "engine/object/s3/http/xml.h"
#include "engine/object/s3/signing/digest.h"

namespace cairn::object {

namespace {

// Credentials are renewed this long before they expire, because clocks differ and calls take time.
constexpr absl::Duration kRenewBefore = absl::Minutes(5);
constexpr int64_t kMostCredentials = int64_t{1} << 20;

struct LentKeys {
  S3Credentials keys;
  absl::Time expiry;
};

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  std::ifstream file(path);
  const std::string token{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || token.empty()) {
    return absl::PermissionDeniedError("web identity: cannot read a token from " + path);
  }
  return std::string(absl::StripAsciiWhitespace(token));
}

absl::StatusOr<LentKeys> ParseLentKeys(const HttpAnswer& answer) {
  CAIRN_ASSIGN_OR_RETURN(const XmlElement root, ParseXml(answer.body));
  const XmlElement* const result = root.Find("AssumeRoleWithWebIdentityResult");
  const XmlElement* const found = result == nullptr ? nullptr : result->Find("Credentials");
  LentKeys lent;
  if (found == nullptr ||
      !absl::ParseTime(absl::RFC3339_full, found->TextOf("Expiration"), &lent.expiry, nullptr)) {
    return absl::DataLossError("web identity: the answer of STS has no keys that expire");
  }
  lent.keys = {.access_key = found->TextOf("AccessKeyId"),
               .secret_key = found->TextOf("SecretAccessKey"),
               .session_token = found->TextOf("SessionToken")};
  return lent;
}

std::string FormOf(const S3WebIdentity& identity, const std::string& token) {
  return EncodeQuery({{"Action", "AssumeRoleWithWebIdentity"},
                      {"Version", "2011-06-15"},
                      {"RoleArn", identity.role_arn},
                      {"RoleSessionName", identity.session_name},
                      {"WebIdentityToken", token}});
}

}  // namespace

Credentials::Credentials(const S3Options& options, std::shared_ptr<RetryingClient> client)
    : identity_(options.web_identity),
      region_(options.region),
      client_(std::move(client)),
      keys_(options.credentials),
      expiry_(identity_.has_value() ? absl::InfinitePast() : absl::InfiniteFuture()) {}

bool Credentials::IsFresh() const { return absl::Now() + kRenewBefore < expiry_; }

void Credentials::WhenReady(std::function<void(absl::Status)> done) {
  bool begin = false;
  {
    const MutexLock lock(mutex_);
    if (!IsFresh()) {
      waiting_.push_back(std::move(done));
      done = nullptr;
      begin = !std::exchange(renewing_, true);
    }
  }
  if (done) done(absl::OkStatus());
  if (begin) Renew();
}

S3Credentials Credentials::Current() {
  bool begin = false;
  S3Credentials keys;
  {
    const MutexLock lock(mutex_);
    keys = keys_;
    begin = !IsFresh() && !std::exchange(renewing_, true);
  }
  if (begin) Renew();
  return keys;
}

void Credentials::Renew() {
  // The form must stay where it is while it is sent.
  const auto form = std::make_shared<std::string>();
  const std::string url = identity_->endpoint.empty()
                              ? absl::StrCat("https://sts.", region_, ".amazonaws.com/")
                              : identity_->endpoint;
  client_->Start(
      {.title = "web identity: POST " + url,
       .make = [identity = *identity_, form, url]() -> absl::StatusOr<HttpRequest> {
         CAIRN_ASSIGN_OR_RETURN(const std::string token, ReadToken(identity.token_file));
         *form = FormOf(identity, token);
         return HttpRequest{.method = "POST",
                            .url = url,
                            .headers = {"Content-Type: application/x-www-form-urlencoded"},
                            .body = AsBytes(*form),
                            .most_bytes = kMostCredentials};
       },
       .check = [](const HttpAnswer& answer) { return ParseLentKeys(answer).status(); },
       .done = [self = shared_from_this()](
                   const CallHistory&,
                   absl::StatusOr<HttpAnswer> answer) { self->Finish(std::move(answer)); }});
}

void Credentials::Finish(absl::StatusOr<HttpAnswer> answer) {
  absl::StatusOr<LentKeys> lent = !answer.ok() ? answer.status()
                                  : !answer->IsGood()
                                      ? RefusalOf("web identity: " + identity_->role_arn, *answer)
                                      : ParseLentKeys(*answer);
  std::vector<std::function<void(absl::Status)>> waiting;
  absl::Status status = lent.status();
  {
    const MutexLock lock(mutex_);
    if (lent.ok()) {
      keys_ = std::move(lent->keys);
      expiry_ = lent->expiry;
    }
    // The keys from before serve as long as they can.
    if (absl::Now() < expiry_) status = absl::OkStatus();
    renewing_ = false;
    waiting.swap(waiting_);
  }
  for (const auto& done : waiting) done(status);
}

}  // namespace cairn::object

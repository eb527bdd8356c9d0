#include "engine/object/s3/keys/key_request.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "engine/base/await.h"
#include "engine/base/status.h"
#include "engine/object/s3/http/retrying_client.h"
#include "engine/object/s3/http/s3_error.h"

namespace cairn::object {

namespace {

constexpr int64_t kMostAnswer = int64_t{256} << 10;
constexpr size_t kMostFile = size_t{64} << 10;

}  // namespace

absl::StatusOr<std::string> AskForKeys(const TransportOptions& transport,
                                       const KeyRequest& request) {
  const std::string place = request.url.substr(0, request.url.find('?'));
  const std::string title = absl::StrCat("keys: ", request.method, " ", place);
  CAIRN_ASSIGN_OR_RETURN(
      const std::shared_ptr<RetryingClient> client,
      RetryingClient::Open(transport, /*redirects=*/false, "keys from " + place));
  const auto make = [&]() -> absl::StatusOr<HttpRequest> {
    return HttpRequest{.method = request.method,
                       .url = request.url,
                       .headers = request.headers,
                       .body = std::as_bytes(std::span(request.body)),
                       .most_bytes = kMostAnswer};
  };
  const auto answer = Await<absl::StatusOr<HttpAnswer>>([&](auto done) {
    client->Start({.title = title,
                   .make = make,
                   .done = [done](const CallHistory&, absl::StatusOr<HttpAnswer> given) {
                     done(std::move(given));
                   }});
  });
  client->Stop();
  CAIRN_RETURN_IF_ERROR(answer.status());
  if (!answer->IsGood()) return RefusalOf(title, *answer);
  if (answer->too_long) {
    return absl::DataLossError(absl::StrCat(title, ": more than ", kMostAnswer, " bytes"));
  }
  return std::string(reinterpret_cast<const char*>(answer->body.data()), answer->body.size());
}

TransportOptions Nearby(TransportOptions transport) {
  transport.proxy.clear();
  transport.connect_timeout = std::min(transport.connect_timeout, std::chrono::milliseconds(1000));
  transport.request_timeout = std::min(transport.request_timeout, std::chrono::milliseconds(5000));
  transport.call_timeout = std::min(transport.call_timeout, std::chrono::milliseconds(10'000));
  transport.retries = std::min(transport.retries, 2);
  return transport;
}

std::string AwsUrl(const std::string& service, const std::string& region) {
  return absl::StrCat("https://", service, ".", region, ".amazonaws.com",
                      region.starts_with("cn-") ? ".cn" : "");
}

absl::StatusOr<std::string> ReadKeyFile(const std::string& path, const std::string& what) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad() || !file.eof() || text.empty()) {
    return absl::PermissionDeniedError(
        absl::StrCat(what, ": cannot read 1 to ", kMostFile, " bytes from ", path));
  }
  return std::string(absl::StripAsciiWhitespace(text));
}

}  // namespace cairn::object

#include "tests/object/stores.h"

#include <atomic>
#include <cstdlib>
#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

#include "engine/object/s3/http/url.h"

namespace cairn::test {

S3Options TestS3Options(const std::string& endpoint) {
  S3Options options;
  options.bucket = "test";
  options.endpoint = endpoint;
  options.credentials = {.access_key = "key", .secret_key = "secret"};
  options.transport.first_pause = std::chrono::milliseconds(1);
  options.transport.longest_pause = std::chrono::milliseconds(20);
  return options;
}

ServedS3::ServedS3(FakeS3Options options)
    : bucket(options),
      server([this](const ServedRequest& request) { return bucket.Serve(request); }),
      store(OpenS3(TestS3Options(server.url())).value()) {}

std::optional<S3Options> RealS3Options() {
  const char* const bucket = std::getenv("CAIRN_TEST_S3_BUCKET");
  if (bucket == nullptr) return std::nullopt;
  S3Options options = S3OptionsFromEnvironment().value();
  options.bucket = bucket;
  return options;
}

int PortOf(const std::string& endpoint) {
  const std::string host = object::ParseUrl(endpoint)->host;
  int port = 80;
  static_cast<void>(absl::SimpleAtoi(host.substr(host.rfind(':') + 1), &port));
  return port;
}

std::string FreshName(const std::string& title) {
  static const std::string run = absl::StrFormat("%08x", std::random_device()());
  static std::atomic<int> number = 0;
  return absl::StrFormat("%s/%s/%d", run, title, ++number);
}

}  // namespace cairn::test

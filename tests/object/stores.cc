#include "tests/object/stores.h"

#include <atomic>
#include <cstdlib>
#include <random>

#include "absl/strings/str_format.h"

namespace cairn::test {

S3Options TestS3Options(const std::string& endpoint) {
  S3Options options;
  options.bucket = "test";
  options.endpoint = endpoint;
  options.credentials = {.access_key = "key", .secret_key = "secret"};
  options.transport.first_pause = std::chrono::milliseconds(1);
  options.transport.longest_pause = std::chrono::milliseconds(20);
  options.transport.request_timeout = std::chrono::milliseconds(2'000);
  options.transport.call_timeout = std::chrono::milliseconds(5'000);
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

std::string FreshName(const std::string& title) {
  static const std::string run = absl::StrFormat("%08x", std::random_device()());
  static std::atomic<int> number = 0;
  return absl::StrFormat("%s/%s/%d", run, title, ++number);
}

}  // namespace cairn::test

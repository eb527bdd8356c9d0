// Stores for tests to run over.
#ifndef CAIRN_TESTS_OBJECT_STORES_H_
#define CAIRN_TESTS_OBJECT_STORES_H_

#include <memory>
#include <optional>
#include <string>

#include "cairn/s3.h"
#include "tests/object/fake_s3.h"
#include "tests/object/http_server.h"

namespace cairn::test {

// For a bucket "test" at this endpoint; pauses are short.
S3Options TestS3Options(const std::string& endpoint);

// A server with a bucket, and a store over it.
class ServedS3 {
 public:
  explicit ServedS3(FakeS3Options options = {});

  FakeS3 bucket;
  HttpServer server;
  std::shared_ptr<ObjectStore> store;
};

// The bucket that the environment names by CAIRN_TEST_S3_BUCKET, with the credentials and the
// endpoint that every S3 client takes from there. Nothing when it names none.
std::optional<S3Options> RealS3Options();

// Returns the port of "http://host:port".
int PortOf(const std::string& endpoint);

// A name that no test has used before.
std::string FreshName(const std::string& title);

inline Bytes BytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }
inline std::string TextOf(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_STORES_H_

// A bucket that speaks S3, as far as Cairn does, and may be made to misbehave.
#ifndef CAIRN_TESTS_OBJECT_FAKE_S3_H_
#define CAIRN_TESTS_OBJECT_FAKE_S3_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/object/http_server.h"

namespace cairn::test {

struct FakeS3Options {
  bool ignores_absent = false;  // puts with If-None-Match succeed
  bool ignores_match = false;   // puts with If-Match succeed
  bool wants_bare_etags = false;
  bool ignores_bare_etags = false;  // puts with If-Match and such succeed
};

// The bucket is the first part of the path. Thread-safe.
class FakeS3 {
 public:
  explicit FakeS3(FakeS3Options options = {}) : options_(options) {}

  ServedAnswer Serve(const ServedRequest& request);

  // "METHOD name" of each request so far.
  std::vector<std::string> log() const;
  std::map<std::string, std::string> objects() const;
  void Set(const std::string& name, const std::string& content);

 private:
  ServedAnswer Get(const std::string& name, const ServedRequest& request) const;
  ServedAnswer Put(const std::string& name, const ServedRequest& request);
  ServedAnswer List(const ServedRequest& request) const;
  ServedAnswer DeleteMany(const ServedRequest& request);
  bool Refuses(const std::string& name, const ServedRequest& request) const;

  const FakeS3Options options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  std::vector<std::string> log_;
};

// The answer that refuses with this code.
ServedAnswer S3Failure(int status, const std::string& code);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_FAKE_S3_H_

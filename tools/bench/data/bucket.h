// A bucket of the store that the environment names, and a slower way there.
#ifndef CAIRN_TOOLS_BENCH_DATA_BUCKET_H_
#define CAIRN_TOOLS_BENCH_DATA_BUCKET_H_

#include <memory>
#include <string>
#include <sys/types.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/object_store.h"

namespace cairn::bench {

// Opens a bucket, at `endpoint` unless that is empty. Errors: kUnimplemented if this was built
// without S3.
absl::StatusOr<std::shared_ptr<ObjectStore>> OpenBucket(const std::string& bucket,
                                                        const std::string& endpoint = "");

// Returns the endpoint of the store that the environment names, which is empty for AWS.
absl::StatusOr<std::string> EndpointOfEnvironment();

// Removes all objects whose names begin with `prefix`.
absl::Status RemoveObjects(ObjectStore& store, const std::string& prefix);

// The program object_proxy, which passes requests on to a port of this machine and delays each.
class SlowWay {
 public:
  // `endpoint` is http://127.0.0.1:PORT.
  static absl::StatusOr<std::unique_ptr<SlowWay>> Start(const std::string& program,
                                                        const std::string& endpoint,
                                                        int latency_ms);
  ~SlowWay();
  SlowWay(const SlowWay&) = delete;
  SlowWay& operator=(const SlowWay&) = delete;

  const std::string& url() const { return url_; }

 private:
  SlowWay(pid_t process, std::string url) : process_(process), url_(std::move(url)) {}

  const pid_t process_;
  const std::string url_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_DATA_BUCKET_H_

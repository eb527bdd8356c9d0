#include "tools/bench/data/bucket.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tools/status.h"
#ifdef CAIRN_HAVE_S3
#include "cairn/s3.h"
#endif

namespace cairn::bench {

#ifdef CAIRN_HAVE_S3

absl::StatusOr<std::shared_ptr<ObjectStore>> OpenBucket(const std::string& bucket,
                                                        const std::string& endpoint) {
  ASSIGN_OR_RETURN(S3Options options, S3OptionsFromEnvironment());
  options.bucket = bucket;
  if (!endpoint.empty()) options.endpoint = endpoint;
  return OpenS3(std::move(options));
}

absl::StatusOr<std::string> EndpointOfEnvironment() {
  ASSIGN_OR_RETURN(S3Options options, S3OptionsFromEnvironment());
  return std::move(options.endpoint);
}

#else

absl::StatusOr<std::shared_ptr<ObjectStore>> OpenBucket(const std::string& /*bucket*/,
                                                        const std::string& /*endpoint*/) {
  return absl::UnimplementedError("this was built without S3");
}

absl::StatusOr<std::string> EndpointOfEnvironment() {
  return absl::UnimplementedError("this was built without S3");
}

#endif

absl::Status RemoveObjects(ObjectStore& store, const std::string& prefix) {
  for (;;) {
    ASSIGN_OR_RETURN(const ObjectListing listing, store.List(prefix, "", 1000));
    if (listing.objects.empty()) return absl::OkStatus();
    std::vector<std::string> names;
    for (const ObjectInfo& object : listing.objects) names.push_back(object.name);
    RETURN_IF_ERROR(store.Delete(names));
  }
}

absl::StatusOr<std::unique_ptr<SlowWay>> SlowWay::Start(const std::string& program,
                                                        const std::string& endpoint,
                                                        int latency_ms) {
  const std::string here = "http://127.0.0.1:";
  if (!endpoint.starts_with(here)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the proxy goes to ", here, "PORT, and not to ", endpoint));
  }
  const std::string port = endpoint.substr(here.size());
  const std::string latency = absl::StrCat(latency_ms);
  int ends[2];
  if (pipe(ends) != 0) return absl::InternalError("no pipe for the proxy");
  const pid_t process = fork();
  if (process == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(program.c_str(), program.c_str(), "0", port.c_str(), latency.c_str(), nullptr);
    std::_Exit(127);
  }
  close(ends[1]);
  // The program writes the URL where it listens.
  std::string url;
  for (char letter = 0; read(ends[0], &letter, 1) == 1 && letter != '\n';) url += letter;
  close(ends[0]);
  if (process > 0 && url.starts_with(here)) {
    return std::unique_ptr<SlowWay>(new SlowWay(process, std::move(url)));
  }
  if (process > 0) waitpid(process, nullptr, 0);
  return absl::InternalError(absl::StrCat(program, ": cannot be run as object_proxy"));
}

SlowWay::~SlowWay() {
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
}

}  // namespace cairn::bench

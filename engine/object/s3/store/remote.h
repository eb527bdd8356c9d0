// A place that holds objects: a bucket, or a folder of a web server.
#ifndef CAIRN_ENGINE_OBJECT_S3_STORE_REMOTE_H_
#define CAIRN_ENGINE_OBJECT_S3_STORE_REMOTE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/object/s3/http/retrying_client.h"
#include "engine/object/s3/http/url.h"
#include "engine/object/s3/signing/credentials.h"

namespace cairn::object {

enum class Verb { kGet, kHead, kPut, kList, kDelete };

struct RemoteRequest {
  Verb verb = Verb::kGet;
  std::string method;
  std::string name = {};  // empty: the bucket itself
  Query query = {};
  std::map<std::string, std::string> headers = {};  // lower-case names
  Bytes body = {};
  std::string body_hash = {};  // SHA-256 in hex; empty: there is no body
  int64_t most_bytes = INT64_MAX;
};

// The address of a remote.
struct RemotePlace {
  Url url;
  std::string region;
  bool is_signed = false;
  std::string description;
};
// Chooses between virtual hosts and paths.
absl::StatusOr<RemotePlace> PlaceOf(const S3Options& options);

// Sends requests to a place. Thread-safe.
class Remote : public std::enable_shared_from_this<Remote> {
 public:
  using Check = std::function<absl::Status(const HttpAnswer&)>;
  using Done = std::function<void(const CallHistory&, absl::StatusOr<HttpAnswer>)>;

  Remote(RemotePlace place, std::shared_ptr<RetryingClient> client,
         std::shared_ptr<Credentials> credentials)
      : place_(std::move(place)),
        client_(std::move(client)),
        credentials_(std::move(credentials)) {}

  // Starts a request as HttpCall describes. `history` is that of earlier calls for the same
  // purpose.
  void Start(RemoteRequest request, Check check, Done done, CallHistory history = {});
  // Returns a title such as "s3://bucket: put name".
  std::string Title(const RemoteRequest& request) const;

  const RemotePlace& place() const { return place_; }
  RetryingClient& client() { return *client_; }

  // True if If-Match of a put needs its etag in quotes. The standard asks for them, but not every
  // store removes them.
  std::atomic<bool> quotes_etags = true;
  std::atomic<int64_t> bytes_read = 0;
  std::atomic<int64_t> bytes_written = 0;
  ObjectStoreStats stats() const;

 private:
  absl::StatusOr<HttpRequest> MakeRequest(const RemoteRequest& request);
  std::string PathOf(const std::string& name) const;
  void Sign(const RemoteRequest& request, const std::string& path, const std::string& query,
            std::map<std::string, std::string>& headers);

  const RemotePlace place_;
  const std::shared_ptr<RetryingClient> client_;
  const std::shared_ptr<Credentials> credentials_;
  std::array<std::atomic<int64_t>, 5> counts_{};
};

// Errors: kInvalidArgument for a name that some stores do not allow.
absl::Status CheckName(const std::string& name);
// Describes the object of an answer, without its size.
ObjectInfo DescribeObject(const std::string& name, const HttpAnswer& answer);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_STORE_REMOTE_H_

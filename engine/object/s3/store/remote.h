// A place that holds objects: a bucket, or a folder of a web server.
#ifndef CAIRN_ENGINE_OBJECT_S3_STORE_REMOTE_H_
#define CAIRN_ENGINE_OBJECT_S3_STORE_REMOTE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/base/mutex.h"
#include "engine/object/s3/http/retrying_client.h"
#include "engine/object/s3/http/url.h"
#include "engine/object/s3/keys/credentials.h"

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
  std::string query = {};        // added to each request; a secret
  bool host_has_region = false;  // the host is of AWS in the region
};
// Chooses between virtual hosts and paths.
absl::StatusOr<RemotePlace> PlaceOf(const S3Options& options);
// Returns the same place in another region. Its host changes only if that has the region.
RemotePlace InRegion(RemotePlace place, const std::string& region);

// Sends requests to a place. Thread-safe.
class Remote : public std::enable_shared_from_this<Remote> {
 public:
  using Check = std::function<absl::Status(const HttpAnswer&)>;
  using Done = std::function<void(const CallHistory&, absl::StatusOr<HttpAnswer>)>;

  // `notice` may be empty.
  Remote(RemotePlace place, std::shared_ptr<RetryingClient> client,
         std::shared_ptr<Credentials> credentials,
         std::function<void(const std::string&)> notice = {})
      : description_(place.description),
        only_gets_(!place.query.empty()),
        client_(std::move(client)),
        credentials_(std::move(credentials)),
        notice_(std::move(notice)),
        place_(std::move(place)) {}

  // Starts a request as HttpCall describes. `history` is that of earlier calls for the same
  // purpose.
  void Start(RemoteRequest request, Check check, Done done, CallHistory history = {});
  // Returns a title such as "s3://bucket: put name".
  std::string Title(const RemoteRequest& request) const;

  const std::string& description() const { return description_; }
  // Returns true if a query may allow to get objects, and nothing else.
  bool only_gets() const { return only_gets_; }
  std::chrono::milliseconds call_timeout() const { return client_->call_timeout(); }
  void Cancel();
  // Cancels, and returns when no callback runs any more, unless a callback calls it.
  void Stop();

  // True if If-Match of a put needs its etag in quotes. The standard asks for them, but not every
  // store removes them.
  std::atomic<bool> quotes_etags = true;
  std::atomic<int64_t> bytes_read = 0;
  std::atomic<int64_t> bytes_written = 0;
  ObjectStoreStats stats() const;

 private:
  // A request until its answer stands.
  struct Sending {
    RemoteRequest request;
    Check check;
    Done done;
    // How the last try was made.
    S3Credentials keys = {};
    std::string region = {};
    // A refusal of keys, or a redirection to another region, is answered once each.
    bool has_new_keys = false;
    bool has_moved = false;
  };
  using SharedSending = std::shared_ptr<Sending>;

  void Send(const SharedSending& sending, CallHistory history);
  void Finish(const SharedSending& sending, const CallHistory& history,
              absl::StatusOr<HttpAnswer> answer);
  void SendWithNewKeys(const SharedSending& sending, const CallHistory& history, HttpAnswer answer);
  bool FollowsRegion(Sending& sending, const HttpAnswer& answer);
  RemotePlace place() const;
  absl::StatusOr<HttpRequest> MakeRequest(Sending& sending);

  const std::string description_;
  const bool only_gets_;
  const std::shared_ptr<RetryingClient> client_;
  const std::shared_ptr<Credentials> credentials_;
  const std::function<void(const std::string&)> notice_;
  std::array<std::atomic<int64_t>, 5> counts_{};
  mutable Mutex mutex_;
  RemotePlace place_ ABSL_GUARDED_BY(mutex_);
};

// Errors: kInvalidArgument for a name that some stores do not allow.
absl::Status CheckName(const std::string& name);
// Describes the object of an answer, without its size.
ObjectInfo DescribeObject(const std::string& name, const HttpAnswer& answer);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_STORE_REMOTE_H_

// OpenS3 and OpenHttp: S3 and web servers as object stores. They belong to the library libcairn_s3,
// `pkg-config cairn_s3`. See docs/object-stores.md.
#ifndef CAIRN_S3_H_
#define CAIRN_S3_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn {

// Describes why a store lets its callers wait.
struct TransportWait {
  std::string store = {};             // "s3://bucket"
  std::string failure = {};           // why the last try of a request failed; empty if none has
  std::chrono::milliseconds time{0};  // time since the last answer, or since the first request
};

// Says how requests are made. A try that fails for a reason that may pass is repeated after a
// random pause. Its limit is first_pause, then twice that, four times that, …, longest_pause. If
// the server asks for a longer pause, it gets that.
struct TransportOptions {
  int parallel = 64;  // most requests at the same time; the others wait
  int retries = 100;  // most retries of one call
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds longest_pause{5'000};
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::seconds stall_timeout{15};             // time without a byte in either direction
  std::chrono::milliseconds request_timeout{60'000};  // time of one try
  std::chrono::milliseconds call_timeout{60'000};     // time of all tries of a call
  std::string ca_file = {};                           // PEM file; empty: the system's certificates
  std::string proxy = {};                             // URL; empty: none
  std::string no_proxy = {};  // hosts that are reached without the proxy, separated by commas
  // Threads that make requests call this ten times a second while there are any. If it returns
  // false, these requests end with kCancelled. Later requests are made if it returns true again.
  std::function<bool(const TransportWait&)> keep_waiting = {};
  // Gets a sentence that may interest the user, once, in any thread. No other call may be made in
  // it.
  std::function<void(const std::string&)> notice = {};
};

// Keys that sign requests.
struct S3Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token = {};
};

// Keys that serve until a time.
struct S3LentKeys {
  S3Credentials keys;
  std::chrono::system_clock::time_point expiry = std::chrono::system_clock::time_point::max();
};

// Gets keys from whoever lends them. It is called in a thread of its own: before the first request,
// before the keys expire, and after the store has refused them. Requests at the same time share one
// call. `transport` is that of the store, except that its `keep_waiting` also returns false when
// the store is cancelled; the source should ask it now and then.
using S3KeySource = std::function<absl::StatusOr<S3LentKeys>(const TransportOptions& transport)>;

// Says how to get credentials from STS. STS lends them for a token in a file, and Cairn renews them
// before they expire.
struct S3WebIdentity {
  std::string token_file;
  std::string role_arn;
  std::string session_name = "cairn";
  std::string endpoint = {};  // URL of STS; empty: AWS in the region
};

// Says where a request names the bucket: first in the path, or first in the name of the host.
enum class S3Addressing {
  kAuto,  // in the path if `endpoint` is set or the bucket's name has dots
  kPath,
  kVirtualHost,
};

// Describes a bucket and how to reach it.
struct S3Options {
  std::string bucket = {};
  std::string endpoint = {};  // "https://host:port"; empty: AWS
  std::string region = "us-east-1";
  S3Addressing addressing = S3Addressing::kAuto;
  // Set one of the next four members, or the first together with the second, which is asked when
  // the store has refused the credentials.
  S3Credentials credentials = {};
  S3KeySource key_source = {};
  std::optional<S3WebIdentity> web_identity = {};
  bool anonymous = false;
  TransportOptions transport = {};
};

// Returns all options except the bucket, from the environment, as other S3 clients do. Call it
// before other threads change the environment.
//
// It reads the variables AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL,
// AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL_SSO, AWS_CA_BUNDLE, HTTPS_PROXY and NO_PROXY (also in
// lower case; http_proxy for an endpoint of http://), and the profile AWS_PROFILE of the files
// AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE. Cairn's own variables are CAIRN_CONNECT_TIMEOUT
// and CAIRN_CALL_TIMEOUT, in seconds.
//
// For keys it looks, in this order, at AWS_NO_SIGN_REQUEST; AWS_ACCESS_KEY_ID with
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN and
// AWS_ROLE_SESSION_NAME; the profile; AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or
// AWS_CONTAINER_CREDENTIALS_FULL_URI with AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE or
// AWS_CONTAINER_AUTHORIZATION_TOKEN; and the metadata of the machine, unless
// AWS_EC2_METADATA_DISABLED is true. It asks nobody for keys yet.
//
// Errors:
//   kUnimplemented if the profile needs a device for its keys, or a console of AWS.
//   kInvalidArgument if a setting has a value that is not allowed, or a file has an invalid line.
//   kNotFound if no file has the profile AWS_PROFILE.
//   kPermissionDenied if a file cannot be read.
CAIRN_EXPORT absl::StatusOr<S3Options> S3OptionsFromEnvironment();

// Opens a bucket as an object store. Makes no request yet. In a forked child every request ends
// with kCancelled: open the store again.
// Errors:
//   kInvalidArgument if the bucket or the endpoint is not valid, or the transport allows less than
//     one request or less than 0 retries.
//   kPermissionDenied if there are no credentials and the options are not anonymous.
//   kUnimplemented if libcurl or another library that S3 needs cannot be loaded.
//   kResourceExhausted if the system gives no thread for the requests.
CAIRN_EXPORT absl::StatusOr<std::shared_ptr<ObjectStore>> OpenS3(S3Options options);

// Opens the files below a URL as an object store for reading. A query of the URL, such as a
// signature, goes with each request and into no message; then Head sends a GET, too. All requests
// except Get and Head return kUnimplemented. The server must answer requests for ranges. Makes no
// request yet. Errors: as for OpenS3, except those for the bucket and the credentials.
CAIRN_EXPORT absl::StatusOr<std::shared_ptr<ObjectStore>> OpenHttp(const std::string& url,
                                                                   TransportOptions options = {});

// The store and the name of an object, or a prefix of the names of several objects.
struct ObjectLocation {
  std::shared_ptr<ObjectStore> store;
  std::string path;
};

// Returns true if OpenObjectUri takes such a URI: "s3://bucket/name", "https://host/folder/name",
// or the same with http.
CAIRN_EXPORT bool IsObjectUri(std::string_view uri);

// Opens the store of a URI. For s3:// it uses all `options` except their bucket; for other URIs it
// uses `options.transport`. Names after s3:// are taken as they are. In other URIs %20 is a space.
// Errors: as for OpenS3 or OpenHttp; kInvalidArgument also if the URI begins differently, or if a
// web URI names no file.
CAIRN_EXPORT absl::StatusOr<ObjectLocation> OpenObjectUri(std::string_view uri,
                                                          const S3Options& options);

// Makes a file system for OpenOptions::file_system and similar options. In it, such URIs lead to
// objects, and all other paths lead to the files of the operating system. Stores are opened when
// they are first used, and shared. A forked child opens its own.
//
// If `s3` is an error, calls with an s3:// URI return it. If it is kInvalidArgument, calls with a
// web URI return it, too. Calls with two paths return kInvalidArgument if they lie in different
// stores.
CAIRN_EXPORT std::shared_ptr<FileSystem> MakeUriFileSystem(absl::StatusOr<S3Options> s3,
                                                           ObjectFileOptions options = {});

// Opens a frame at a URI or a path, with S3 options from the environment. Programs that open many
// frames should share a file system of MakeUriFileSystem, which shares connections and memory.
// Errors: as for Frame::Open, ObjectStore and S3OptionsFromEnvironment.
CAIRN_EXPORT absl::StatusOr<Frame> OpenUri(const std::string& uri, const OpenOptions& options = {});

}  // namespace cairn

#endif  // CAIRN_S3_H_

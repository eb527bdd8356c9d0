// S3 and web servers as object stores: the library libcairn_s3, `pkg-config cairn_s3`.
// See docs/object-stores.md.
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
  std::string failure = {};           // what the last try of a request failed by; empty: none has
  std::chrono::milliseconds time{0};  // since there was an answer
};

// How requests are made. A try that fails for now is repeated after a random pause of at most
// first_pause, twice that, four times that, …, longest_pause, or what the server asks for.
struct TransportOptions {
  int parallel = 64;  // requests in flight; the others wait
  int retries = 100;  // of one call, at most
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds longest_pause{5'000};
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::seconds stall_timeout{15};             // without a byte either way
  std::chrono::milliseconds request_timeout{60'000};  // one try
  std::chrono::milliseconds call_timeout{60'000};     // all tries of a call, from the first one on
  std::string ca_file = {};                           // PEM; empty: the system's certificates
  std::string proxy = {};                             // URL; empty: none
  std::string no_proxy = {};                          // hosts that are reached directly, by commas
  // Asked ten times a second while there are requests, by the thread that makes them. False ends
  // them with kCancelled; those that begin later are made if it says true again.
  std::function<bool(const TransportWait&)> keep_waiting = {};
};

struct S3Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token = {};
};

// Credentials that STS lends for a token in a file, and that are renewed before they expire.
struct S3WebIdentity {
  std::string token_file;
  std::string role_arn;
  std::string session_name = "cairn";
  std::string endpoint = {};  // of STS; empty: that of AWS in the region
};

// Says where the bucket stands: first in the path, or first in the host's name.
enum class S3Addressing {
  kAuto,  // the path where `endpoint` is set or the bucket's name has dots
  kPath,
  kVirtualHost,
};

struct S3Options {
  std::string bucket = {};
  std::string endpoint = {};  // "https://host:port"; empty: AWS
  std::string region = "us-east-1";
  S3Addressing addressing = S3Addressing::kAuto;
  // Set one of these three.
  S3Credentials credentials = {};
  std::optional<S3WebIdentity> web_identity = {};
  bool anonymous = false;
  TransportOptions transport = {};
};

// All but the bucket, as S3 clients take them: the variables AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN,
// AWS_ROLE_SESSION_NAME, AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL,
// AWS_ENDPOINT_URL_STS, AWS_CA_BUNDLE, HTTPS_PROXY, NO_PROXY, and the profile AWS_PROFILE of the
// files AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE. Cairn's own are CAIRN_CONNECT_TIMEOUT and
// CAIRN_CALL_TIMEOUT, in seconds. Call it before other threads change the environment.
//
// Errors: kUnimplemented for a profile that needs a program, a browser or another profile;
// kInvalidArgument for a value that a setting cannot have.
CAIRN_EXPORT absl::StatusOr<S3Options> S3OptionsFromEnvironment();

// Makes no request yet. kInvalidArgument; kPermissionDenied without credentials, unless anonymous.
CAIRN_EXPORT absl::StatusOr<std::shared_ptr<ObjectStore>> OpenS3(S3Options options);

// The files below a URL, for reading: the other verbs give kUnimplemented. The server has to answer
// requests for ranges.
CAIRN_EXPORT absl::StatusOr<std::shared_ptr<ObjectStore>> OpenHttp(const std::string& url,
                                                                   TransportOptions options = {});

// An object, or what the names of several begin with, and its store.
struct ObjectLocation {
  std::shared_ptr<ObjectStore> store;
  std::string path;
};

// Returns true if OpenObjectUri takes it: "s3://bucket/name", "https://host/folder/name" or http.
CAIRN_EXPORT bool IsObjectUri(std::string_view uri);

// For s3:// with `options`, but for their bucket; for the others with options.transport. Names of
// s3:// stand as they are; in others %20 is a space.
CAIRN_EXPORT absl::StatusOr<ObjectLocation> OpenObjectUri(std::string_view uri,
                                                          const S3Options& options);

// A file system, for OpenOptions::file_system and its like, in which such URIs lead to objects and
// all other paths to the files of the operating system. Stores are opened when they are first used,
// and shared; an error in `s3` is that of each s3:// then.
CAIRN_EXPORT std::shared_ptr<FileSystem> MakeUriFileSystem(absl::StatusOr<S3Options> s3,
                                                           ObjectFileOptions options = {});

// Opens a frame at a URI or a path, with S3 options from the environment. Programs that open many
// frames share a file system of MakeUriFileSystem, and its connections and memory.
CAIRN_EXPORT absl::StatusOr<Frame> OpenUri(const std::string& uri, const OpenOptions& options = {});

}  // namespace cairn

#endif  // CAIRN_S3_H_

// An HTTP request in flight.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_HTTP_TRANSFER_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_HTTP_TRANSFER_H_

#include <cstddef>
#include <memory>

#include "engine/object/s3/http/curl_library.h"
#include "engine/object/s3/http/http_message.h"

namespace cairn::object {

struct FreeList {
  void operator()(curl_slist* list) const { Curl().slist_free_all(list); }
};

// The state that curl's callbacks work on. It stays at its address.
struct HttpTransfer {
  CURL* easy = nullptr;
  HttpRequest request;
  HttpDone done;
  std::unique_ptr<curl_slist, FreeList> headers;
  HttpAnswer answer;
  size_t body_sent = 0;
  size_t header_bytes = 0;  // of this answer and of those that led to it
  int sends = 0;
};

// Gives the handle the request and its callbacks.
void Prepare(HttpTransfer& transfer);

// Returns the answer, once curl has ended the transfer. Errors: kUnavailable for a failure that
// another try would not mend, such as a certificate that is not trusted.
absl::StatusOr<HttpAnswer> TakeAnswer(HttpTransfer& transfer, CURLcode result);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_HTTP_TRANSFER_H_

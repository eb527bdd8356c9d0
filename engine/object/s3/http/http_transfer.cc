#include "engine/object/s3/http/http_transfer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cairn::object {

namespace {

// The most bytes of an answer that reports a failure.
constexpr int64_t kMostErrorBytes = 65536;
// At most this is reserved when the first bytes arrive, whatever the server announces.
constexpr int64_t kMostReserved = int64_t{8} << 20;
// S3 answers with a few hundred bytes of headers.
constexpr size_t kMostHeaderBytes = size_t{256} << 10;
// Requests of this size are worth curl's larger buffers.
constexpr int64_t kLargeBody = 65536;
constexpr long kLargeBuffer = 131072;

bool IsGoodNow(CURL* easy) {
  long status = 0;
  Curl().easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return status / 100 == 2;
}

void ReserveBody(HttpTransfer& transfer) {
  curl_off_t size = -1;
  Curl().easy_getinfo(transfer.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
  const int64_t most = std::min(transfer.request.most_bytes, kMostReserved);
  if (size > 0) transfer.answer.body.reserve(static_cast<size_t>(std::min<int64_t>(size, most)));
}

size_t TakeBody(char* data, size_t /*one*/, size_t size, void* user) {
  HttpTransfer& transfer = *static_cast<HttpTransfer*>(user);
  std::vector<std::byte>& body = transfer.answer.body;
  const bool good = IsGoodNow(transfer.easy);
  const int64_t most = good ? transfer.request.most_bytes : kMostErrorBytes;
  // The rest of a failure's reason is not worth reading for ever.
  if (static_cast<int64_t>(size) > most - std::ssize(body)) {
    transfer.answer.too_long = true;
    return 0;
  }
  if (body.empty()) ReserveBody(transfer);
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  body.insert(body.end(), begin, begin + size);
  return size;
}

// Ends a transfer whose headers do not end.
size_t TakeHeader(char* /*data*/, size_t /*one*/, size_t size, void* user) {
  HttpTransfer& transfer = *static_cast<HttpTransfer*>(user);
  transfer.header_bytes += size;
  return transfer.header_bytes <= kMostHeaderBytes ? size : 0;
}

size_t GiveBody(char* data, size_t /*one*/, size_t capacity, void* user) {
  HttpTransfer& transfer = *static_cast<HttpTransfer*>(user);
  const Bytes rest = transfer.request.body.subspan(transfer.body_sent);
  const size_t size = std::min(capacity, rest.size());
  std::copy_n(rest.begin(), size, reinterpret_cast<std::byte*>(data));
  transfer.body_sent += size;
  return size;
}

int Rewind(void* user, curl_off_t offset, int /*origin*/) {
  static_cast<HttpTransfer*>(user)->body_sent = static_cast<size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

// Runs before each sending. If the server closes a kept connection without an answer, curl sends
// again by itself. But the server may have done what the request asks.
int CountSending(void* user, char*, char*, int, int) {
  HttpTransfer& transfer = *static_cast<HttpTransfer*>(user);
  ++transfer.sends;
  return transfer.request.changes && transfer.sends > 1 ? CURL_PREREQFUNC_ABORT
                                                        : CURL_PREREQFUNC_OK;
}

std::string HeaderOf(CURL* easy, const char* name) {
  curl_header* header = nullptr;
  if (Curl().easy_header(easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return {};
  return header->value;
}

int64_t TimeOf(const std::string& text) {
  return text.empty() ? 0 : std::max<int64_t>(Curl().getdate(text.c_str(), nullptr), 0);
}

bool IsHopeless(CURLcode result) {
  switch (result) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
      return true;
    default:
      return false;
  }
}

void SetMethod(HttpTransfer& transfer) {
  CURL* const easy = transfer.easy;
  const HttpRequest& request = transfer.request;
  const auto size = static_cast<curl_off_t>(request.body.size());
  if (request.method == "HEAD") {
    Curl().easy_setopt(easy, CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT" || request.method == "POST") {
    Curl().easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    Curl().easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, size);
    Curl().easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (size > kLargeBody) Curl().easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, kLargeBuffer);
  } else {
    Curl().easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (request.most_bytes > kLargeBody) {
      Curl().easy_setopt(easy, CURLOPT_BUFFERSIZE, kLargeBuffer);
    }
  }
}

void SetCallbacks(HttpTransfer& transfer) {
  CURL* const easy = transfer.easy;
  Curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, &TakeBody);
  Curl().easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  Curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, &TakeHeader);
  Curl().easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  Curl().easy_setopt(easy, CURLOPT_READFUNCTION, &GiveBody);
  Curl().easy_setopt(easy, CURLOPT_READDATA, &transfer);
  Curl().easy_setopt(easy, CURLOPT_SEEKFUNCTION, &Rewind);
  Curl().easy_setopt(easy, CURLOPT_SEEKDATA, &transfer);
  Curl().easy_setopt(easy, CURLOPT_PREREQFUNCTION, &CountSending);
  Curl().easy_setopt(easy, CURLOPT_PREREQDATA, &transfer);
}

}  // namespace

void Prepare(HttpTransfer& transfer) {
  CURL* const easy = transfer.easy;
  curl_slist* list = nullptr;
  for (const std::string& header : transfer.request.headers) {
    list = Curl().slist_append(list, header.c_str());
  }
  // Without this header curl waits for a server that has nothing to say before the body.
  transfer.headers.reset(Curl().slist_append(list, "Expect:"));
  Curl().easy_setopt(easy, CURLOPT_URL, transfer.request.url.c_str());
  Curl().easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.headers.get());
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      transfer.request.deadline - Clock::now());
  Curl().easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     static_cast<long>(std::clamp<int64_t>(left.count(), 1, INT32_MAX)));
  SetMethod(transfer);
  SetCallbacks(transfer);
}

absl::StatusOr<HttpAnswer> TakeAnswer(HttpTransfer& transfer, CURLcode result) {
  HttpAnswer& answer = transfer.answer;
  answer.sent = transfer.sends > 0;
  if (result != CURLE_OK && !answer.too_long) {
    answer.error =
        absl::StrCat(Curl().easy_strerror(result), " (curl ", static_cast<int>(result), ")");
    if (transfer.header_bytes > kMostHeaderBytes) {
      answer.error = absl::StrCat("headers of more than ", kMostHeaderBytes, " bytes");
    }
    if (IsHopeless(result)) return absl::UnavailableError(answer.error);
    return std::move(answer);
  }
  long status = 0;
  Curl().easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  answer.etag = HeaderOf(transfer.easy, "ETag");
  answer.content_length = HeaderOf(transfer.easy, "Content-Length");
  answer.content_range = HeaderOf(transfer.easy, "Content-Range");
  answer.region = HeaderOf(transfer.easy, "x-amz-bucket-region");
  answer.modified = TimeOf(HeaderOf(transfer.easy, "Last-Modified"));
  answer.date = TimeOf(HeaderOf(transfer.easy, "Date"));
  curl_off_t pause = 0;
  Curl().easy_getinfo(transfer.easy, CURLINFO_RETRY_AFTER, &pause);
  answer.retry_after = std::chrono::seconds(std::clamp<curl_off_t>(pause, 0, 3600));
  return std::move(answer);
}

}  // namespace cairn::object

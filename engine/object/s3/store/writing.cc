// A put ends in one of these ways:
//
// - Good: it was done, by this try or by one before with the same condition.
// - 412, and the answer to each try is known: it was refused, and nothing was done.
// - 412 after a try whose answer was lost: that try may have been done and cause this refusal.
//   No try can be done any more, since the condition fails for all of them. Reading the object
//   shows whether it is ours.
// - Time is over after a try whose answer was lost: that one may yet be done.
#include "engine/object/s3/store/writing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "engine/object/s3/http/s3_error.h"
#include "engine/object/s3/signing/digest.h"
#include "engine/object/s3/store/reading.h"

namespace cairn::object {

namespace {

constexpr int64_t kMostBytes = int64_t{5} << 30;  // S3 takes larger objects only in parts
constexpr int64_t kMostAnswer = int64_t{1} << 20;
constexpr int kMostContradictions = 3;
constexpr int kNotFound = 404;
constexpr int kRefused = 412;

struct Writing {
  std::shared_ptr<Remote> remote;
  std::string title;
  std::string name;
  std::optional<std::string> if_match;
  Bytes bytes;
  std::string hash;
  ObjectStore::PutDone done;
  int contradictions = 0;
};
using SharedWriting = std::shared_ptr<Writing>;

void Try(const SharedWriting& writing, CallHistory history);

absl::Status Unknown(const Writing& writing, const std::string& reason) {
  return absl::DeadlineExceededError(
      absl::StrFormat("%s: not known whether it was done: %s", writing.title, reason));
}

absl::Status Refused(const Writing& writing) {
  return absl::FailedPreconditionError(
      absl::StrCat(writing.title, writing.if_match.has_value()
                                      ? ": the object is not the one with etag " + *writing.if_match
                                      : ": the object is there already"));
}

void Succeed(const Writing& writing, ObjectInfo object) {
  object.size = std::ssize(writing.bytes);
  writing.done(std::move(object));
}

// Handles a refusal although the condition holds: others have changed the object in between, or the
// store does not understand the condition.
void Contradict(const SharedWriting& writing, const CallHistory& history) {
  if (++writing->contradictions <= kMostContradictions) {
    Try(writing, history);
  } else {
    writing->done(Unknown(*writing, "refused, although its condition holds"));
  }
}

// Answers a refusal that may be our own doing, after a look at the object.
void Settle(const SharedWriting& writing, const CallHistory& history,
            absl::StatusOr<ObjectPart> part) {
  if (part.ok() && std::ranges::equal(part->bytes, writing->bytes)) {
    Succeed(*writing, std::move(part->object));
  } else if (!part.ok() && !absl::IsNotFound(part.status())) {
    writing->done(absl::IsCancelled(part.status())
                      ? part.status()
                      : Unknown(*writing, std::string(part.status().message())));
  } else if (writing->if_match.has_value() ? part.ok() && part->object.etag == *writing->if_match
                                           : !part.ok()) {
    Contradict(writing, history);
  } else if (writing->if_match.has_value() && history.lost) {
    // Our object may have been there in between.
    writing->done(Unknown(*writing, "the object has changed since an answer was lost"));
  } else {
    writing->done(Refused(*writing));
  }
}

bool IsRefusal(const Writing& writing, const HttpAnswer& answer) {
  if (answer.status == kRefused) return true;
  // There is nothing to replace. NoSuchKey is checked because a bucket may be missing too.
  return writing.if_match.has_value() && answer.status == kNotFound &&
         ParseS3Error(answer).code == "NoSuchKey";
}

void Finish(const SharedWriting& writing, const CallHistory& history,
            absl::StatusOr<HttpAnswer> answer) {
  if (!answer.ok()) {
    const absl::Status& status = answer.status();
    writing->done(history.lost && absl::IsUnavailable(status)
                      ? absl::DeadlineExceededError(status.message())
                      : status);
  } else if (answer->IsGood()) {
    writing->remote->bytes_written += std::ssize(writing->bytes);
    Succeed(*writing, DescribeObject(writing->name, *answer));
  } else if (!IsRefusal(*writing, *answer)) {
    writing->done(history.lost ? Unknown(*writing, ReasonOf(*answer))
                               : RefusalOf(writing->title, *answer));
  } else if (history.lost || answer->status != kRefused) {
    StartGet(
        writing->remote, writing->name, {}, std::nullopt,
        [writing, history](absl::StatusOr<ObjectPart> part) {
          Settle(writing, history, std::move(part));
        },
        history);
  } else {
    writing->done(Refused(*writing));
  }
}

void Try(const SharedWriting& writing, CallHistory history) {
  RemoteRequest request{.verb = Verb::kPut,
                        .method = "PUT",
                        .name = writing->name,
                        .body = writing->bytes,
                        .body_hash = writing->hash,
                        .most_bytes = kMostAnswer};
  if (!writing->if_match.has_value()) {
    request.headers["if-none-match"] = "*";
  } else {
    const char* const quote = writing->remote->quotes_etags ? "\"" : "";
    request.headers["if-match"] = absl::StrCat(quote, *writing->if_match, quote);
  }
  writing->remote->Start(
      std::move(request), {},
      [writing](const CallHistory& after, absl::StatusOr<HttpAnswer> answer) {
        Finish(writing, after, std::move(answer));
      },
      history);
}

}  // namespace

void StartPut(const std::shared_ptr<Remote>& remote, std::string name,
              std::optional<std::string> if_match, Bytes bytes, ObjectStore::PutDone done) {
  absl::Status valid = CheckName(name);
  if (valid.ok() && int64_t{std::ssize(bytes)} > kMostBytes) {
    valid = absl::InvalidArgumentError(
        absl::StrCat("put ", name, ": ", bytes.size(), " bytes, but ", kMostBytes, " is the most"));
  }
  if (!valid.ok()) {
    done(valid);
    return;
  }
  const std::string title = remote->Title({.verb = Verb::kPut, .method = {}, .name = name});
  Try(std::make_shared<Writing>(Writing{remote, title, std::move(name), std::move(if_match), bytes,
                                        Hex(Sha256(bytes)), std::move(done)}),
      {});
}

}  // namespace cairn::object

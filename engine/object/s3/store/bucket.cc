#include "engine/object/s3/store/bucket.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"

#include "engine/base/status.h"
#include "engine/object/s3/http/s3_error.h"
#include "engine/object/s3/http/xml.h"
#include "engine/object/s3/signing/digest.h"

namespace cairn::object {

namespace {

constexpr int64_t kMostListed = 1000;
constexpr int64_t kMostListing = int64_t{16} << 20;  // names have up to 1,024 bytes
// A listing that cannot be parsed is requested again this many times.
constexpr int kWrongListings = 3;

absl::StatusOr<ObjectInfo> ParseListed(const XmlElement& element) {
  ObjectInfo object{.name = element.TextOf("Key"),
                    .etag = absl::StrReplaceAll(element.TextOf("ETag"), {{"\"", ""}})};
  absl::Time modified;
  const std::string time = element.TextOf("LastModified");
  if (object.name.empty() || !absl::SimpleAtoi(element.TextOf("Size"), &object.size) ||
      object.size < 0 || !absl::ParseTime(absl::RFC3339_full, time, &modified, nullptr)) {
    return absl::DataLossError(absl::StrFormat("listing: object \"%s\" of size \"%s\", time \"%s\"",
                                               object.name, element.TextOf("Size"), time));
  }
  object.modified = absl::ToUnixSeconds(modified);
  return object;
}

std::string DeletionOf(std::span<const std::string> names) {
  std::string xml = "<Delete><Quiet>true</Quiet>";
  for (const std::string& name : names) {
    absl::StrAppend(&xml, "<Object><Key>", EscapeXml(name), "</Key></Object>");
  }
  return xml + "</Delete>";
}

void FinishDelete(const std::string& title, const CallHistory& history,
                  absl::StatusOr<HttpAnswer> answer,
                  const std::function<void(absl::Status)>& done) {
  if (answer.ok() && (answer->IsGood() || ParseS3Error(*answer).code == "NoSuchKey")) {
    done(answer->body.empty() ? absl::OkStatus() : ParseDeleted(answer->body));
  } else if (answer.ok()) {
    done(RefusalOf(title, *answer));
  } else if (history.lost && absl::IsUnavailable(answer.status())) {
    done(absl::DeadlineExceededError(answer.status().message()));
  } else {
    done(answer.status());
  }
}

void StartDeleteOne(const std::shared_ptr<Remote>& remote, const std::string& name,
                    std::function<void(absl::Status)> done) {
  RemoteRequest request{.verb = Verb::kDelete, .method = "DELETE", .name = name};
  const std::string title = remote->Title(request);
  remote->Start(std::move(request), {},
                [=](const CallHistory& history, absl::StatusOr<HttpAnswer> answer) {
                  // The body of a successful delete does not matter.
                  if (answer.ok() && answer->IsGood()) answer->body.clear();
                  FinishDelete(title, history, std::move(answer), done);
                });
}

}  // namespace

absl::StatusOr<ObjectListing> ParseListing(Bytes xml) {
  CAIRN_ASSIGN_OR_RETURN(const XmlElement root, ParseXml(xml));
  if (root.name != "ListBucketResult") {
    return absl::DataLossError("listing: the answer is a " + root.name);
  }
  ObjectListing listing;
  listing.more = root.TextOf("IsTruncated") == "true";
  for (const XmlElement& element : root.children) {
    if (element.name != "Contents") continue;
    CAIRN_ASSIGN_OR_RETURN(ObjectInfo object, ParseListed(element));
    if (!listing.objects.empty() && object.name <= listing.objects.back().name) {
      return absl::UnimplementedError(
          absl::StrFormat("listing: %s comes after %s", object.name, listing.objects.back().name));
    }
    listing.objects.push_back(std::move(object));
  }
  return listing;
}

absl::Status ParseDeleted(Bytes xml) {
  CAIRN_ASSIGN_OR_RETURN(const XmlElement root, ParseXml(xml));
  if (root.name != "DeleteResult") {
    return absl::UnavailableError("delete: the answer is a " + root.name);
  }
  for (const XmlElement& error : root.children) {
    const std::string code = error.TextOf("Code");
    if (error.name != "Error" || code == "NoSuchKey") continue;
    const bool passes = code == "InternalError" || code == "SlowDown" ||
                        code == "ServiceUnavailable" || code == "OperationAborted";
    return {
        passes ? absl::StatusCode::kUnavailable : absl::StatusCode::kPermissionDenied,
        absl::StrCat("delete ", error.TextOf("Key"), ": ", code, ": ", error.TextOf("Message"))};
  }
  return absl::OkStatus();
}

void StartList(const std::shared_ptr<Remote>& remote, const std::string& prefix,
               const std::string& after, int64_t most,
               std::function<void(absl::StatusOr<ObjectListing>)> done) {
  if (most < 1) {
    done(absl::InvalidArgumentError(absl::StrFormat("list: at most %d names", most)));
    return;
  }
  RemoteRequest request{.verb = Verb::kList,
                        .method = "GET",
                        .query = {{"list-type", "2"},
                                  {"prefix", prefix},
                                  {"max-keys", absl::StrCat(std::min(most, kMostListed))}},
                        .most_bytes = kMostListing};
  if (!after.empty()) request.query.emplace_back("start-after", after);
  const std::string title = remote->Title(request) + " " + prefix;
  remote->Start(
      std::move(request),
      // A listing that was cut short on its way is complete the next time. One that is wrong stays
      // wrong.
      [left = std::make_shared<int>(kWrongListings)](const HttpAnswer& answer) {
        const absl::Status status = ParseListing(answer.body).status();
        return absl::IsDataLoss(status) && (*left)-- > 0 ? status : absl::OkStatus();
      },
      [=](const CallHistory&, absl::StatusOr<HttpAnswer> answer) {
        absl::StatusOr<ObjectListing> listing = !answer.ok()        ? answer.status()
                                                : !answer->IsGood() ? RefusalOf(title, *answer)
                                                                    : ParseListing(answer->body);
        if (listing.ok()) listing->now = answer->date;
        done(std::move(listing));
      });
}

void StartDelete(const std::shared_ptr<Remote>& remote, std::span<const std::string> names,
                 std::function<void(absl::Status)> done) {
  for (const std::string& name : names) {
    if (absl::Status valid = CheckName(name); !valid.ok()) return done(valid);
  }
  if (names.size() == 1) return StartDeleteOne(remote, names[0], std::move(done));
  const auto xml = std::make_shared<const std::string>(DeletionOf(names));
  const Bytes body = AsBytes(*xml);
  RemoteRequest request{.verb = Verb::kDelete,
                        .method = "POST",
                        .query = {{"delete", ""}},
                        .headers = {{"content-md5", Md5Base64(body)}},
                        .body = body,
                        .body_hash = Hex(Sha256(body)),
                        .most_bytes = kMostListing};
  const std::string title = absl::StrCat(remote->Title(request), " ", names.size(), " objects");
  remote->Start(
      std::move(request),
      [](const HttpAnswer& answer) {
        const absl::Status status = ParseDeleted(answer.body);
        return absl::IsPermissionDenied(status) ? absl::OkStatus() : status;
      },
      // This callback keeps the body alive until the request has ended.
      [=](const CallHistory& history, absl::StatusOr<HttpAnswer> answer) {
        static_cast<void>(xml);
        FinishDelete(title, history, std::move(answer), done);
      });
}

}  // namespace cairn::object

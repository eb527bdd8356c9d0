#include "engine/object/s3/condition_check.h"

#include <random>
#include <string_view>

#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/object/s3/digest.h"

namespace cairn::object {

namespace {

constexpr std::string_view kFirst = "first";
constexpr std::string_view kSecond = "second";
constexpr std::string_view kThird = "third";
// The MD5 of none of them, in the form of one.
constexpr std::string_view kWrongEtag = "00000000000000000000000000000000";

absl::Status Ignores(const ObjectStore& store, std::string_view what) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: the store ignores %s of a put, so commits could be lost", store.Describe(), what));
}

// OK when the put was refused for its condition.
absl::Status ExpectRefusal(const ObjectStore& store, const absl::Status& put,
                           std::string_view condition) {
  if (put.ok()) return Ignores(store, condition);
  return absl::IsFailedPrecondition(put) ? absl::OkStatus() : put;
}

// With quotes or without, whichever the store sees through.
absl::Status LearnQuotes(ObjectStore& store, Remote& remote, const std::string& name,
                         const std::string& etag) {
  for (const bool quotes : {true, false}) {
    remote.quotes_etags = quotes;
    CAIRN_RETURN_IF_ERROR(ExpectRefusal(
        store, store.PutIfMatch(name, std::string(kWrongEtag), AsBytes(kSecond)).status(),
        "If-Match"));
    const absl::Status put = store.PutIfMatch(name, etag, AsBytes(kThird)).status();
    if (put.ok() || !absl::IsFailedPrecondition(put)) return put;
  }
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: the store refuses a put with If-Match and the right etag, %s", store.Describe(), etag));
}

absl::Status Probe(ObjectStore& store, Remote& remote, const std::string& name) {
  CAIRN_ASSIGN_OR_RETURN(const ObjectInfo made, store.PutIfAbsent(name, AsBytes(kFirst)));
  CAIRN_RETURN_IF_ERROR(
      ExpectRefusal(store, store.PutIfAbsent(name, AsBytes(kSecond)).status(), "If-None-Match"));
  return LearnQuotes(store, remote, name, made.etag);
}

}  // namespace

absl::Status ProbeConditions(ObjectStore& store, Remote& remote, const std::string& scratch_name) {
  // Others may probe at the same time.
  std::random_device random;
  const std::string name = absl::StrFormat("%s-%08x%08x", scratch_name, random(), random());
  const absl::Status status = Probe(store, remote, name);
  const absl::Status removed = store.Delete({&name, 1});
  if (absl::IsUnimplemented(status)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("the store has no conditions of puts: %s", status.message()));
  }
  return status.ok() ? removed : status;
}

}  // namespace cairn::object

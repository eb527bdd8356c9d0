#include "engine/object/s3/store/condition_check.h"

#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "engine/base/await.h"
#include "engine/base/status.h"
#include "engine/object/s3/signing/digest.h"

namespace cairn::object {

namespace {

constexpr std::string_view kFirst = "first";
constexpr std::string_view kSecond = "second";
constexpr std::string_view kThird = "third";
// This is not the MD5 of any of them, but has the form of one.
constexpr std::string_view kWrongEtag = "00000000000000000000000000000000";

absl::Status Ignores(const ObjectStore& store, std::string_view what) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: the store ignores %s of a put, so commits could be lost", store.Describe(), what));
}

// The answers to three puts to one object, of which only the last one may be done.
struct Answers {
  absl::Status absent;
  absl::Status wrong_etag;
  absl::Status right_etag;
};

absl::StatusOr<Answers> Ask(ObjectStore& store, const std::string& name) {
  using Made = absl::StatusOr<ObjectInfo>;
  CAIRN_ASSIGN_OR_RETURN(const ObjectInfo made, store.PutIfAbsent(name, AsBytes(kFirst)));
  auto absent = Launch<Made>(
      [&](auto done) { store.StartPutIfAbsent(name, AsBytes(kSecond), std::move(done)); });
  const auto put = [&](std::string_view etag, std::string_view content) {
    return Launch<Made>([&](auto done) {
      store.StartPutIfMatch(name, std::string(etag), AsBytes(content), std::move(done));
    });
  };
  auto wrong_etag = put(kWrongEtag, kSecond);
  auto right_etag = put(made.etag, kThird);
  return Answers{.absent = absent.get().status(),
                 .wrong_etag = wrong_etag.get().status(),
                 .right_etag = right_etag.get().status()};
}

absl::Status Judge(const ObjectStore& store, const Answers& answers) {
  for (const absl::Status& status : {answers.absent, answers.wrong_etag, answers.right_etag}) {
    if (!status.ok() && !absl::IsFailedPrecondition(status)) return status;
  }
  if (answers.absent.ok()) return Ignores(store, "If-None-Match");
  if (answers.wrong_etag.ok()) return Ignores(store, "If-Match");
  if (answers.right_etag.ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: the store refuses a put with If-Match and the right etag", store.Describe()));
}

}  // namespace

absl::Status ProbeConditions(ObjectStore& store, Remote& remote, const std::string& scratch_name) {
  // Random names are used, because others may probe at the same time.
  std::random_device random;
  const std::string base = absl::StrFormat("%s-%08x%08x", scratch_name, random(), random());
  std::vector<std::string> names;
  absl::Status status;
  // The standard asks for quotes, but more stores take etags without them, so both are tried.
  for (const bool quotes : {false, true}) {
    remote.quotes_etags = quotes;
    names.push_back(base + (quotes ? ".quoted" : ".bare"));
    const absl::StatusOr<Answers> answers = Ask(store, names.back());
    status = answers.ok() ? Judge(store, *answers) : answers.status();
    const bool is_etags_fault =
        answers.ok() && absl::IsFailedPrecondition(status) && !answers->absent.ok();
    if (!is_etags_fault) break;
  }
  const absl::Status removed = store.Delete(names);
  if (absl::IsUnimplemented(status)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("the store has no conditions of puts: %s", status.message()));
  }
  return status.ok() ? removed : status;
}

}  // namespace cairn::object

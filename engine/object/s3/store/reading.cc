#include "engine/object/s3/store/reading.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include "engine/base/status.h"
#include "engine/object/s3/http/s3_error.h"

namespace cairn::object {

namespace {

constexpr int kPartial = 206;
constexpr int kNoSuchRange = 416;

// The state of a get.
struct Reading {
  std::shared_ptr<Remote> remote;
  std::string title;
  std::string name;
  ObjectRange range;
  std::optional<std::string> if_match;
  ObjectStore::GetDone done;
};

// Weak etags match nothing, and etags made of times are our own, so neither is sent.
std::map<std::string, std::string> MatchHeader(const std::optional<std::string>& etag) {
  if (!etag.has_value() || etag->empty() || etag->starts_with("W/") ||
      etag->starts_with("modified-")) {
    return {};
  }
  return {{"if-match", absl::StrCat("\"", *etag, "\"")}};
}

absl::Status CheckEtag(const std::string& title, const std::optional<std::string>& wanted,
                       const ObjectInfo& object) {
  if (!wanted.has_value() || *wanted == object.etag) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: the object has changed: etag %s instead of %s", title, object.etag, *wanted));
}

bool IsWhole(const ObjectRange& range, int64_t size) {
  return range.offset >= 0 ? range.offset == 0 && range.size >= size : -range.offset >= size;
}

// Returns the bytes that a range asks for, of an object of that size.
ContentRange Expected(const ObjectRange& range, int64_t size) {
  const int64_t begin =
      range.offset < 0 ? std::max<int64_t>(size + range.offset, 0) : std::min(range.offset, size);
  return {.begin = begin, .end = begin + std::min(range.size, size - begin), .size = size};
}

// Something between here and the store may cut an answer short, and the answer does not always show
// it.
absl::Status CheckPart(const ObjectRange& range, const HttpAnswer& answer) {
  if (answer.status != kPartial) return absl::OkStatus();
  const std::optional<ContentRange> part = ParseContentRange(answer.content_range);
  if (!part.has_value()) {
    return absl::DataLossError("Content-Range says \"" + answer.content_range + "\"");
  }
  const ContentRange expected = Expected(range, part->size);
  if (part->begin != expected.begin || part->end != expected.end || answer.too_long ||
      std::ssize(answer.body) != part->end - part->begin) {
    return absl::DataLossError(absl::StrFormat("%d bytes of %s, expected those from %d to %d",
                                               answer.body.size(), answer.content_range,
                                               expected.begin, expected.end));
  }
  return absl::OkStatus();
}

// Without a size, an answer that was cut short would pass for a complete one.
absl::Status NoSize(const std::string& title) {
  return absl::UnimplementedError(title + ": the server does not say how long the object is");
}

absl::StatusOr<ObjectPart> TakePart(const Reading& reading, HttpAnswer answer) {
  if (!answer.IsGood()) return RefusalOf(reading.title, answer);
  ObjectPart part{.object = DescribeObject(reading.name, answer), .bytes = {}};
  CAIRN_RETURN_IF_ERROR(CheckEtag(reading.title, reading.if_match, part.object));
  if (answer.status == kPartial) {
    part.object.size = ParseContentRange(answer.content_range)->size;
  } else {
    part.object.size = std::ssize(answer.body);
    if (answer.content_length.empty()) return NoSize(reading.title);
    if (answer.too_long || !IsWhole(reading.range, part.object.size)) {
      return absl::UnimplementedError(reading.title + ": the server ignores ranges");
    }
  }
  reading.remote->bytes_read += std::ssize(answer.body);
  part.bytes = std::move(answer.body);
  return part;
}

// Finishes a get of a range in which the object has no bytes.
void FinishEmpty(const std::shared_ptr<Reading>& reading, const CallHistory& history) {
  StartHead(
      reading->remote, reading->name, reading->if_match,
      [reading](absl::StatusOr<ObjectInfo> object) {
        if (!object.ok()) {
          reading->done(object.status());
        } else {
          reading->done(ObjectPart{.object = *std::move(object), .bytes = {}});
        }
      },
      history);
}

void Finish(const std::shared_ptr<Reading>& reading, const CallHistory& history,
            absl::StatusOr<HttpAnswer> answer) {
  if (!answer.ok()) {
    reading->done(answer.status());
  } else if (answer->status == kNoSuchRange) {
    FinishEmpty(reading, history);
  } else {
    reading->done(TakePart(*reading, *std::move(answer)));
  }
}

absl::StatusOr<ObjectInfo> TakeInfo(const std::string& title, const std::string& name,
                                    const std::optional<std::string>& if_match,
                                    absl::StatusOr<HttpAnswer> answer) {
  if (!answer.ok()) return answer.status();
  ObjectInfo object = DescribeObject(name, *answer);
  // An object without bytes has no range of them.
  if (answer->status == kNoSuchRange && answer->content_range == "bytes */0") return object;
  if (!answer->IsGood()) return RefusalOf(title, *answer);
  if (answer->status == kPartial) {
    const std::optional<ContentRange> part = ParseContentRange(answer->content_range);
    if (!part.has_value()) return NoSize(title);
    object.size = part->size;
  } else if (!absl::SimpleAtoi(answer->content_length, &object.size)) {
    return NoSize(title);
  }
  CAIRN_RETURN_IF_ERROR(CheckEtag(title, if_match, object));
  return object;
}

}  // namespace

absl::StatusOr<std::optional<std::string>> RangeHeader(ObjectRange range) {
  if (range.size < 0 || (range.offset < 0 && range.size < -(range.offset + 1) + 1)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("range of %d bytes from %d on", range.size, range.offset));
  }
  if (range.size == 0) return std::nullopt;
  if (range.offset < 0) return absl::StrCat("bytes=", range.offset);
  if (range.size > INT64_MAX - range.offset || range.size == INT64_MAX) {
    return range.offset == 0 ? std::string() : absl::StrCat("bytes=", range.offset, "-");
  }
  return absl::StrCat("bytes=", range.offset, "-", range.offset + range.size - 1);
}

std::optional<ContentRange> ParseContentRange(const std::string& text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  const std::vector<std::string> parts =
      absl::StrSplit(text.substr(kUnit.size()), absl::ByAnyChar("-/"));
  ContentRange range;
  int64_t last = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &range.begin) ||
      !absl::SimpleAtoi(parts[1], &last) || !absl::SimpleAtoi(parts[2], &range.size) ||
      range.begin < 0 || last < range.begin || last >= range.size) {
    return std::nullopt;
  }
  range.end = last + 1;
  return range;
}

void StartGet(const std::shared_ptr<Remote>& remote, std::string name, ObjectRange range,
              std::optional<std::string> if_match, ObjectStore::GetDone done, CallHistory history) {
  const absl::StatusOr<std::optional<std::string>> header = RangeHeader(range);
  const absl::Status valid = header.ok() ? CheckName(name) : header.status();
  if (!valid.ok()) {
    done(valid);
    return;
  }
  RemoteRequest request{.verb = Verb::kGet, .method = "GET", .name = name};
  const auto reading = std::make_shared<Reading>(
      Reading{remote, remote->Title(request), std::move(name), range, if_match, std::move(done)});
  if (!header->has_value()) {
    FinishEmpty(reading, history);
    return;
  }
  request.headers = MatchHeader(if_match);
  if (!(*header)->empty()) request.headers["range"] = **header;
  request.most_bytes = range.offset < 0 ? -range.offset : range.size;
  remote->Start(
      std::move(request), [range](const HttpAnswer& answer) { return CheckPart(range, answer); },
      [reading](const CallHistory& after, absl::StatusOr<HttpAnswer> answer) {
        Finish(reading, after, std::move(answer));
      },
      history);
}

void StartHead(const std::shared_ptr<Remote>& remote, std::string name,
               std::optional<std::string> if_match,
               std::function<void(absl::StatusOr<ObjectInfo>)> done, CallHistory history) {
  if (absl::Status valid = CheckName(name); !valid.ok()) {
    done(valid);
    return;
  }
  RemoteRequest request{
      .verb = Verb::kHead, .method = "HEAD", .name = name, .headers = MatchHeader(if_match)};
  if (remote->only_gets()) {
    request.method = "GET";
    request.headers["range"] = "bytes=0-0";
    request.most_bytes = 1;
  }
  const std::string title = remote->Title(request);
  remote->Start(
      std::move(request), {},
      [=](const CallHistory&, absl::StatusOr<HttpAnswer> answer) {
        done(TakeInfo(title, name, if_match, std::move(answer)));
      },
      history);
}

}  // namespace cairn::object

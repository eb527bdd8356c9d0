#include "engine/log/state/log_core.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/deadline.h"
#include "engine/base/status.h"
#include "engine/log/state/edit_layer.h"
#include "engine/log/state/field_layer.h"
#include "engine/log/state/log_layer.h"

namespace cairn::log {

absl::StatusOr<std::shared_ptr<LogCore>> LogCore::Open(const std::string& path,
                                                       const OpenOptions& options,
                                                       std::string_view time_field) {
  FileSystem& files = *(options.file_system == nullptr ? PosixFileSystem() : options.file_system);
  CAIRN_ASSIGN_OR_RETURN(std::string absolute, files.Absolute(path));
  std::shared_ptr<LogCore> core(new LogCore(std::move(absolute), options, time_field));
  const MutexLock lock(core->mutex_);
  CAIRN_RETURN_IF_ERROR(core->OpenParts());
  return core;
}

FileSystem& LogCore::files() const {
  return *(options_.file_system == nullptr ? PosixFileSystem() : options_.file_system);
}

absl::Status LogCore::OpenParts() {
  CAIRN_ASSIGN_OR_RETURN(is_directory_, IsDirectory(files(), path_));
  std::vector<LogFile> found = {{.number = 0, .path = path_}};
  std::vector<LogFile> before;
  while (true) {
    if (is_directory_) {
      CAIRN_ASSIGN_OR_RETURN(found, ListFiles(files(), path_));
    }
    absl::StatusOr<std::vector<Part>> parts = OpenAll(found);
    if (parts.ok()) {
      parts_ = *std::move(parts);
      settled_ = -1;
      older_files_ = parts_.back().segment->edits().older_files;
      break;
    }
    // A list that is equal twice was not made while files came and went.
    if (found == before || !is_directory_) return parts.status();
    before = found;
  }
  if (is_directory_) CAIRN_RETURN_IF_ERROR(RefreshLast());
  CAIRN_RETURN_IF_ERROR(FollowRotation());
  return MakeState();
}

absl::StatusOr<std::vector<LogCore::Part>> LogCore::OpenAll(
    const std::vector<LogFile>& found) const {
  CAIRN_RETURN_IF_ERROR(CheckConsecutive(path_, found));
  std::vector<Part> parts;
  // The newest file comes first, since it tells of changes of the others that are made meanwhile.
  for (auto file = found.rbegin(); file != found.rend(); ++file) {
    CAIRN_ASSIGN_OR_RETURN(Part part, OpenPart(*file));
    parts.push_back(std::move(part));
  }
  std::ranges::reverse(parts);
  return parts;
}

absl::StatusOr<LogCore::Part> LogCore::OpenPart(const LogFile& file) const {
  CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(file.path, options_));
  Part part = {.file = file, .frame = std::make_shared<Frame>(std::move(frame)), .segment = {}};
  absl::StatusOr<SegmentPtr> segment = Segment::Load(part.frame->snapshot(), time_field_, nullptr);
  if (!segment.ok()) return AtPath(file.path, segment.status());
  part.segment = *std::move(segment);
  return part;
}

absl::Status LogCore::RefreshPart(Part& part) {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot newest, part.frame->Refresh());
  if (newest == part.segment->snapshot()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(part.segment, Segment::Load(newest, time_field_, part.segment.get()));
  news_ = true;
  return absl::OkStatus();
}

absl::Status LogCore::RefreshLast() {
  CAIRN_RETURN_IF_ERROR(RefreshPart(parts_.back()));
  bool looks = parts_.back().segment->edits().older_files % 2 != 0;
  // The newest file is read after older ones: it had the changes that these show before they did.
  // It may say then that they have changed again.
  while (looks || parts_.back().segment->edits().older_files != older_files_) {
    looks = false;
    const int64_t older_files = parts_.back().segment->edits().older_files;
    for (Part& part : parts_) {
      if (IsRemoved(part)) continue;
      const absl::Status refreshed = RefreshPart(part);
      if (absl::IsNotFound(refreshed)) continue;  // it was removed just now
      CAIRN_RETURN_IF_ERROR(refreshed);
    }
    older_files_ = older_files;
  }
  return absl::OkStatus();
}

// A file that a new one follows may have got records after it was read, but none since the new one
// was there.
absl::Status LogCore::FollowRotation() {
  while (is_directory_) {
    absl::StatusOr<Part> next = OpenPart(FileOf(path_, parts_.back().file.number + 1));
    if (absl::IsNotFound(next.status())) break;
    CAIRN_RETURN_IF_ERROR(next.status());
    CAIRN_RETURN_IF_ERROR(RefreshLast());
    const int64_t end = parts_.back().segment->end_record();
    if (next->segment->first_record() != end) {
      return AtPath(next->file.path,
                    DataLoss("begins with record %d, the file before it ends with %d",
                             next->segment->first_record(), end));
    }
    parts_.push_back(*std::move(next));
    news_ = true;
    CAIRN_RETURN_IF_ERROR(RefreshLast());
  }
  return absl::OkStatus();
}

absl::Status LogCore::RefreshEnded() {
  const int64_t newest = parts_.back().file.number;
  for (Part& part : parts_) {
    if (part.file.number <= settled_ || part.file.number == newest) continue;
    const absl::Status refreshed = RefreshPart(part);
    if (!absl::IsNotFound(refreshed)) CAIRN_RETURN_IF_ERROR(refreshed);
  }
  settled_ = newest - 2;
  return absl::OkStatus();
}

bool LogCore::IsRemoved(const Part& part) const {
  return absl::IsNotFound(files().Identity(part.file.path).status());
}

void LogCore::ForgetRemoved() {
  while (parts_.size() > 1 && IsRemoved(parts_.front())) {
    parts_.erase(parts_.begin());
    news_ = true;
  }
}

absl::Status LogCore::MakeState() {
  const SchemaPtr& seen = parts_.back().segment->fields().stored();
  std::vector<SegmentPtr> segments;
  for (Part& part : parts_) {
    if (part.segment->schema() != *seen) {
      absl::StatusOr<SegmentPtr> segment =
          Segment::Load(part.segment->snapshot(), time_field_, part.segment.get(), seen);
      if (!segment.ok()) return AtPath(part.file.path, segment.status());
      part.segment = *std::move(segment);
    }
    if (part.segment->keys().ntexts() > parts_.back().segment->keys().ntexts()) {
      return AtPath(part.file.path, DataLoss("it has keys that the newest file lacks"));
    }
    segments.push_back(part.segment);
  }
  state_ = std::make_shared<const LogState>(std::move(segments));
  news_ = false;
  return absl::OkStatus();
}

LogStatePtr LogCore::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

LogCore::Part LogCore::newest() const {
  const MutexLock lock(mutex_);
  return parts_.back();
}

absl::StatusOr<std::optional<LogCore::Part>> LogCore::RefreshPrevious() {
  const MutexLock lock(mutex_);
  if (parts_.size() < 2 || IsRemoved(parts_[parts_.size() - 2])) return std::nullopt;
  CAIRN_RETURN_IF_ERROR(RefreshPart(parts_[parts_.size() - 2]));
  return parts_[parts_.size() - 2];
}

absl::StatusOr<LogStatePtr> LogCore::Reopen() {
  const MutexLock lock(mutex_);
  CAIRN_RETURN_IF_ERROR(OpenParts());
  return state_;
}

absl::StatusOr<LogStatePtr> LogCore::Refresh() {
  const MutexLock lock(mutex_);
  if (is_directory_ && IsRemoved(parts_.back())) {
    CAIRN_RETURN_IF_ERROR(OpenParts());
    return state_;
  }
  CAIRN_RETURN_IF_ERROR(RefreshLast());
  if (is_directory_) {
    CAIRN_RETURN_IF_ERROR(FollowRotation());
    ForgetRemoved();
    CAIRN_RETURN_IF_ERROR(RefreshEnded());
  }
  if (news_) CAIRN_RETURN_IF_ERROR(MakeState());
  return state_;
}

absl::StatusOr<LogStatePtr> LogCore::WaitForCommit(const LogStatePtr& seen,
                                                   std::chrono::milliseconds timeout) {
  // A file tells that another one follows it, unless its writer died before that.
  constexpr std::chrono::milliseconds kRotationPause(1000);
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    CAIRN_ASSIGN_OR_RETURN(LogStatePtr now, Refresh());
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    if (now != seen || waited >= timeout) return now;
    const auto left = timeout - waited;
    const Part part = newest();
    CAIRN_RETURN_IF_ERROR(part.frame
                              ->WaitForCommit(part.segment->snapshot(),
                                              is_directory_ ? std::min(left, kRotationPause) : left)
                              .status());
  }
}

namespace {

// A few records of a chunk are read by blocks of this size, which stay in a cache while a field is
// taken out of them.
constexpr int64_t kBlockBytes = 160 << 10;

// Returns the shape of the array. Chunks have complete blocks, so no record lies outside of them.
ArrayInfo ArrayOf(const Schema& schema, int64_t chunksize) {
  const int64_t record = schema.record_size();
  const int64_t records = std::max<int64_t>(1, chunksize / record);
  const int64_t blocks = CeilDiv(records, std::max<int64_t>(1, kBlockBytes / record));
  const int64_t in_block = records / blocks;
  return {.shape = {0},
          .chunkshape = {static_cast<int32_t>(in_block * blocks)},
          .blockshape = {static_cast<int32_t>(in_block)},
          .dtype = schema.ToDtype()};
}

}  // namespace

absl::StatusOr<Writer> BeginLogFrame(const std::string& path, const LogCreateOptions& options,
                                     int64_t first_record, const EditLayer& edits,
                                     std::vector<Metalayer> metalayers) {
  if (options.schema.fields().empty()) return InvalidArgument("log: a schema without fields");
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: chunksize", options.chunksize));
  const Field* time = nullptr;
  for (const Field& field : options.schema.fields()) {
    const bool chosen = options.time_field.empty() ? field.type == FieldType::kTimestamp
                                                   : field.name == options.time_field;
    if (chosen && time == nullptr) time = &field;
  }
  if (time == nullptr && !options.time_field.empty()) {
    return NotFound("log: no field '%s'", options.time_field);
  }
  if (time != nullptr && !CanBeTime(*time)) {
    return InvalidArgument("log: field '%s' cannot be the time: expected a timestamp or an integer",
                           time->name);
  }
  CAIRN_ASSIGN_OR_RETURN(const std::string time_name, TimeNameOf(options.schema, time));
  CreateOptions create = {
      .compression = {.codec = options.codec,
                      .clevel = options.clevel,
                      .typesize = options.schema.record_size(),
                      // Each byte of the record is a stream of its own, so that a field can be read
                      // without the others.
                      .split_mode = SplitMode::kAlways},
      .metalayers = std::move(metalayers),
      .file_system = options.file_system,
  };
  if (CodesNumbers(options.codec)) {
    // The codec has columns of its own.
    create.compression.split_mode = CompressionOptions().split_mode;
    create.compression.filters.clear();
  }
  if (options.chunksize > 0) create.chunksize = options.chunksize;
  create.array = ArrayOf(options.schema, *create.chunksize.nbytes());
  const LogLayer layer = {.first_record = first_record,
                          .retention = options.retention,
                          .rotation = options.rotation,
                          .time_field = time_name};
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, create));
  CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(kLogLayer, EncodeLogLayer(layer)));
  std::vector<FieldFact> facts;
  for (const Field& field : options.schema.fields()) {
    if (field.type == FieldType::kText) facts.push_back({.name = field.name, .is_text = true});
  }
  if (!facts.empty()) {
    CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(kFieldLayer, EncodeFieldLayer(facts)));
  }
  if (edits != EditLayer()) {
    CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(kEditLayer, EncodeEditLayer(edits)));
  }
  return writer;
}

absl::Status CreateLogFrame(const std::string& path, const LogCreateOptions& options,
                            int64_t first_record, const EditLayer& edits) {
  CAIRN_ASSIGN_OR_RETURN(Writer writer, BeginLogFrame(path, options, first_record, edits, {}));
  return writer.Close();
}

LogCreateOptions OptionsLike(const Segment& segment) {
  const FrameInfo& info = segment.snapshot().info();
  return {.schema = segment.schema(),
          .time_field = segment.layer().time_field,
          .codec = info.codec,
          .clevel = info.clevel,
          .chunksize = info.chunksize.value_or(0),
          .retention = segment.layer().retention,
          .rotation = segment.layer().rotation};
}

}  // namespace cairn::log

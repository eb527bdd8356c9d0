#include "cairn/log.h"

#include <chrono>
#include <memory>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "cairn/log_writer.h"
#include "cairn/time_text.h"
#include "tools/python/binding/calls.h"
#include "tools/python/binding/log_handles.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

namespace {

using namespace nb::literals;

LogHandle OpenLog(const std::string& path, const std::string& time, bool durable_only, bool mmap,
                  int verify, const LimitValues& limits, int threads, nb::handle files) {
  Context context = MakeContext(threads, files);
  const OpenOptions options = MakeOpenOptions(context, durable_only, mmap, verify, limits);
  Log log = Check(WithoutGil(context.remote, [&] { return Log::Open(path, options, time); }));
  return {std::move(context), std::move(log)};
}

void Create(const std::string& path, const std::string& dtype, int32_t record_size,
            const std::vector<std::string>& texts, const std::string& time, int codec, int clevel,
            int32_t chunksize, const RetentionLimits& retention, const RotationLimits& rotation,
            nb::handle files) {
  LogCreateOptions options;
  options.schema = Check(Check(Schema::FromDtype(dtype, record_size)).WithTexts(texts));
  options.time_field = time;
  options.codec = static_cast<Codec>(codec);
  options.clevel = clevel;
  options.chunksize = chunksize;
  options.retention = ToRetention(retention);
  options.rotation = ToRotation(rotation);
  RemoteFiles* const remote = ToRemote(files);
  options.file_system = remote == nullptr ? nullptr : remote->files;
  Check(WithoutGil(remote, [&] { return Log::Create(path, options).status(); }));
}

// Waits for a commit. Without a timeout looks for one.
LogSnapshotHandle WaitForCommit(LogHandle& self, const LogSnapshotHandle& seen, int64_t timeout) {
  return {self.context, Check(WaitWithoutGil(
                            self.context.remote, timeout,
                            [&](std::chrono::milliseconds part) {
                              return self.log.WaitForCommit(seen.snapshot, part);
                            },
                            [&](const auto& now) { return !now.ok() || *now != seen.snapshot; }))};
}

// Returns the log's compression, with these two options changed if they are given.
CompressionOptions CompressionLike(const Log& log, std::optional<int> codec,
                                   std::optional<int> clevel) {
  const FrameInfo info = log.snapshot().frames().back().info();
  CompressionOptions compression;
  compression.codec = codec.has_value() ? static_cast<Codec>(*codec) : info.codec;
  compression.codec_meta = codec.has_value() ? uint8_t{0} : info.codec_meta;
  compression.clevel = clevel.value_or(info.clevel);
  compression.filters = info.filters;
  compression.split_mode = info.split_mode;
  // As in new logs: codecs of numbers code the fields apart, and the other codecs each byte of
  // them.
  if (CodesNumbers(compression.codec)) {
    compression.filters.clear();
    compression.split_mode = SplitMode::kForwardCompat;
  } else if (CodesNumbers(info.codec)) {
    compression.filters = CompressionOptions().filters;
    compression.split_mode = SplitMode::kAlways;
  }
  return compression;
}

LogWriterHandle OpenLogWriter(LogHandle& self, int64_t commit_records, int64_t commit_interval,
                              bool durable, int64_t reorder_window, int64_t max_buffered_bytes,
                              int64_t wait, std::shared_ptr<CommitTimer> timer,
                              std::optional<int> codec, std::optional<int> clevel) {
  LogWriterOptions options;
  options.commit_records = commit_records;
  options.commit_interval = std::chrono::milliseconds(commit_interval);
  options.durability = durable ? Durability::kMachine : Durability::kProcess;
  options.reorder_window = reorder_window;
  options.max_buffered_bytes = max_buffered_bytes;
  options.timer = timer.get();
  if (codec.has_value() || clevel.has_value()) {
    options.compression = CompressionLike(self.log, codec, clevel);
  }
  LogWriter writer = Check(WaitWithoutGil(
      self.context.remote, wait,
      [&](std::chrono::milliseconds part) {
        options.wait = part;
        return self.log.OpenWriter(options);
      },
      [](const auto& opened) { return !absl::IsUnavailable(opened.status()); }));
  return {self.context, std::move(timer), Fragile<LogWriter>(std::move(writer))};
}

// Deletes records, and returns how many that were.
int64_t Delete(LogHandle& self, int64_t begin, int64_t end, const std::vector<std::string>& filters,
               int64_t wait) {
  const LogSnapshot before =
      Check(WithoutGil(self.context.remote, [&] { return self.log.Refresh(); }));
  // This end makes all of the calls below leave the same request.
  const LogSelection which = {.times = {.begin = begin, .end = end},
                              .records = {.begin = 0, .end = before.end_record()},
                              .filters = filters};
  Check(WaitWithoutGil(
      self.context.remote, wait,
      [&](std::chrono::milliseconds part) { return self.log.Delete(which, part); },
      [](const auto& deleted) { return !absl::IsUnavailable(deleted.status()); }));
  // Another of these calls may have seen what the first left.
  int64_t count = 0;
  for (const RecordRange& range : self.log.snapshot().ChangesSince(before).deleted) {
    count += range.end - range.begin;
  }
  return count;
}

// Adds the only field of a type.
void AddField(LogHandle& self, const std::string& dtype, int32_t size,
              const std::vector<std::string>& texts, int64_t wait) {
  const Schema added = Check(Check(Schema::FromDtype(dtype, size)).WithTexts(texts));
  const absl::Status status = WaitWithoutGil(
      self.context.remote, wait,
      [&](std::chrono::milliseconds part) {
        return self.log.AddField(added.fields().front(), part);
      },
      [](const absl::Status& done) { return !absl::IsUnavailable(done); });
  Check(status);
}

}  // namespace

void BindLog(nb::module_& module) {
  nb::class_<CommitTimer>(module, "CommitTimer",
                          "Makes the commits of many writers of logs when they are due, in one "
                          "thread: pass it to each `Log.writer(timer=...)`.")
      .def(nb::init<>());
  nb::class_<LogHandle>(module, "Log", "A log: a frame, or a directory of frames, of records.")
      .def("snapshot",
           [](const LogHandle& self) {
             return LogSnapshotHandle{self.context, self.log.snapshot()};
           })
      .def(
          "request_limits",
          [](LogHandle& self, const RetentionLimits& retention, const RotationLimits& rotation) {
            Check(WithoutGil([&] {
              return self.log.RequestLimits(ToRetention(retention), ToRotation(rotation));
            }));
          },
          "retention"_a, "rotation"_a)
      .def("delete", &Delete, "begin"_a, "end"_a, "filters"_a, "wait"_a)
      .def("add_field", &AddField, "dtype"_a, "size"_a, "texts"_a, "wait"_a)
      .def("wait_for_commit", &WaitForCommit, "seen"_a, "timeout"_a)
      .def("open_writer", &OpenLogWriter, "commit_records"_a, "commit_interval"_a, "durable"_a,
           "reorder_window"_a, "max_buffered_bytes"_a, "wait"_a, "timer"_a.none(), "codec"_a.none(),
           "clevel"_a.none());
  module.def("open_log", &OpenLog, "path"_a, "time"_a, "durable_only"_a, "mmap"_a, "verify"_a,
             "limits"_a, "threads"_a, "files"_a.none());
  module.def(
      "parse_time",
      [](const std::string& text, int unit, bool up, const std::string& time_zone,
         std::optional<int64_t> now) {
        return Check(ParseTime(text, static_cast<TimeUnit>(unit),
                               {.rounding = up ? TimeRounding::kUp : TimeRounding::kDown,
                                .time_zone = time_zone,
                                .now = now}));
      },
      "text"_a, "unit"_a, "up"_a, "time_zone"_a, "now"_a.none());
  module.def(
      "check_padded_text",
      [](const nb::bytes& text) {
        Check(CheckPaddedText({text.c_str(), text.size()}));
      },
      "text"_a);
  module.def("create_log", &Create, "path"_a, "dtype"_a, "record_size"_a, "texts"_a, "time"_a,
             "codec"_a, "clevel"_a, "chunksize"_a, "retention"_a, "rotation"_a, "files"_a.none());
}

}  // namespace cairn::python

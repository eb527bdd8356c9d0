// Measures the cost of reading one field of records, or each into an array of its own, and of
// reading the records.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/sensor_walk.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

struct FieldsSetting {
  int64_t records = 1'000'000;
  int32_t chunksize = 1 << 20;
  std::vector<int32_t> blocksizes = {0, 80 << 10, 160 << 10, 320 << 10, 640 << 10, 1 << 20};
  bool zstd = false;
  bool unsplit = false;
};

struct Columns {
  explicit Columns(size_t records) : time(records) {
    for (std::vector<double>& column : values) column.resize(records);
  }
  std::vector<int64_t> time;
  std::array<std::vector<double>, 4> values;
};

absl::Status CompareFields(Session& session, const FieldsSetting& setting, int32_t blocksize,
                           const std::vector<Reading>& walk) {
  const std::string path = session.PathFor("fields");
  CreateOptions options;
  options.compression = {.codec = setting.zstd ? Codec::kZstd : Codec::kLz4,
                         .typesize = sizeof(Reading),
                         .blocksize = blocksize,
                         .split_mode = setting.unsplit ? SplitMode::kNever : SplitMode::kAlways};
  options.chunksize =
      setting.chunksize / options.compression.typesize * options.compression.typesize;
  options.overwrite = true;
  ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, options));
  RETURN_IF_ERROR(writer.Append(walk));
  RETURN_IF_ERROR(writer.Close());
  ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path));
  RemoveStore(path);
  const Snapshot snapshot = frame.snapshot();
  const auto n = static_cast<int64_t>(walk.size());

  std::vector<Reading> records(walk.size());
  Columns columns(walk.size());
  const FieldSpan time = {.offset = offsetof(Reading, time), .size = 8, .dst = columns.time};
  std::vector<FieldSpan> all = {time};
  for (size_t i = 0; i < columns.values.size(); ++i) {
    const size_t offset = offsetof(Reading, values) + i * sizeof(double);
    all.push_back({.offset = static_cast<int32_t>(offset), .size = 8, .dst = columns.values[i]});
  }
  ASSIGN_OR_RETURN(const Chunk chunk, snapshot.GetChunk(0));
  ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(chunk.bytes()));
  Contest contest({.text = absl::StrFormat(
                       "records of 40 bytes, their size a second, chunks of %d, blocks of %d",
                       *options.chunksize.nbytes(), info.blocksize),
                   .ops = n,
                   .op_bytes = sizeof(Reading)});
  contest.Add("ReadItems", [&] { return snapshot.ReadItems(0, records); });
  contest.Add("ReadFields, all five", [&] { return snapshot.ReadFields(0, n, all); });
  contest.Add("ReadFields, an int64", [&] { return snapshot.ReadFields(0, n, {&time, 1}); });
  contest.Add("ReadFields, a double", [&] { return snapshot.ReadFields(0, n, {&all[3], 1}); });
  ASSIGN_OR_RETURN(Result result, contest.Run(session.rounds));
  if (columns.time.back() != walk.back().time ||
      columns.values[2].back() != walk.back().values[2]) {
    return absl::InternalError("the fields are not those of the records");
  }
  session.report.Note(absl::StrFormat(
      "blocks of %d: %.2f bytes a record; %.2f GB/s of the int64, %.2f GB/s of the double",
      info.blocksize, static_cast<double>(snapshot.info().frame_size) / static_cast<double>(n),
      8e-9 / result.scores[2].median, 8e-9 / result.scores[3].median));
  session.report.Add(std::move(result));
  return absl::OkStatus();
}

}  // namespace

void AddFields(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand(
      "fields", "Fields of records, beside the records, for several block sizes");
  const auto setting = std::make_shared<FieldsSetting>();
  command->add_option("--records", setting->records, "Of 40 bytes")
      ->check(CLI::Range(int64_t{10'000}, int64_t{1} << 32))
      ->capture_default_str();
  command->add_option("--chunksize", setting->chunksize, "Of the frame")->capture_default_str();
  command->add_option("--blocksizes", setting->blocksizes, "0: as the library chooses")
      ->capture_default_str();
  command->add_flag("--zstd", setting->zstd, "Instead of LZ4");
  command->add_flag("--unsplit", setting->unsplit, "One stream a block");
  command->callback([setting, &session] {
    session.run = [setting, &session]() -> absl::Status {
      const std::vector<Reading> walk = SensorWalk(setting->records);
      for (const int32_t blocksize : setting->blocksizes) {
        RETURN_IF_ERROR(CompareFields(session, *setting, blocksize, walk));
      }
      return absl::OkStatus();
    };
  });
}

}  // namespace cairn::bench

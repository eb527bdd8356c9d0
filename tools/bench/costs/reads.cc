// Measures reading chunks, items, boxes and fields.

#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/bench/costs/frames.h"
#include "tools/bench/costs/operation.h"
#include "tools/status.h"

namespace cairn::bench {
namespace {

// An opened frame, and memory for the bytes that are read of it.
struct Source {
  Frame frame;
  Snapshot snapshot;
  std::vector<std::byte> room;
};

// Opens a frame without a cache of blocks, because its content depends on chance.
absl::StatusOr<std::shared_ptr<Source>> OpenSource(const std::string& path, size_t room) {
  ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, {.cache_memory = 0}));
  Snapshot snapshot = frame.snapshot();
  return std::make_shared<Source>(
      Source{std::move(frame), std::move(snapshot), std::vector<std::byte>(room)});
}

absl::Status ReadWhole(Source& source) {
  for (int64_t i = 0; i < source.snapshot.info().nchunks; ++i) {
    RETURN_IF_ERROR(source.snapshot.ReadChunk(i, source.room));
  }
  return absl::OkStatus();
}

// Measures reads of whole chunks: the first ones, or later ones.
Operation ReadsOfChunks(DataSet set, int32_t chunk_nbytes, bool first) {
  const int64_t times = chunk_nbytes == 4096 ? 1000 : (8 << 20) / chunk_nbytes;
  const auto prepare = [=](const std::string& folder) -> absl::StatusOr<Steps> {
    const std::string path = folder + "/chunks";
    RETURN_IF_ERROR(MakeFrame(path, set, chunk_nbytes, times + 1));
    ASSIGN_OR_RETURN(const auto source, OpenSource(path, static_cast<size_t>(chunk_nbytes)));
    if (!first) RETURN_IF_ERROR(ReadWhole(*source));
    return Steps{
        [source](int64_t number) { return source->snapshot.ReadChunk(number, source->room); }};
  };
  return {absl::StrFormat("%s read of %d KiB, %s", first ? "first" : "warm", chunk_nbytes >> 10,
                          NameOf(set)),
          times, prepare};
}

constexpr int64_t kRecordsInAll = int64_t{1} << 18;
constexpr int32_t kRecordSize = 32;  // four fields of 8 bytes

// Measures reads of records that were read before. `read` reads some of them.
Operation ReadsOfRecords(const std::string& name, int64_t times, size_t room,
                         absl::Status (*read)(Source&, int64_t number)) {
  return {name, times, [=](const std::string& folder) -> absl::StatusOr<Steps> {
            const std::string path = folder + "/records";
            CreateOptions options;
            options.compression.typesize = kRecordSize;
            options.chunksize = 1 << 18;
            ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, options));
            std::vector<int64_t> numbers(kRecordsInAll * kRecordSize / sizeof(int64_t));
            std::iota(numbers.begin(), numbers.end(), 0);
            RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span(numbers))));
            RETURN_IF_ERROR(writer.Close());
            ASSIGN_OR_RETURN(const auto source, OpenSource(path, size_t{1} << 18));
            RETURN_IF_ERROR(ReadWhole(*source));
            source->room.resize(room);
            return Steps{[=](int64_t number) { return read(*source, number); }};
          }};
}

// Returns a number far from that of the operation before.
int64_t Scattered(int64_t number, int64_t below) { return number * 7919 % below; }

absl::Status ReadRun(Source& source, int64_t number) {
  const auto nitems = static_cast<int64_t>(source.room.size()) / kRecordSize;
  return source.snapshot.ReadItems(Scattered(number, kRecordsInAll - nitems), source.room);
}

absl::Status Gather(Source& source, int64_t number) {
  std::vector<int64_t> records(source.room.size() / kRecordSize);
  for (int64_t& record : records) record = Scattered(++number * 61, kRecordsInAll);
  return source.snapshot.ReadItemsAt(records, source.room);
}

absl::Status ReadOneField(Source& source, int64_t number) {
  const auto nitems = static_cast<int64_t>(source.room.size() / sizeof(int64_t));
  const FieldSpan field = {.offset = 8, .size = 8, .dst = source.room};
  return source.snapshot.ReadFields(Scattered(number, kRecordsInAll - nitems), nitems,
                                    std::span(&field, 1));
}

// Reads an item of a block that the cache keeps.
absl::StatusOr<Steps> ReadCachedItem(const std::string& folder) {
  constexpr int32_t kChunk = 64 << 10;
  const std::string path = folder + "/cached";
  RETURN_IF_ERROR(MakeFrame(path, DataSet::kA, kChunk, 1));
  ASSIGN_OR_RETURN(Frame frame, Frame::Open(path));
  Snapshot snapshot = frame.snapshot();
  const auto source = std::make_shared<Source>(
      Source{std::move(frame), std::move(snapshot), std::vector<std::byte>(8)});
  for (int64_t item = 0; item < kChunk / 8; ++item) {
    RETURN_IF_ERROR(source->snapshot.ReadItems(item, source->room));
  }
  return Steps{[source](int64_t number) {
    return source->snapshot.ReadItems(Scattered(number, kChunk / 8), source->room);
  }};
}

constexpr int64_t kSide = 1024;  // side of an array of doubles

Operation ReadsOfBoxes(const std::string& name, int64_t times, int64_t side) {
  return {name, times, [=](const std::string& folder) -> absl::StatusOr<Steps> {
            const std::string path = folder + "/array";
            CreateOptions options;
            options.compression.typesize = 8;
            options.array = ArrayInfo{.shape = {kSide, kSide},
                                      .chunkshape = {64, 64},
                                      .blockshape = {16, 64},
                                      .dtype = "<f8"};
            ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, options));
            std::vector<double> items(kSide * kSide);
            std::iota(items.begin(), items.end(), 0.0);
            RETURN_IF_ERROR(writer.WriteBox(std::vector<int64_t>{0, 0},
                                            std::vector<int64_t>{kSide, kSide}, items));
            RETURN_IF_ERROR(writer.Close());
            ASSIGN_OR_RETURN(const auto source, OpenSource(path, sizeof(double) * 64 * 64));
            RETURN_IF_ERROR(ReadWhole(*source));
            source->room.resize(static_cast<size_t>(side * side) * sizeof(double));
            const std::vector<int64_t> shape = {side, side};
            return Steps{[=](int64_t number) {
              const std::vector<int64_t> start = {Scattered(number, kSide - side),
                                                  Scattered(number * 31, kSide - side)};
              return source->snapshot.ReadBox(start, shape, source->room);
            }};
          }};
}

}  // namespace

std::vector<Operation> ReadOperations() {
  std::vector<Operation> all;
  for (const DataSet set : {DataSet::kA, DataSet::kB, DataSet::kC}) {
    for (const int32_t nbytes : {4 << 10, 64 << 10, 1 << 20}) {
      for (const bool first : {true, false}) all.push_back(ReadsOfChunks(set, nbytes, first));
    }
  }
  all.push_back(ReadsOfRecords("an item", 500, kRecordSize, ReadRun));
  all.push_back({"an item, cached", 1000, ReadCachedItem});
  all.push_back(ReadsOfRecords("1,000 items", 200, size_t{1000} * kRecordSize, ReadRun));
  all.push_back(ReadsOfRecords("gather of 4 items", 200, size_t{4} * kRecordSize, Gather));
  all.push_back(ReadsOfRecords("gather of 1,000 items", 4, size_t{1000} * kRecordSize, Gather));
  all.push_back(ReadsOfRecords("a field of 1,000 items", 200, 8000, ReadOneField));
  all.push_back(ReadsOfBoxes("box of 1 x 1", 500, 1));
  all.push_back(ReadsOfBoxes("box of 10 x 10", 500, 10));
  all.push_back(ReadsOfBoxes("box of 200 x 200", 20, 200));
  return all;
}

}  // namespace cairn::bench

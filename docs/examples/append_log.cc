// Keeps the readings of a sensor in a log: appends two days of them, finds some by time and value,
// and computes a mean for each day.
//
// Prints:
//   10 readings above 24.5 on day 2
//   day 1: 48 readings, mean 22.88
//   day 2: 48 readings, mean 22.88
#include <bit>
#include <cstdint>
#include <cstdio>

#include "cairn/log.h"
#include "cairn/log_writer.h"

constexpr int64_t kHour = 3600, kDay = 24 * kHour;  // in seconds
constexpr int64_t kStart = 1764547200;              // 2025-12-01T00:00:00Z

// A record as the log stores it: without gaps, little-endian. Big-endian machines must convert it.
static_assert(std::endian::native == std::endian::little);
#pragma pack(push, 1)
struct Reading {
  int64_t time;  // seconds since 1970
  float temp;    // °C
};
#pragma pack(pop)

// Creates a log that keeps the newest 30 days.
absl::StatusOr<cairn::Log> CreateLog() {
  auto schema = cairn::Schema::FromDtype("[('time', '<M8[s]'), ('temp', '<f4')]", sizeof(Reading));
  if (!schema.ok()) return schema.status();
  return cairn::Log::Create("sensor.b2frame",
                            {.schema = *schema, .retention = {.max_age = 30 * kDay}});
}

// Appends a reading for each half hour. The writer commits each of them at once: every reader sees
// it, and it stays if this process is killed. Close also waits for the disk.
absl::Status AppendReadings(cairn::Log& log) {
  auto writer = log.OpenWriter({.commit_records = 1});
  if (!writer.ok()) return writer.status();
  for (int64_t time = kStart; time < kStart + 2 * kDay; time += kHour / 2) {
    const auto hour = static_cast<float>(time % kDay / kHour);
    const Reading reading[] = {{time, 20 + hour / 4}};
    if (auto status = writer->Append(reading); !status.ok()) return status;
  }
  return writer->Close();
}

absl::Status PrintFindings(const cairn::LogSnapshot& log) {
  // A query gives what it finds in batches, and reads only the chunks that can hold such values.
  auto cursor = log.Query({.times = {.begin = kStart + kDay}, .filters = {"temp > 24.5"}});
  if (!cursor.ok()) return cursor.status();
  int64_t warm = 0;
  for (auto batch = cursor->Next();; batch = cursor->Next()) {
    if (!batch.ok()) return batch.status();
    if (batch->size() == 0) break;
    warm += batch->size();
  }
  std::printf("%d readings above 24.5 on day 2\n", static_cast<int>(warm));

  auto days = log.Aggregate({.bucket = kDay, .fields = {"temp"}});
  if (!days.ok()) return days.status();
  for (const cairn::LogBucket& day : *days) {
    std::printf("day %d: %d readings, mean %.2f\n",
                static_cast<int>((day.begin - kStart) / kDay) + 1, static_cast<int>(day.records),
                day.fields[0].mean());
  }
  return absl::OkStatus();
}

int main() {
  auto log = CreateLog();
  absl::Status status = log.status();
  if (status.ok()) status = AppendReadings(*log);
  if (status.ok()) {
    auto now = log->Refresh();
    status = now.ok() ? PrintFindings(*now) : now.status();
  }
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

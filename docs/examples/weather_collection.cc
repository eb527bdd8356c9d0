// Keeps two arrays that change together: each day appends to both in one commit, so a reader never
// sees a day in one of them alone. Close leaves a directory that python-blosc2 opens as a
// TreeStore.
//
// Prints:
//   commit 8: /day/rain 7 days, /day/temp 7 days
//   day 6: 21.0 degrees, 3.0 mm
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cairn/collection.h"

// Describes an array of days, each with 180 values.
cairn::CreateOptions Days() {
  cairn::CreateOptions options;
  options.compression = {.codec = cairn::Codec::kZstd, .typesize = sizeof(float)};
  options.array = cairn::ArrayInfo{.shape = {0, 180}, .chunkshape = {10, 180}, .dtype = "<f4"};
  return options;
}

absl::Status AppendDay(cairn::CollectionWriter& writer, float temp, float rain) {
  auto temps = writer.Edit("/day/temp");
  if (!temps.ok()) return temps.status();
  auto rains = writer.Edit("/day/rain");
  if (!rains.ok()) return rains.status();
  if (auto status = temps->AppendSlices(0, std::vector<float>(180, temp)); !status.ok()) {
    return status;
  }
  if (auto status = rains->AppendSlices(0, std::vector<float>(180, rain)); !status.ok()) {
    return status;
  }
  return writer.Commit().status();
}

absl::Status Write(cairn::Collection& weather) {
  auto writer = weather.OpenWriter();
  if (!writer.ok()) return writer.status();
  if (auto added = writer->Add("/day/temp", Days()); !added.ok()) return added.status();
  if (auto added = writer->Add("/day/rain", Days()); !added.ok()) return added.status();
  if (auto committed = writer->Commit(); !committed.ok()) return committed.status();
  for (int day = 0; day < 7; ++day) {
    const auto rain = static_cast<float>(day % 4 + day / 6);
    auto status = AppendDay(*writer, static_cast<float>(15 + day), rain);
    if (!status.ok()) return status;
  }
  // Readers of this state see all seven days of both arrays.
  auto now = weather.Refresh();
  if (!now.ok()) return now.status();
  std::printf("commit %d:", static_cast<int>(now->number()));
  const char* separator = "";
  for (const std::string& name : now->Members()) {
    auto member = now->OpenMember(name);
    if (!member.ok()) return member.status();
    const auto days = static_cast<int>(member->array()->shape[0]);
    std::printf("%s %s %d days", separator, name.c_str(), days);
    separator = ",";
  }
  std::printf("\n");
  return writer->Close();
}

absl::Status Print(cairn::Collection& weather) {
  auto now = weather.Refresh();
  if (!now.ok()) return now.status();
  float values[2] = {};
  for (int i = 0; i < 2; ++i) {
    auto member = now->OpenMember(i == 0 ? "/day/temp" : "/day/rain");
    if (!member.ok()) return member.status();
    const int64_t start[] = {6, 90}, shape[] = {1, 1};
    std::vector<float> value(1);
    if (auto status = member->ReadBox(start, shape, value); !status.ok()) return status;
    values[i] = value[0];
  }
  std::printf("day 6: %.1f degrees, %.1f mm\n", static_cast<double>(values[0]),
              static_cast<double>(values[1]));
  return absl::OkStatus();
}

int main() {
  auto weather = cairn::Collection::Create("weather.b2d");
  absl::Status status = weather.status();
  if (status.ok()) status = Write(*weather);
  if (status.ok()) status = Print(*weather);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

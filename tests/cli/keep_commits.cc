// Makes three commits to weather.b2d, whose collection keeps all of them: two append a day to
// /day/temp, and the second of these removes /day/rain.
#include <cstdio>
#include <vector>

#include "cairn/collection.h"

namespace {

absl::Status AppendDay(cairn::CollectionWriter& writer, float degrees) {
  auto temp = writer.Edit("/day/temp");
  if (!temp.ok()) return temp.status();
  return temp->AppendSlices(0, std::vector<float>(180, degrees));
}

absl::Status MakeCommits() {
  auto weather = cairn::Collection::Open("weather.b2d");
  if (!weather.ok()) return weather.status();
  auto writer = weather->OpenWriter({.keep_commits = 7});
  if (!writer.ok()) return writer.status();
  if (auto status = AppendDay(*writer, 30); !status.ok()) return status;
  if (auto number = writer->Commit(); !number.ok()) return number.status();
  if (auto status = AppendDay(*writer, 31); !status.ok()) return status;
  if (auto status = writer->Remove("/day/rain"); !status.ok()) return status;
  if (auto number = writer->Commit(); !number.ok()) return number.status();
  auto attributes = writer->EditAttributes("/day");
  if (!attributes.ok()) return attributes.status();
  if (auto status = attributes->SetVlmetalayer("unit", {}); !status.ok()) return status;
  return writer->Commit().status();
}

}  // namespace

int main() {
  const absl::Status status = MakeCommits();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

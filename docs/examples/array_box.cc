// Keeps a grid of temperatures in an array: writes a box of it, lets it grow, and reads parts of it
// back. Each chunk holds a part of the grid, so a box touches few chunks.
//
// Prints:
//   row 30: 0.0 20.0 20.5 0.0
//   1001 x 2000 items in 12 chunks, the last one is 7.0
#include <cstdint>
#include <cstdio>
#include <vector>

#include "cairn/frame.h"

// Creates 1000 rows of 1000 floats, which begin as zeros and take no space.
absl::StatusOr<cairn::Frame> CreateGrid() {
  cairn::CreateOptions options;
  options.compression = {.codec = cairn::Codec::kZstd, .typesize = sizeof(float)};
  options.array = cairn::ArrayInfo{.shape = {1000, 1000}, .dtype = "<f4"};
  options.overwrite = true;
  return cairn::Frame::Create("grid.b2nd", options);
}

// Makes two commits: a box of two items, and a grid that is wider and has one more row.
absl::Status Fill(cairn::Frame& grid) {
  auto writer = grid.OpenWriter();
  if (!writer.ok()) return writer.status();
  const int64_t start[] = {30, 500}, shape[] = {1, 2};
  const std::vector<float> box = {20.0F, 20.5F};
  if (auto status = writer->WriteBox(start, shape, box); !status.ok()) return status;
  if (auto committed = writer->Commit(); !committed.ok()) return committed.status();

  const int64_t wider[] = {1000, 2000};
  if (auto status = writer->ResizeArray(wider); !status.ok()) return status;
  const std::vector<float> row(2000, 7.0F);
  if (auto status = writer->AppendSlices(0, row); !status.ok()) return status;
  return writer->Close();
}

absl::Status Print(const cairn::Snapshot& grid) {
  const int64_t start[] = {30, 499}, shape[] = {1, 4};
  std::vector<float> part(4);
  if (auto status = grid.ReadBox(start, shape, part); !status.ok()) return status;
  std::printf("row 30:");
  for (const float item : part) std::printf(" %.1f", static_cast<double>(item));

  const int64_t corner[] = {1000, 1999}, one[] = {1, 1};
  std::vector<float> last(1);
  if (auto status = grid.ReadBox(corner, one, last); !status.ok()) return status;
  const cairn::ArrayInfo& array = *grid.array();
  std::printf("\n%d x %d items in %d chunks, the last one is %.1f\n",
              static_cast<int>(array.shape[0]), static_cast<int>(array.shape[1]),
              static_cast<int>(grid.info().nchunks), static_cast<double>(last[0]));
  return absl::OkStatus();
}

int main() {
  auto grid = CreateGrid();
  absl::Status status = grid.status();
  if (status.ok()) status = Fill(*grid);
  if (status.ok()) {
    auto now = grid->Refresh();
    status = now.ok() ? Print(*now) : now.status();
  }
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

// Measures what an open frame keeps in memory as more of its chunks are read. Mapped pages of the
// file are the system's to drop and do not count.

#include <cstdint>
#include <malloc.h>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/small_chunks.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

size_t HeapInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Reads complete chunks, because the memory for decoded blocks has a bound of its own.
absl::StatusOr<Curve> MeasureMemory(const std::string& path, int64_t nchunks) {
  Curve curve{.name = absl::StrCat(nchunks, " chunks"), .points = {}};
  const size_t before = HeapInUse();
  ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path));
  const Snapshot snapshot = frame.snapshot();
  std::mt19937_64 random(1);
  std::byte chunk[kSmallChunk];
  int64_t next = 1;
  for (int64_t i = 1; i <= 1'000'000; ++i) {
    const auto number = static_cast<int64_t>(random() % static_cast<uint64_t>(nchunks));
    RETURN_IF_ERROR(snapshot.ReadChunk(number, MutableBytes(chunk)));
    if (i != next) continue;
    curve.points.emplace_back(static_cast<double>(i),
                              static_cast<double>(HeapInUse() - before) / 1024);
    next *= 10;
  }
  return curve;
}

absl::Status RunMemory(Session& session) {
  Growth growth{.question = "memory of an open frame",
                .x_title = "random chunks read",
                .y_title = "KiB on the heap",
                .curves = {}};
  for (const int64_t nchunks : {10'000, 1'000'000, 10'000'000}) {
    const std::string path = session.PathFor("memory");
    const absl::Status status = BuildSmallChunks(path, FingerprintType::k64Bit, nchunks);
    if (!status.ok()) return status;
    absl::StatusOr<Curve> curve = MeasureMemory(path, nchunks);
    RemoveStore(path);
    if (!curve.ok()) return curve.status();
    growth.curves.push_back(*std::move(curve));
  }
  session.report.Add(std::move(growth));
  return absl::OkStatus();
}

}  // namespace

void AddMemory(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("memory", "What an open frame keeps on the heap; needs 4 GB of disk");
  command->callback([&session] { session.run = [&session] { return RunMemory(session); }; });
}

}  // namespace cairn::bench

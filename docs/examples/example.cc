#include <cstdio>
#include <vector>

#include "cairn/frame.h"

// Writes a million temperatures to a frame, then reads three of them back.
absl::Status Run() {
  std::vector<float> temps(1'000'000);
  for (size_t i = 0; i < temps.size(); ++i) temps[i] = 20 + static_cast<float>(i % 100) / 10;

  cairn::CreateOptions options;
  options.compression.codec = cairn::Codec::kZstd;
  options.compression.typesize = sizeof(float);
  options.overwrite = true;
  absl::StatusOr<cairn::Frame> frame = cairn::Frame::Create("temps.b2frame", options);
  if (!frame.ok()) return frame.status();
  absl::StatusOr<cairn::Writer> writer = frame->OpenWriter();
  if (!writer.ok()) return writer.status();
  if (auto status = writer->Append(temps); !status.ok()) return status;
  if (auto status = writer->Close(); !status.ok()) return status;

  absl::StatusOr<cairn::Snapshot> snapshot = frame->Refresh();
  if (!snapshot.ok()) return snapshot.status();
  std::vector<float> part(3);
  if (auto status = snapshot->ReadItems(500'042, part); !status.ok()) return status;
  std::printf("%.1f %.1f %.1f, from %d chunks\n", part[0], part[1], part[2],
              static_cast<int>(snapshot->info().nchunks));
  return absl::OkStatus();
}

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

// The input is a file that somebody wants to have recovered, salvaged, written or packed. What
// these leave behind opens and is well.

#include "cairn/recover.h"

#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "fuzz/check.h"
#include "fuzz/disk_files.h"
#include "fuzz/mutator.h"
#include "fuzz/read_all.h"
#include "tests/support/simulated_disk.h"

namespace cairn::fuzz {
namespace {

OpenOptions On(test::SimulatedDisk& disk) {
  OpenOptions options = SmallLimits();
  options.file_system = disk.root();
  return options;
}

void Rescue(Bytes file) {
  test::SimulatedDisk disk;
  WriteFile(disk, "f", file);
  const absl::StatusOr<SalvageReport> salvaged = Salvage("f", "saved", {.open = On(disk)});
  if (!absl::IsNotFound(salvaged.status()) && IsAnswer(salvaged.status())) {
    const absl::StatusOr<Frame> saved = Frame::Open("saved", On(disk));
    CheckOk(saved.status(), "what was salvaged opens");
    const int64_t nbytes = saved->snapshot().info().nbytes;
    Check(salvaged->holes.empty() ? nbytes == salvaged->nbytes : nbytes > salvaged->nbytes,
          "all that was salvaged is there");
    ReadAll(saved->snapshot());
  }
  const RecoverOptions options = {.file_system = disk.root()};
  const absl::StatusOr<RecoveryReport> recovered = Recover("f", options);
  if (!recovered.ok()) return;
  const absl::StatusOr<Frame> frame = Frame::Open("f", On(disk));
  if (IsAnswer(frame.status())) ReadAll(frame->snapshot());
}

void Write(Bytes file) {
  test::SimulatedDisk disk;
  WriteFile(disk, "f", file);
  absl::StatusOr<Frame> frame = Frame::Open("f", On(disk));
  if (!IsAnswer(frame.status())) return;
  if (absl::StatusOr<Writer> writer = frame->OpenWriter(); writer.ok()) {
    const FrameInfo before = writer->StagedSnapshot()->info();
    const std::vector<std::byte> item(static_cast<size_t>(before.typesize) % 4096, std::byte{42});
    const bool appended = writer->Append(item).ok();
    const bool set = writer->SetVlmetalayer("name", item).ok();
    if ((appended || set) && writer->Close().ok()) {
      const absl::StatusOr<Frame> after = Frame::Open("f", On(disk));
      CheckOk(after.status(), "what a writer closed opens");
      const int64_t more = appended ? std::ssize(item) : 0;
      Check(after->snapshot().info().nbytes == before.nbytes + more, "what was appended is there");
      ReadAll(after->snapshot());
    }
  }
  if (frame->Compact().ok()) {
    const absl::StatusOr<Frame> compact = Frame::Open("f", On(disk));
    CheckOk(compact.status(), "what was compacted opens");
    ReadAll(compact->snapshot());
  }
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Rescue(cairn::fuzz::AsBytes(data, size));
  cairn::fuzz::Write(cairn::fuzz::AsBytes(data, size));
  return 0;
}

// The input is the files of a sparse frame: 4 bytes of number, 4 of size, and the content of each,
// the index first. It is read, and then written, if it can be.

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "fuzz/check.h"
#include "fuzz/disk_files.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"
#include "fuzz/read_all.h"
#include "tests/support/dice.h"
#include "tests/support/frame_repair.h"
#include "tests/support/simulated_disk.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

constexpr size_t kMostFiles = 64;

struct ChunkFile {
  uint32_t number = 0;
  Buffer content;
};

std::vector<ChunkFile> Split(Input input) {
  std::vector<ChunkFile> files;
  while (!input.empty() && files.size() < kMostFiles) {
    const auto number = input.Number<uint32_t>();
    const auto size = input.Number<uint32_t>();
    files.push_back({.number = number, .content = ToVector(input.Take(size))});
  }
  return files;
}

Buffer Join(const std::vector<ChunkFile>& files) {
  Buffer joined;
  for (const ChunkFile& file : files) {
    std::byte head[8];
    StoreLe(head, file.number);
    StoreLe(head + 4, static_cast<uint32_t>(file.content.size()));
    joined.insert(joined.end(), head, head + sizeof(head));
    joined.insert(joined.end(), file.content.begin(), file.content.end());
  }
  return joined;
}

void Write(Frame& frame) {
  absl::StatusOr<Writer> writer = frame.OpenWriter();
  if (!writer.ok()) return;
  const FrameInfo before = writer->StagedSnapshot()->info();
  const Buffer item(static_cast<size_t>(before.typesize) % 4096, std::byte{42});
  if (!writer->Append(item).ok() || !writer->Close().ok()) return;
  const absl::StatusOr<Snapshot> after = frame.Refresh();
  CheckOk(after.status(), "what a writer closed opens");
  Check(after->info().nbytes == before.nbytes + std::ssize(item), "what was appended is there");
}

void Read(Input input) {
  test::SimulatedDisk disk;
  CheckOk(disk.root()->MakeDirectory("d"), "a directory is made");
  std::map<std::string, Buffer> named;
  const std::vector<ChunkFile> files = Split(input);
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string name =
        i == 0 ? "d/chunks.b2frame" : absl::StrFormat("d/%08X.chunk", files[i].number);
    named[name] = files[i].content;
  }
  for (const auto& [name, content] : named) WriteFile(disk, name, content);
  OpenOptions options = SmallLimits();
  options.file_system = disk.root();
  options.max_mapped_files = 2;
  absl::StatusOr<Frame> frame = Frame::Open("d", options);
  // A directory without an index is not a frame.
  if (absl::IsNotFound(frame.status()) || !IsAnswer(frame.status())) return;
  ReadAll(frame->snapshot());
  Write(*frame);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::Input(data, size));
  return 0;
}

// Mutates one of the files.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  using namespace cairn::fuzz;
  cairn::test::Dice dice(seed);
  std::vector<ChunkFile> files = Split(Input(data, size));
  if (files.empty() || dice.Below(16) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const size_t chosen = dice.Below(3) == 0 ? 0 : dice.Below(files.size());
  Buffer& content = files[chosen].content;
  const size_t before = content.size();
  const bool in_place = before > 0 && dice.Below(4) != 0;
  content.resize(in_place ? before : before + 64);
  content.resize(
      LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(content.data()), before, content.size()));
  if (chosen == 0 && dice.Below(8) != 0) cairn::test::RepairFrameSize(content);
  if (chosen == 0 && dice.Below(4) != 0) cairn::test::RepairSeal(content);
  if (dice.Below(16) == 0) files[chosen].number = static_cast<uint32_t>(dice.Below(8));
  const Buffer joined = Join(files);
  if (joined.size() > max_size) return size;
  cairn::CopyBytes(joined, AsBytes(data, joined.size()));
  return joined.size();
}

// The input is what the vlmetalayer of an increment says. It is applied to a frame, whose content
// it is made to name. A frame takes an increment completely or stays as it is.

#include "engine/format/increment.h"

#include <algorithm>
#include <vector>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "fuzz/check.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

constexpr int32_t kChunksize = 64;
constexpr size_t kBaseAt = 8;  // in the layer

Frame NewFrame(ChunkSize chunksize, size_t nchunks) {
  CreateOptions options;
  options.compression.typesize = 4;
  options.chunksize = chunksize;
  options.metalayers = {{"meta", Buffer(8, std::byte{1})}};
  absl::StatusOr<Frame> frame = Frame::CreateInMemory(options);
  CheckOk(frame.status(), "a frame is made");
  absl::StatusOr<Writer> writer = frame->OpenWriter();
  CheckOk(writer.status(), "a writer opens");
  for (size_t i = 0; i < nchunks; ++i) {
    CheckOk(writer->Append(Buffer(kChunksize, static_cast<std::byte>(i + 1))), "a chunk is made");
  }
  CheckOk(writer->Append(Buffer(8, std::byte{9})), "items are appended");
  CheckOk(writer->SetVlmetalayer("vl", Buffer(9)), "a vlmetalayer is set");
  CheckOk(writer->Commit().status(), "a commit is made");
  return *std::move(frame);
}

void Apply(Bytes input) {
  const absl::StatusOr<format::Increment> parsed = format::ParseIncrement(input);
  if (!parsed.ok()) return;
  const Buffer encoded = format::EncodeIncrement(*parsed);
  Check(*format::ParseIncrement(encoded) == *parsed, "an increment is what it was encoded from");

  // Each special chunk of a run costs an edit; the limit of chunks is far off.
  constexpr int64_t kMost = 1000;
  const auto is_long = [](const format::IncrementRun& run) {
    return run.kind == format::IncrementRun::Kind::kSpecial && run.count > kMost;
  };
  if (std::ranges::any_of(parsed->runs, is_long)) return;

  Frame frame = NewFrame(kChunksize, 5);
  const uint64_t before = *frame.snapshot().ContentHash();
  Frame changes = NewFrame(ChunkSize::Variable(), 2);
  absl::StatusOr<Writer> author = changes.OpenWriter();
  Buffer layer = encoded;
  StoreLe(layer.data() + kBaseAt, before);
  CheckOk(author->SetVlmetalayer(format::kIncrementLayer, layer), "the increment is set");
  absl::StatusOr<Snapshot> increment = author->Commit();
  CheckOk(increment.status(), "the increment is made");

  absl::StatusOr<Writer> writer = frame.OpenWriter();
  const absl::Status applied = writer->ApplyIncrement(*increment);
  absl::StatusOr<Snapshot> after = writer->Commit();
  CheckOk(after.status(), "the writer goes on");
  const uint64_t expected = applied.ok() ? parsed->result : before;
  Check(*after->ContentHash() == expected, "an increment is applied completely or not at all");
  Check(after->Verify()->ok(), "the frame is intact");
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Apply(cairn::fuzz::AsBytes(data, size));
  return 0;
}

#include "engine/format/increment.h"

#include <utility>

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"

namespace cairn::format {

namespace {

constexpr uint32_t kIncrementVersion = 1;
constexpr uint32_t kIncrementVlBlocks = 1;
constexpr uint64_t kChunkRunSize = 4 + 8 + 8;

IncrementRun ReadRun(ByteReader& reader) {
  IncrementRun run;
  run.kind = static_cast<IncrementRun::Kind>(reader.Le<uint32_t>("kind of run"));
  run.value = reader.Le<int64_t>("value of run");
  run.count = reader.Le<int64_t>("chunks of run");
  bool fits = run.count > 0;
  switch (run.kind) {
    case IncrementRun::Kind::kBase:
      fits = fits && run.value >= 0 && CheckedAdd(run.value, run.count).has_value();
      break;
    case IncrementRun::Kind::kNew:
      fits = fits && run.value == 0;
      break;
    case IncrementRun::Kind::kSpecial:
      fits = fits && IsSpecialEntry(run.value) && SpecialOfEntry(run.value).ok();
      break;
    default:
      fits = false;
  }
  if (!fits) reader.Fail("run", "is none");
  return run;
}

}  // namespace

absl::Status CheckSpecials(const std::vector<IncrementRun>& runs) {
  int64_t left = kMaxNewSpecials;
  for (const IncrementRun& run : runs) {
    if (run.kind != IncrementRun::Kind::kSpecial) continue;
    if (run.count > left) {
      return ResourceExhausted("increment: more than %d new chunks of special values",
                               kMaxNewSpecials);
    }
    left -= run.count;
  }
  return absl::OkStatus();
}

absl::StatusOr<Increment> ParseIncrement(Bytes layer) {
  ByteReader reader(layer, "increment");
  ReadHeadIfAny(reader);
  const uint32_t version = reader.Le<uint32_t>("version");
  if (reader.ok() && version != kIncrementVersion) {
    return Unimplemented("increment: version %d", version);
  }
  Increment increment;
  increment.vlblocks = (reader.Le<uint32_t>("flags") & kIncrementVlBlocks) != 0;
  increment.base = reader.Le<uint64_t>("base");
  increment.result = reader.Le<uint64_t>("result");
  increment.since_generation = reader.Le<uint64_t>("generation before");
  increment.generation = reader.Le<uint64_t>("generation");
  increment.nbytes = reader.Le<int64_t>("nbytes");
  increment.chunksize = reader.Le<int32_t>("chunksize");
  increment.partial_kept = reader.Le<int64_t>("pending bytes kept");
  increment.partial_added = reader.Le<int64_t>("pending bytes added");
  if (increment.nbytes < 0 || increment.partial_kept < 0 || increment.partial_added < 0) {
    reader.Fail("size", "is negative");
  }
  const uint64_t nruns = reader.Le<uint64_t>("runs");
  if (nruns > reader.remaining() / kChunkRunSize) reader.Fail("runs", "%d", nruns);
  for (uint64_t i = 0; i < nruns && reader.ok(); ++i) increment.runs.push_back(ReadRun(reader));
  const uint32_t nlayers = reader.Le<uint32_t>("layer edits");
  for (uint32_t i = 0; i < nlayers && reader.ok(); ++i) {
    increment.layers.push_back(ReadLayerEdit(reader));
  }
  if (reader.ok() && reader.remaining() > 0) {
    reader.Fail("end", "%d more bytes", reader.remaining());
  }
  CAIRN_RETURN_IF_ERROR(reader.status());
  return increment;
}

std::vector<std::byte> EncodeIncrement(const Increment& increment) {
  ByteWriter writer = BeginBinary();
  writer.Le(kIncrementVersion);
  writer.Le(increment.vlblocks ? kIncrementVlBlocks : uint32_t{0});
  writer.Le(increment.base);
  writer.Le(increment.result);
  writer.Le(increment.since_generation);
  writer.Le(increment.generation);
  writer.Le(increment.nbytes);
  writer.Le(increment.chunksize);
  writer.Le(increment.partial_kept);
  writer.Le(increment.partial_added);
  writer.Le(static_cast<uint64_t>(increment.runs.size()));
  for (const IncrementRun& run : increment.runs) {
    writer.Le(static_cast<uint32_t>(run.kind));
    writer.Le(run.value);
    writer.Le(run.count);
  }
  writer.Le(static_cast<uint32_t>(increment.layers.size()));
  for (const LayerEdit& edit : increment.layers) WriteLayerEdit(edit, writer);
  return EndBinary(std::move(writer));
}

}  // namespace cairn::format

#include "engine/chunk/encode_job.h"

#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/parallel.h"
#include "engine/codec/stream_codec.h"

namespace cairn::chunk {

namespace {

constexpr size_t kMinDictionary = 256;
constexpr size_t kMinSamples = 8;
// Byte columns of an unsplit block that are probed each on its own.
constexpr size_t kMaxParts = 16;
// Items at the start of a block that are probed before more of it is.
constexpr size_t kFirstProbe = 128;

void StoreInt32(MutableBytes dst, size_t at, size_t value) {
  StoreLe<uint32_t>(dst.data() + at, static_cast<uint32_t>(value));
}

}  // namespace

Bytes EncodeJob::Block(size_t i) const {
  if (header_.vlblocks) return vlblocks_[i];
  const auto size = static_cast<size_t>(header_.blocksize);
  return src_.subspan(i * size, std::min(size, src_.size() - i * size));
}

size_t EncodeJob::StreamsOf(Bytes block) const {
  const bool leftover = block.size() != static_cast<size_t>(header_.blocksize);
  return header_.unsplit || leftover ? 1 : header_.typesize;
}

absl::StatusOr<Bytes> EncodeJob::Filtered(size_t i, Workspace& workspace) const {
  const Bytes block = Block(i);
  const filter::Pipeline& pipeline = tools_.pipeline;
  if (pipeline.active() == 0) return block;
  const bool is_reference = i == 0 || header_.vlblocks;
  const MutableBytes out = workspace.filtered.Get(block.size());
  const MutableBytes scratch =
      pipeline.active() > 1 ? workspace.scratch.Get(block.size()) : MutableBytes();
  CAIRN_RETURN_IF_ERROR(pipeline.Forward(block, is_reference ? Bytes() : Block(0), out, scratch));
  return Bytes(out);
}

absl::Status EncodeJob::TrainDictionary(Workspace& workspace) {
  const size_t nbytes = static_cast<size_t>(header_.nbytes);
  const size_t capacity = std::min<size_t>(kMaxDictionary, nbytes / 20);
  std::vector<size_t> samples;
  std::vector<std::byte> filtered;
  if (capacity < kMinDictionary || (header_.vlblocks && nblocks() < kMinSamples)) {
    return absl::OkStatus();
  }
  filtered.reserve(nbytes);
  for (size_t i = 0; i < nblocks(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const Bytes block, Filtered(i, workspace));
    filtered.insert(filtered.end(), block.begin(), block.end());
    if (header_.vlblocks) samples.push_back(block.size());
  }
  if (!header_.vlblocks) {
    const size_t streams = nblocks() * (header_.unsplit ? 1 : header_.typesize);
    const size_t count = std::max(kMinSamples, streams);
    samples.assign(count, nbytes / count / 16);
  }
  size_t sampled = 0;
  for (const size_t size : samples) sampled += size;
  if (sampled == 0) return absl::OkStatus();
  const Bytes content = Bytes(filtered).first(sampled);
  dict_ = tools_.options.codec == Codec::kZstd
              ? codec::TrainZstdDictionary(content, samples, capacity)
              : ToVector(content.first(std::min(sampled, capacity)));
  header_.has_dict = !dict_.empty();
  return absl::OkStatus();
}

absl::Status EncodeJob::Prepare(Workspace& workspace) const {
  const CompressionOptions& options = tools_.options;
  CAIRN_ASSIGN_OR_RETURN(workspace.codec, workspace.codecs.Get(options.codec, options.registry));
  workspace.codec->UseDictionary(dict_);
  return absl::OkStatus();
}

absl::StatusOr<size_t> EncodeJob::CompressOrCopy(Bytes stream, MutableBytes dst,
                                                 Workspace& workspace) const {
  // The codec always gets the same capacity, or its output would depend on earlier streams.
  const bool direct = dst.size() >= stream.size();
  const MutableBytes target =
      direct ? dst.first(stream.size()) : workspace.stream.Get(stream.size());
  size_t size = 0;
  const bool incompressible =
      MayBeIncompressible() &&
      CompressibilityProbe::IsWorthProbing(stream.size(), tools_.options.codec) &&
      AllStreamsAreIncompressible(stream, 1, workspace);
  if (tools_.options.clevel > 0 && !incompressible) {
    const PluginCall call{
        .typesize = header_.typesize, .clevel = tools_.options.clevel, .meta = header_.codec_meta};
    CAIRN_ASSIGN_OR_RETURN(size, workspace.codec->Compress(stream, target, call));
  }
  // A stream that compresses to its own size would be taken for a raw one.
  if (size == 0 || size >= stream.size()) {
    if (!direct) return 0;
    CopyBytes(stream, dst);
    return stream.size();
  }
  if (!direct) {
    if (size > dst.size()) return 0;
    CopyBytes(target.first(size), dst);
  }
  return size;
}

absl::StatusOr<size_t> EncodeJob::EncodeStream(Bytes stream, MutableBytes dst,
                                               Workspace& workspace) const {
  if (dst.size() < 4) return 0;
  if (header_.extended && !header_.vlblocks && IsRun(stream)) {
    const auto value = std::to_integer<uint32_t>(stream[0]);
    StoreLe<uint32_t>(dst.data(), 0 - value);
    if (value == 0) return 4;
    if (dst.size() < 5) return 0;
    dst[4] = std::byte{1};
    return 5;
  }
  CAIRN_ASSIGN_OR_RETURN(const size_t size, CompressOrCopy(stream, dst.subspan(4), workspace));
  if (size == 0) return 0;
  // A variable block says its decoded size: its stored one follows from the positions.
  StoreInt32(dst, 0, header_.vlblocks ? stream.size() : size);
  return size + 4;
}

// A dictionary may know what seems incompressible, and a filter of the program's own may make
// anything of it.
bool EncodeJob::MayBeIncompressible() const {
  return dict_.empty() && tools_.options.registry == nullptr && tools_.options.clevel > 0;
}

size_t EncodeJob::PartsOfStream() const {
  return header_.unsplit ? std::min<size_t>(header_.typesize, kMaxParts) : 1;
}

bool EncodeJob::AllStreamsAreIncompressible(Bytes filtered, size_t nstreams,
                                            Workspace& workspace) const {
  const Codec codec = tools_.options.codec;
  const size_t size = filtered.size() / nstreams;
  for (size_t k = 0; k < nstreams; ++k) {
    const Bytes stream = filtered.subspan(k * size, size);
    if (!workspace.compressibility.IsIncompressible(stream, PartsOfStream(), codec)) return false;
  }
  return true;
}

absl::StatusOr<bool> EncodeJob::SampleIsIncompressible(const SampleWindows& windows, size_t parts,
                                                       Workspace& workspace) const {
  const size_t size = windows.size();
  const MutableBytes buffer = workspace.sample.Get(3 * size);
  MutableBytes sample = buffer.first(size);
  size_t done = 0;
  for (size_t w = 0; w < windows.count(); ++w) {
    CopyBytes(windows.Window(w), sample.subspan(done));
    done += windows.Window(w).size();
  }
  if (tools_.pipeline.active() > 0) {
    const MutableBytes filtered = buffer.subspan(size, size);
    CAIRN_RETURN_IF_ERROR(tools_.pipeline.Forward(sample, {}, filtered, buffer.last(size)));
    sample = filtered;
  }
  for (size_t k = 0; k < parts; ++k) {
    const Bytes part = Bytes(sample).subspan(k * (size / parts), size / parts);
    if (!workspace.compressibility.SampleIsIncompressible(part)) return false;
  }
  return true;
}

absl::StatusOr<EncodeJob::Probed> EncodeJob::ProbeFully(size_t i, Workspace& workspace) const {
  const Bytes block = Block(i);
  const size_t nstreams = StreamsOf(block);
  Probed probed;
  const SampleWindows windows(block, header_.typesize);
  if (windows.count() > 1 && tools_.pipeline.active() > 0 && !tools_.pipeline.uses_reference() &&
      !CompressibilityProbe::IsSlowCodec(tools_.options.codec)) {
    CAIRN_ASSIGN_OR_RETURN(probed.incompressible,
                           SampleIsIncompressible(windows, nstreams, workspace));
    return probed;
  }
  CAIRN_ASSIGN_OR_RETURN(probed.filtered, Filtered(i, workspace));
  probed.incompressible = AllStreamsAreIncompressible(probed.filtered, nstreams, workspace);
  return probed;
}

absl::StatusOr<bool> EncodeJob::QuickSampleIsIncompressible(size_t i, Workspace& workspace) const {
  const Bytes block = Block(i);
  const size_t typesize = header_.typesize;
  // Most compressible blocks show it at their beginning.
  const SampleWindows beginning(block.first(std::min(kFirstProbe * typesize, block.size())),
                                typesize);
  const size_t nstreams = StreamsOf(block);
  CAIRN_ASSIGN_OR_RETURN(const bool incompressible,
                         SampleIsIncompressible(beginning, nstreams, workspace));
  if (!incompressible || Leads(i)) return incompressible;
  return SampleIsIncompressible(SampleWindows::Quick(block, typesize), nstreams * PartsOfStream(),
                                workspace);
}

absl::StatusOr<bool> EncodeJob::FollowsIncompressible(size_t i, Workspace& workspace) {
  if (Leads(i)) return false;
  const std::atomic<Verdict>& leader = leaders_[i / kRun];
  if (leader.load(std::memory_order_relaxed) == Verdict::kUnknown) {
    CAIRN_RETURN_IF_ERROR(ProbeBlock(i / kRun * kRun, workspace).status());
  }
  return leader.load(std::memory_order_relaxed) == Verdict::kIncompressible;
}

absl::StatusOr<EncodeJob::Probed> EncodeJob::ProbeBlock(size_t i, Workspace& workspace) {
  const Bytes block = Block(i);
  if (header_.vlblocks || !MayBeIncompressible() ||
      !CompressibilityProbe::IsWorthProbing(block.size() / StreamsOf(block),
                                            tools_.options.codec)) {
    return Probed();
  }
  Probed probed;
  if (tools_.pipeline.uses_reference()) {
    CAIRN_ASSIGN_OR_RETURN(probed, ProbeFully(i, workspace));
  } else {
    CAIRN_ASSIGN_OR_RETURN(probed.incompressible, QuickSampleIsIncompressible(i, workspace));
    bool settled = !probed.incompressible;
    if (!settled) {
      CAIRN_ASSIGN_OR_RETURN(settled, FollowsIncompressible(i, workspace));
    }
    if (!settled) {
      CAIRN_ASSIGN_OR_RETURN(probed, ProbeFully(i, workspace));
    }
  }
  if (Leads(i) && !leaders_.empty()) {
    leaders_[i / kRun].store(
        probed.incompressible ? Verdict::kIncompressible : Verdict::kCompressible,
        std::memory_order_relaxed);
  }
  return probed;
}

absl::StatusOr<size_t> EncodeJob::StoreBlock(size_t i, MutableBytes dst,
                                             Workspace& workspace) const {
  CAIRN_ASSIGN_OR_RETURN(const Bytes filtered, Filtered(i, workspace));
  if (dst.size() < CapacityFor(filtered)) return 0;
  const size_t size = filtered.size() / StreamsOf(filtered);
  size_t done = 0;
  for (size_t at = 0; at < filtered.size(); at += size) {
    StoreInt32(dst, done, size);
    CopyBytes(filtered.subspan(at, size), dst.subspan(done + 4));
    done += 4 + size;
  }
  return done;
}

absl::StatusOr<size_t> EncodeJob::EncodeBlock(size_t i, Bytes filtered, MutableBytes dst,
                                              Workspace& workspace) const {
  if (filtered.empty()) {
    CAIRN_ASSIGN_OR_RETURN(filtered, Filtered(i, workspace));
  }
  const size_t nstreams = StreamsOf(filtered);
  const size_t size = filtered.size() / nstreams;
  size_t done = 0;
  for (size_t k = 0; k < nstreams; ++k) {
    CAIRN_ASSIGN_OR_RETURN(const size_t stored, EncodeStream(filtered.subspan(k * size, size),
                                                             dst.subspan(done), workspace));
    if (stored == 0) return 0;
    done += stored;
  }
  return done;
}

// Writes the blocks one after the other where they belong; runs in one thread. Incompressible ones
// at the start wait for a compressible one: without it the chunk is stored as it is.
class EncodeJob::InOrder final : public BlockTask {
 public:
  InOrder(EncodeJob& job, MutableBytes dst, size_t begin) : job_(job), dst_(dst), end_(begin) {}

  absl::Status Prepare(Workspace& workspace) const override { return job_.Prepare(workspace); }

  absl::Status Run(int64_t block, Workspace& workspace) override {
    const auto i = static_cast<size_t>(block);
    CAIRN_ASSIGN_OR_RETURN(const Probed probed, job_.ProbeBlock(i, workspace));
    if (full_ || (probed.incompressible && written_ == 0)) return absl::OkStatus();
    const bool filtered_still = written_ == i;
    for (; written_ < i; ++written_) {
      CAIRN_RETURN_IF_ERROR(Add(written_, job_.StoreBlock(written_, Remaining(), workspace)));
    }
    ++written_;
    if (probed.incompressible) return Add(i, job_.StoreBlock(i, Remaining(), workspace));
    return Add(
        i, job_.EncodeBlock(i, filtered_still ? probed.filtered : Bytes(), Remaining(), workspace));
  }

  // The size of the chunk, 0 when it did not fit or is incompressible.
  size_t result() const { return full_ || written_ == 0 ? 0 : end_; }

 private:
  MutableBytes Remaining() const { return dst_.subspan(end_); }
  absl::Status Add(size_t i, const absl::StatusOr<size_t>& size) {
    if (!size.ok()) return size.status();
    StoreInt32(dst_, static_cast<size_t>(job_.header_.size()) + 4 * i, end_);
    end_ += *size;
    full_ = full_ || *size == 0;
    return absl::OkStatus();
  }

  EncodeJob& job_;
  MutableBytes dst_;
  size_t end_;
  size_t written_ = 0;  // blocks
  bool full_ = false;
};

// Writes each block into a slot of the size that it may take at most; runs in any thread.
class EncodeJob::InSlots final : public BlockTask {
 public:
  InSlots(EncodeJob& job, MutableBytes slots, size_t slot_size)
      : job_(job), slots_(slots), slot_size_(slot_size), sizes_(job.nblocks()) {}

  absl::Status Prepare(Workspace& workspace) const override { return job_.Prepare(workspace); }

  absl::Status Run(int64_t block, Workspace& workspace) override {
    const auto i = static_cast<size_t>(block);
    CAIRN_ASSIGN_OR_RETURN(const Probed probed, job_.ProbeBlock(i, workspace));
    if (probed.incompressible) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(
        sizes_[i], job_.EncodeBlock(i, probed.filtered,
                                    slots_.subspan(i * slot_size_, job_.CapacityFor(job_.Block(i))),
                                    workspace));
    return absl::OkStatus();
  }

  // Nothing when the block is incompressible.
  Bytes Coded(size_t i) const { return slots_.subspan(i * slot_size_, sizes_[i]); }
  bool AllIncompressible() const {
    return std::ranges::all_of(sizes_, [](size_t size) { return size == 0; });
  }

 private:
  EncodeJob& job_;
  MutableBytes slots_;
  size_t slot_size_;
  std::vector<size_t> sizes_;
};

absl::StatusOr<size_t> EncodeJob::RunInSlots(MutableBytes dst, size_t begin) {
  const WorkspacePool::Lease lease = tools_.pool.Acquire();
  const size_t slot_size = CapacityFor(Block(0));
  InSlots task(*this, lease->block.Get(slot_size * nblocks()), slot_size);
  CAIRN_RETURN_IF_ERROR(ForEachBlock({.first = 0, .last = header_.nblocks()},
                                     tools_.options.executor, tools_.pool, task));
  if (task.AllIncompressible()) return 0;
  size_t end = begin;
  for (size_t i = 0; i < nblocks(); ++i) {
    const Bytes coded = task.Coded(i);
    size_t size = coded.size();
    if (size > dst.size() - end) return 0;
    StoreInt32(dst, static_cast<size_t>(header_.size()) + 4 * i, end);
    CopyBytes(coded, dst.subspan(end));
    if (size == 0) {
      CAIRN_ASSIGN_OR_RETURN(size, StoreBlock(i, dst.subspan(end), *lease));
      if (size == 0) return 0;
    }
    end += size;
  }
  return end;
}

absl::StatusOr<size_t> EncodeJob::Run(MutableBytes dst) {
  if (nblocks() > 1) leaders_ = std::vector<std::atomic<Verdict>>(CeilDiv(nblocks(), kRun));
  if (tools_.options.use_dict) {
    const WorkspacePool::Lease lease = tools_.pool.Acquire();
    CAIRN_RETURN_IF_ERROR(TrainDictionary(*lease));
  }
  size_t begin = static_cast<size_t>(header_.size()) + 4 * nblocks();
  if (begin + (dict_.empty() ? 0 : 4 + dict_.size()) > dst.size()) return 0;
  if (!dict_.empty()) {
    StoreInt32(dst, begin, dict_.size());
    CopyBytes(dict_, dst.subspan(begin + 4));
    begin += 4 + dict_.size();
  }
  size_t size = 0;
  // Variable blocks may differ so much that slots for all would be a waste.
  if (!header_.vlblocks &&
      WorthThreads(tools_.options.executor, header_.nbytes, header_.nblocks())) {
    CAIRN_ASSIGN_OR_RETURN(size, RunInSlots(dst, begin));
  } else {
    InOrder task(*this, dst, begin);
    CAIRN_RETURN_IF_ERROR(
        ForEachBlock({.first = 0, .last = header_.nblocks()}, nullptr, tools_.pool, task));
    size = task.result();
  }
  header_.cbytes = static_cast<int32_t>(size);
  if (size > 0) StoreHeader(header_, dst);
  return size;
}

}  // namespace cairn::chunk

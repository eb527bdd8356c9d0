#include "engine/chunk/encode_job.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/parallel.h"
#include "engine/codec/codec_set.h"
#include "engine/codec/stream_codec.h"

namespace cairn::chunk {

namespace {

constexpr size_t kMinDictionary = 256;
constexpr size_t kMinSamples = 8;
// The byte columns of an unsplit block are probed one by one, up to this many.
constexpr size_t kMaxParts = 16;
// The first items of a block are probed before more of it is.
constexpr size_t kFirstProbe = 128;
// Blocks of a run, whose first one is probed in full.
constexpr size_t kRun = 8;

void StoreInt32(MutableBytes dst, size_t at, size_t value) {
  StoreLe(dst.data() + at, static_cast<uint32_t>(value));
}

// Facts about a block that are known before it is coded.
struct Probed {
  bool incompressible = false;
  Bytes filtered;  // as from Filtered, or empty if that was not needed
};

// The result for the first block of a run.
enum class Verdict : uint8_t { kUnknown, kCompressible, kIncompressible };

class EncodeJob {
 public:
  EncodeJob(const EncodeTools& tools, const Header& header, Bytes src,
            std::span<const Bytes> vlblocks, MutableBytes dst)
      : tools_(tools), header_(header), src_(src), vlblocks_(vlblocks), dst_(dst) {}

  absl::StatusOr<size_t> Run() {
    const WorkspacePool::Lease lease = tools_.pool.Acquire();
    if (nblocks() > 1) leaders_ = std::vector<std::atomic<Verdict>>(CeilDiv(nblocks(), kRun));
    if (tools_.options.use_dict) CAIRN_RETURN_IF_ERROR(TrainDictionary(*lease));
    CAIRN_RETURN_IF_ERROR(ChooseColumns(*lease));
    end_ = static_cast<size_t>(header_.size()) + 4 * nblocks();
    if (end_ + (dict_.empty() ? 0 : 4 + dict_.size()) > dst_.size()) return 0;
    if (tools_.options.registry != nullptr) StoreHeader(header_, dst_);  // for plug-ins
    if (!dict_.empty()) {
      StoreInt32(dst_, end_, dict_.size());
      CopyBytes(dict_, dst_.subspan(end_ + 4));
      end_ += 4 + dict_.size();
    }
    // Variable blocks may differ so much in size that slots for all would be a waste.
    const bool threads = !header_.vlblocks && WorthThreads(tools_.options.executor.get(),
                                                           header_.nbytes, header_.nblocks());
    CAIRN_RETURN_IF_ERROR(threads ? RunInSlots(*lease) : RunInOrder(*lease));
    if (full_) return 0;
    header_.cbytes = static_cast<int32_t>(end_);
    StoreHeader(header_, dst_);
    return end_;
  }

 private:
  size_t nblocks() const { return static_cast<size_t>(header_.nblocks()); }

  Bytes Block(size_t i) const {
    if (header_.vlblocks) return vlblocks_[i];
    const auto size = static_cast<size_t>(header_.blocksize);
    return src_.subspan(i * size, std::min(size, src_.size() - i * size));
  }

  size_t StreamsOf(Bytes block) const {
    const bool leftover = block.size() != static_cast<size_t>(header_.blocksize);
    return header_.unsplit || leftover ? 1 : header_.typesize;
  }

  // Returns the most bytes that a coded block may take.
  size_t CapacityFor(Bytes block) const { return block.size() + 4 * StreamsOf(block); }

  absl::Status Prepare(Workspace& workspace) const {
    const CompressionOptions& options = tools_.options;
    CAIRN_ASSIGN_OR_RETURN(workspace.codec,
                           workspace.codecs.Get(options.codec, options.registry.get()));
    workspace.codec->UseDictionary(dict_);
    workspace.codec->UseColumns(options.columns);
    if (!chosen_.empty()) workspace.codec->UseChosen(chosen_);
    return absl::OkStatus();
  }

  // Returns the block after the filters: in the workspace, or the block itself if there are none.
  absl::StatusOr<Bytes> Filtered(size_t i, Workspace& workspace) const {
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

  absl::Status TrainDictionary(Workspace& workspace) {
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
    const size_t sampled = std::accumulate(samples.begin(), samples.end(), size_t{0});
    if (sampled == 0) return absl::OkStatus();
    const Bytes content = Bytes(filtered).first(sampled);
    dict_ = tools_.options.codec == Codec::kZstd
                ? codec::TrainZstdDictionary(content, samples, capacity)
                : ToVector(content.first(std::min(sampled, capacity)));
    header_.has_dict = !dict_.empty();
    return absl::OkStatus();
  }

  // Has the codec choose, for all blocks, how it codes columns. What filters make is known only
  // block by block.
  absl::Status ChooseColumns(Workspace& workspace) {
    if (tools_.options.codec != Codec::kAuto || header_.vlblocks || tools_.pipeline.active() > 0 ||
        tools_.options.clevel == 0) {
      return absl::OkStatus();
    }
    CAIRN_RETURN_IF_ERROR(Prepare(workspace));
    CAIRN_ASSIGN_OR_RETURN(
        chosen_, workspace.codec->ChooseColumns(src_, static_cast<size_t>(header_.blocksize),
                                                {.typesize = header_.typesize,
                                                 .clevel = tools_.options.clevel,
                                                 .meta = header_.codec_meta}));
    header_.codec_meta |= HowAllAreCoded();
    return absl::OkStatus();
  }

  // Returns what the parameter of the codec says of all columns.
  uint8_t HowAllAreCoded() const {
    using numbers::Coding;
    const auto all = [this](std::initializer_list<Coding> codings) {
      return std::ranges::all_of(chosen_, [&](const numbers::Column& column) {
        return std::ranges::find(codings, column.coding) != codings.end();
      });
    };
    if (all({Coding::kBitpack})) return kAllSingle;
    return all({Coding::kBitpack, Coding::kPco}) ? kAllPages : 0;
  }

  // Returns true if streams of this size may be taken for incompressible. A dictionary may hold
  // what seems incompressible, and a filter of the program's own may turn it into anything.
  bool IsWorthProbing(size_t size) const {
    return dict_.empty() && tools_.options.registry == nullptr && tools_.options.clevel > 0 &&
           CompressibilityProbe::IsWorthProbing(size, tools_.options.codec);
  }

  // Returns the number of stretches of a stream that may differ from each other.
  size_t PartsOfStream() const {
    return header_.unsplit ? std::min<size_t>(header_.typesize, kMaxParts) : 1;
  }

  bool StreamIsIncompressible(Bytes stream, Workspace& workspace) const {
    return workspace.compressibility.IsIncompressible(stream, PartsOfStream(),
                                                      tools_.options.codec);
  }

  // Probes a sample of a block, so that not all of it has to be filtered. `parts` is the number of
  // streams, or of stretches of one, that are probed one by one.
  absl::StatusOr<bool> SampleIsIncompressible(const SampleWindows& windows, size_t parts,
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

  absl::StatusOr<Probed> ProbeFully(size_t i, Workspace& workspace) const {
    const Bytes block = Block(i);
    const size_t nstreams = StreamsOf(block);
    Probed probed;
    const SampleWindows windows(block, header_.typesize);
    if (windows.count() > 1 && tools_.pipeline.active() > 0 && tools_.pipeline.takes_samples() &&
        !codec::IsHighRatio(tools_.options.codec)) {
      CAIRN_ASSIGN_OR_RETURN(probed.incompressible,
                             SampleIsIncompressible(windows, nstreams, workspace));
      return probed;
    }
    CAIRN_ASSIGN_OR_RETURN(probed.filtered, Filtered(i, workspace));
    const size_t size = block.size() / nstreams;
    probed.incompressible = true;
    for (size_t k = 0; k < nstreams && probed.incompressible; ++k) {
      probed.incompressible =
          StreamIsIncompressible(probed.filtered.subspan(k * size, size), workspace);
    }
    return probed;
  }

  static bool Leads(size_t i) { return i % kRun == 0; }

  absl::StatusOr<bool> QuickSampleIsIncompressible(size_t i, Workspace& workspace) const {
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

  // Returns true if the first block of the run that i is in was incompressible.
  absl::StatusOr<bool> FollowsIncompressible(size_t i, Workspace& workspace) {
    if (Leads(i)) return false;
    const std::atomic<Verdict>& leader = leaders_[i / kRun];
    if (leader.load(std::memory_order_relaxed) == Verdict::kUnknown) {
      CAIRN_RETURN_IF_ERROR(ProbeBlock(i / kRun * kRun, workspace).status());
    }
    return leader.load(std::memory_order_relaxed) == Verdict::kIncompressible;
  }

  // Finds incompressible blocks. The first block of each run is probed in full. If it is
  // incompressible, a quick sample of the others is enough. The result depends only on the bytes.
  absl::StatusOr<Probed> ProbeBlock(size_t i, Workspace& workspace) {
    const Bytes block = Block(i);
    if (header_.vlblocks || !IsWorthProbing(block.size() / StreamsOf(block))) return Probed();
    Probed probed;
    bool settled = false;
    if (tools_.pipeline.takes_samples()) {
      CAIRN_ASSIGN_OR_RETURN(probed.incompressible, QuickSampleIsIncompressible(i, workspace));
      settled = !probed.incompressible;
      if (!settled) {
        CAIRN_ASSIGN_OR_RETURN(settled, FollowsIncompressible(i, workspace));
      }
    }
    if (!settled) {
      CAIRN_ASSIGN_OR_RETURN(probed, ProbeFully(i, workspace));
    }
    if (Leads(i) && !leaders_.empty()) {
      leaders_[i / kRun].store(
          probed.incompressible ? Verdict::kIncompressible : Verdict::kCompressible,
          std::memory_order_relaxed);
    }
    return probed;
  }

  // These functions write what they are given and return its size, or 0 if dst is too small.
  absl::StatusOr<size_t> CompressOrCopy(Bytes stream, MutableBytes dst,
                                        Workspace& workspace) const {
    // The codec always gets the same capacity, or its output would depend on earlier streams.
    const bool direct = dst.size() >= stream.size();
    const MutableBytes target =
        direct ? dst.first(stream.size()) : workspace.stream.Get(stream.size());
    size_t size = 0;
    const bool incompressible =
        IsWorthProbing(stream.size()) && StreamIsIncompressible(stream, workspace);
    if (tools_.options.clevel > 0 && !incompressible) {
      const PluginCall call{.typesize = header_.typesize,
                            .clevel = tools_.options.clevel,
                            .meta = tools_.options.codec_meta,
                            .blockshape = tools_.options.blockshape,
                            .chunk_header = dst_.first(static_cast<size_t>(header_.size()))};
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

  absl::StatusOr<size_t> EncodeStream(Bytes stream, MutableBytes dst, Workspace& workspace) const {
    if (dst.size() < 4) return 0;
    if (header_.extended && !header_.vlblocks && IsRun(stream)) {
      const auto value = std::to_integer<uint32_t>(stream[0]);
      StoreLe(dst.data(), 0 - value);
      if (value == 0) return 4;
      if (dst.size() < 5) return 0;
      dst[4] = std::byte{1};
      return 5;
    }
    CAIRN_ASSIGN_OR_RETURN(const size_t size, CompressOrCopy(stream, dst.subspan(4), workspace));
    if (size == 0) return 0;
    // A variable block stores its decoded size, because its stored size follows from the positions.
    StoreInt32(dst, 0, header_.vlblocks ? stream.size() : size);
    return size + 4;
  }

  absl::StatusOr<size_t> StoreBlock(size_t i, MutableBytes dst, Workspace& workspace) const {
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

  absl::StatusOr<size_t> EncodeBlock(size_t i, Bytes filtered, MutableBytes dst,
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

  MutableBytes Remaining() const { return dst_.subspan(end_); }

  // Notes that block i was written at the end of the chunk. A size of 0 means that it did not fit.
  absl::Status Add(size_t i, const absl::StatusOr<size_t>& size) {
    if (!size.ok()) return size.status();
    StoreInt32(dst_, static_cast<size_t>(header_.size()) + 4 * i, end_);
    end_ += *size;
    full_ = full_ || *size == 0;
    return absl::OkStatus();
  }

  // Writes the blocks one after the other to their places. Incompressible blocks at the start wait
  // for a compressible one, because a chunk without one is stored as it is.
  absl::Status RunInOrder(Workspace& workspace) {
    CAIRN_RETURN_IF_ERROR(Prepare(workspace));
    size_t written = 0;
    for (size_t i = 0; i < nblocks() && !full_; ++i) {
      CAIRN_ASSIGN_OR_RETURN(const Probed probed, ProbeBlock(i, workspace));
      if (probed.incompressible && written == 0) continue;
      const bool filtered_still = written == i;
      for (; written < i; ++written) {
        CAIRN_RETURN_IF_ERROR(Add(written, StoreBlock(written, Remaining(), workspace)));
      }
      ++written;
      CAIRN_RETURN_IF_ERROR(Add(i, probed.incompressible
                                       ? StoreBlock(i, Remaining(), workspace)
                                       : EncodeBlock(i, filtered_still ? probed.filtered : Bytes(),
                                                     Remaining(), workspace)));
    }
    full_ = full_ || written == 0;
    return absl::OkStatus();
  }

  // Writes each block, in any thread, into a slot of the largest size that it may take.
  absl::Status RunInSlots(Workspace& workspace) {
    const size_t slot_size = CapacityFor(Block(0));
    const MutableBytes slots = workspace.block.Get(slot_size * nblocks());
    std::vector<size_t> sizes(nblocks());  // 0: incompressible
    CAIRN_RETURN_IF_ERROR(ForEachBlock(
        {.first = 0, .last = header_.nblocks()}, tools_.options.executor.get(), tools_.pool,
        workspace, [this](Workspace& own) { return Prepare(own); },
        [&](int64_t block, Workspace& own) -> absl::Status {
          const auto i = static_cast<size_t>(block);
          CAIRN_ASSIGN_OR_RETURN(const Probed probed, ProbeBlock(i, own));
          if (probed.incompressible) return absl::OkStatus();
          const MutableBytes slot = slots.subspan(i * slot_size, CapacityFor(Block(i)));
          CAIRN_ASSIGN_OR_RETURN(sizes[i], EncodeBlock(i, probed.filtered, slot, own));
          return absl::OkStatus();
        }));
    full_ = std::ranges::all_of(sizes, [](size_t size) { return size == 0; });
    for (size_t i = 0; i < nblocks() && !full_; ++i) {
      const Bytes coded = slots.subspan(i * slot_size, sizes[i]);
      const bool fits = coded.size() <= Remaining().size();
      if (fits) CopyBytes(coded, Remaining());
      CAIRN_RETURN_IF_ERROR(Add(
          i, coded.empty() ? StoreBlock(i, Remaining(), workspace) : (fits ? coded.size() : 0)));
    }
    return absl::OkStatus();
  }

  const EncodeTools& tools_;
  Header header_;
  const Bytes src_;
  const std::span<const Bytes> vlblocks_;
  const MutableBytes dst_;
  size_t end_ = 0;     // of the bytes written so far
  bool full_ = false;  // dst is full, or nothing is worth writing
  std::vector<std::byte> dict_;
  std::vector<numbers::Column> chosen_;        // for all blocks; empty if each chooses by itself
  std::vector<std::atomic<Verdict>> leaders_;  // set in any thread; empty if there is one block
};

}  // namespace

absl::StatusOr<size_t> EncodeBlocks(const EncodeTools& tools, const Header& header, Bytes src,
                                    std::span<const Bytes> vlblocks, MutableBytes dst) {
  return EncodeJob(tools, header, src, vlblocks, dst).Run();
}

}  // namespace cairn::chunk

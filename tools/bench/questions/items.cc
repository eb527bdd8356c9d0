// Measures the time to read single items: anywhere, from blocks that were just read, and many at
// once.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/bare.h"
#include "tools/bench/contestants/blosc2_reader.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr size_t kItemSize = 8;  // of data A

CompressionOptions ItemCompression(int32_t blocksize) {
  CompressionOptions options;
  options.typesize = kItemSize;
  options.blocksize = blocksize;
  return options;
}

// A frame on disk and the blocks of its chunks, taken apart for the bare codec.
class ItemFrame {
 public:
  static absl::StatusOr<std::unique_ptr<ItemFrame>> Make(const std::string& path, int32_t chunksize,
                                                         int32_t blocksize, int64_t nchunks) {
    CreateOptions options;
    options.compression = ItemCompression(blocksize);
    options.chunksize = chunksize;
    options.overwrite = true;
    ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, options));
    DataSource source(DataSet::kA, static_cast<size_t>(chunksize));
    for (int64_t i = 0; i < nchunks; ++i) {
      RETURN_IF_ERROR(writer.Append(source.Next()));
    }
    RETURN_IF_ERROR(writer.Close());
    ASSIGN_OR_RETURN(Frame frame, Frame::Open(path));
    auto made = std::unique_ptr<ItemFrame>(new ItemFrame(path, frame.snapshot()));
    if (!HaveKernels()) return made;
    ASSIGN_OR_RETURN(BareCodec codec, BareCodec::Make(options.compression));
    made->bare_ = std::make_unique<BareCodec>(std::move(codec));
    for (int64_t i = 0; i < nchunks; ++i) {
      ASSIGN_OR_RETURN(Chunk chunk, made->snapshot_.GetChunk(i));
      ASSIGN_OR_RETURN(std::vector<StoredBlock> blocks, TakeApart(chunk.bytes()));
      made->chunks_.push_back(std::move(chunk));
      made->blocks_.insert(made->blocks_.end(), blocks.begin(), blocks.end());
    }
    made->raw_.resize(made->blocks_.front().nbytes);
    return made;
  }
  ~ItemFrame() { RemoveStore(path_); }

  const std::string& path() const { return path_; }
  const Snapshot& snapshot() const { return snapshot_; }
  int64_t nitems() const { return snapshot_.info().nitems; }
  bool has_limit() const { return bare_ != nullptr; }
  int64_t BlockOf(int64_t item) const {
    return item * int64_t{kItemSize} / static_cast<int64_t>(raw_.size());
  }

  // Decodes a block with the bare codec, unless it was the last one.
  absl::Status Decode(int64_t block) {
    return bare_->Decode({&blocks_[static_cast<size_t>(block)], 1}, raw_);
  }
  void Take(int64_t item, MutableBytes dst) const {
    std::memcpy(dst.data(), raw_.data() + static_cast<size_t>(item) * kItemSize % raw_.size(),
                kItemSize);
  }

 private:
  ItemFrame(std::string path, Snapshot snapshot)
      : path_(std::move(path)), snapshot_(std::move(snapshot)) {}

  std::string path_;
  Snapshot snapshot_;
  std::unique_ptr<BareCodec> bare_;
  std::vector<Chunk> chunks_;
  std::vector<StoredBlock> blocks_;
  std::vector<std::byte> raw_;
};

std::vector<int64_t> RandomItems(int64_t count, int64_t nitems, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> items(static_cast<size_t>(count));
  for (int64_t& item : items) item = static_cast<int64_t>(random() % nitems);
  return items;
}

absl::Status ReadEach(const Snapshot& snapshot, const std::vector<int64_t>& items) {
  std::byte item[kItemSize];
  absl::Status status;
  for (const int64_t number : items) status.Update(snapshot.ReadItems(number, MutableBytes(item)));
  return status;
}

absl::Status CompareSingle(Session& session, int32_t blocksize, int64_t reads) {
  constexpr int32_t kChunk = 1 << 20;
  ASSIGN_OR_RETURN(auto made, ItemFrame::Make(session.PathFor("items"), kChunk, blocksize, 200));
  ItemFrame& frame = *made;
  const std::string where =
      absl::StrCat(", 1 MiB chunks, blocks of ", blocksize / 1024, " KiB, data A, LZ4-5 + shuffle");

  const std::vector<int64_t> items = RandomItems(reads, frame.nitems(), 7);
  Contest random({.text = "random item" + where, .ops = reads});
  if (frame.has_limit()) {
    random.Add("limit: decode its block", [&] {
      std::byte item[kItemSize];
      absl::Status status;
      for (const int64_t number : items) {
        status.Update(frame.Decode(frame.BlockOf(number)));
        frame.Take(number, item);
      }
      return status;
    });
  }
  // A handle that has seen nothing yet, so that fingerprints and blocks are all touched for the
  // first time.
  std::optional<Snapshot> fresh;
  random.Add(
      "Cairn", [&] { return ReadEach(*fresh, items); },
      [&]() -> absl::Status {
        absl::StatusOr<Frame> opened = Frame::Open(frame.path());
        if (opened.ok()) fresh = opened->snapshot();
        return opened.status();
      });
  random.Add("Cairn, chunks checked before", [&] { return ReadEach(frame.snapshot(), items); });
#ifdef CAIRN_HAVE_BLOSC2
  Blosc2Reader peer(frame.path());
  random.Add("C-Blosc2", [&] {
    std::byte item[kItemSize];
    absl::Status status;
    for (const int64_t number : items) status.Update(peer.ReadItem(number, item));
    return status;
  });
#endif
  absl::StatusOr<Result> result = random.Run(session.rounds);
  if (!result.ok()) return result.status();
  session.report.Add(*std::move(result));

  constexpr int64_t kHits = 20'000;
  std::vector<int64_t> near = RandomItems(kHits, blocksize / static_cast<int64_t>(kItemSize), 8);
  for (size_t i = 0; i < near.size(); ++i) {
    near[i] += static_cast<int64_t>(i % 4) * kChunk / static_cast<int64_t>(kItemSize);
  }
  Contest hits({.text = "item of one of four blocks" + where, .ops = kHits});
  hits.Add("Cairn, kept blocks", [&] { return ReadEach(frame.snapshot(), near); });
  result = hits.Run(session.rounds);
  if (!result.ok()) return result.status();
  session.report.Add(*std::move(result));
  return absl::OkStatus();
}

absl::Status CompareGather(Session& session) {
  constexpr int64_t kItems = 1000;
  ASSIGN_OR_RETURN(auto made, ItemFrame::Make(session.PathFor("gather"), 4096, 0, 10'000));
  ItemFrame& frame = *made;
  std::vector<std::vector<int64_t>> sets;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    sets.push_back(RandomItems(kItems, frame.nitems(), seed));
  }
  std::vector<std::byte> out(kItems * kItemSize);
  const auto place = [&](size_t i) { return MutableBytes(out).subspan(i * kItemSize, kItemSize); };

  Contest contest({.text = "gather 1,000 random items, 4 KiB chunks, data A, 10000 chunks",
                   .ops = kItems * static_cast<int64_t>(sets.size())});
  if (frame.has_limit()) {
    contest.Add("limit: sort, decode each block once", [&] {
      absl::Status status;
      for (const std::vector<int64_t>& items : sets) {
        std::vector<std::pair<int64_t, size_t>> order;
        for (size_t i = 0; i < items.size(); ++i) order.emplace_back(items[i], i);
        std::ranges::sort(order);
        int64_t decoded = -1;
        for (const auto& [item, i] : order) {
          const int64_t block = frame.BlockOf(item);
          if (block != decoded) status.Update(frame.Decode(block));
          decoded = block;
          frame.Take(item, place(i));
        }
      }
      return status;
    });
  }
  contest.Add("Cairn, ReadItemsAt", [&] {
    absl::Status status;
    for (const auto& items : sets) status.Update(frame.snapshot().ReadItemsAt(items, out));
    return status;
  });
#ifdef CAIRN_HAVE_BLOSC2
  Blosc2Reader peer(frame.path());
  contest.Add("C-Blosc2, item by item", [&] {
    absl::Status status;
    for (const auto& items : sets) {
      for (size_t i = 0; i < items.size(); ++i) status.Update(peer.ReadItem(items[i], place(i)));
    }
    return status;
  });
#endif
  ASSIGN_OR_RETURN(Result result, contest.Run(session.rounds));
  session.report.Add(std::move(result));
  return absl::OkStatus();
}

absl::Status RunItems(Session& session) {
  if (!HaveKernels()) session.report.Note("no limit: it needs the kernels of C-Blosc2");
  for (const auto& [blocksize, reads] :
       {std::pair<int32_t, int64_t>{512 << 10, 400}, {64 << 10, 4000}, {16 << 10, 10'000}}) {
    RETURN_IF_ERROR(CompareSingle(session, blocksize, reads));
  }
  return CompareGather(session);
}

}  // namespace

void AddItems(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("items", "Single items of a warm frame");
  command->callback([&session] { session.run = [&session] { return RunItems(session); }; });
}

}  // namespace cairn::bench

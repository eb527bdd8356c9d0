#include "tests/concurrency/saver.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/status.h"
#include "tests/concurrency/author.h"
#include "tests/concurrency/ledger.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {

namespace {

using Items = std::vector<int64_t>;

// Long enough for checkpoints, compactions and a few hundred chunks.
constexpr int64_t kMostSaved = 300 * kChunkItems;
constexpr int64_t kMostSteps = 200;

class Saver {
 public:
  Saver(const std::string& folder, Layout layout, uint64_t seed)
      : path_(folder + "/frame"),
        saved_(folder + "/saved"),
        layout_(layout),
        seed_(seed),
        random_(seed) {}

  absl::Status SaveOne() {
    CAIRN_RETURN_IF_ERROR(Annotate(Make(), "make"));
    CAIRN_RETURN_IF_ERROR(Annotate(ReadFromBuffer(), "buffer"));
    if (layout_ == Layout::kContiguous) {
      RuinHeader();
      CAIRN_RETURN_IF_ERROR(Annotate(SalvageAll(), "salvage"));
    }
    CAIRN_RETURN_IF_ERROR(Annotate(Restore(), "recover"));
    for (const std::string& path : {path_, saved_}) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Make() {
    CreateOptions options = LedgerOptions(layout_);
    options.file_system = Unowned(&files_);
    CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Create(path_, options));
    Author author(&frame, {.path = path_,
                           .file_system = Unowned(&files_),
                           .most_items = kMostSaved,
                           .seed = ++seed_});
    CAIRN_RETURN_IF_ERROR(author.Begin());
    for (int64_t step = static_cast<int64_t>(random_() % kMostSteps); step > 0; --step) {
      CAIRN_RETURN_IF_ERROR(author.Step());
    }
    CAIRN_RETURN_IF_ERROR(author.End());
    ledger_ = author.committed();
    return absl::OkStatus();
  }

  absl::Status Check(const Frame& frame) const {
    CAIRN_ASSIGN_OR_RETURN(const Ledger ledger, CheckWholeLedger(frame.snapshot()));
    return ledger == ledger_ ? absl::OkStatus() : absl::DataLossError("another ledger");
  }

  absl::Status ReadFromBuffer() {
    CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path_));
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, frame.snapshot().ToBuffer());
    CAIRN_ASSIGN_OR_RETURN(const Frame buffer, Frame::OpenBuffer(bytes));
    return Check(buffer);
  }

  void RuinHeader() const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const std::array<char, 80> noise = {'r', 'u', 'i', 'n'};
    file.write(noise.data(), noise.size());
  }

  // Every chunk is there, perhaps beside older ones.
  absl::Status SalvageAll() {
    CAIRN_RETURN_IF_ERROR(Salvage(path_, saved_).status());
    CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(saved_));
    const Snapshot snapshot = frame.snapshot();
    std::set<Items> chunks;
    for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
      CAIRN_ASSIGN_OR_RETURN(const int32_t size, snapshot.ChunkNbytes(i));
      Items chunk(static_cast<size_t>(size) / sizeof(int64_t));
      CAIRN_RETURN_IF_ERROR(snapshot.ReadChunk(i, std::as_writable_bytes(std::span(chunk))));
      chunks.insert(std::move(chunk));
    }
    for (int64_t begin = kChunkItems; begin < ledger_.nitems; begin += kChunkItems) {
      if (!chunks.contains(ledger_.Items(begin, std::min(begin + kChunkItems, ledger_.nitems)))) {
        return absl::DataLossError(absl::StrFormat("chunk %d is missing", begin / kChunkItems));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Restore() {
    CAIRN_ASSIGN_OR_RETURN(const RecoveryReport report,
                           Recover(path_, {.file_system = Unowned(&files_)}));
    if (report.header_restored != (layout_ == Layout::kContiguous)) {
      return absl::InternalError("not the header that was ruined");
    }
    CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path_));
    return Check(frame);
  }

  const std::string path_;
  const std::string saved_;
  const Layout layout_;
  uint64_t seed_;
  std::mt19937_64 random_;
  UnsyncedFileSystem files_;
  Ledger ledger_;
};

}  // namespace

absl::Status SaveFramesUntilDone(const NoticeBoard& board, const std::string& folder, Layout layout,
                                 uint64_t seed) {
  Saver saver(folder, layout, seed);
  while (!board->writers_done) {
    CAIRN_RETURN_IF_ERROR(saver.SaveOne());
    ++board->steps;
  }
  return absl::OkStatus();
}

}  // namespace cairn::test

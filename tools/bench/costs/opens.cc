// Measures opening a frame, and following its writer.

#include <memory>
#include <string>
#include <utility>

#include "cairn/frame.h"
#include "tools/bench/costs/frames.h"
#include "tools/bench/costs/operation.h"
#include "tools/status.h"

namespace cairn::bench {
namespace {

constexpr int32_t kChunk = 4096;

Steps OpenEachTime(const std::string& path) {
  return {[path](int64_t) { return Frame::Open(path).status(); }};
}

absl::StatusOr<Steps> OpenSealed(const std::string& folder) {
  const std::string path = folder + "/sealed";
  RETURN_IF_ERROR(MakeFrame(path, DataSet::kA, kChunk, 1000));
  return OpenEachTime(path);
}

// The writer stays open, because it writes a checkpoint when it closes.
absl::StatusOr<Steps> OpenBehindCommits(const std::string& folder) {
  const std::string path = folder + "/behind";
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, FrameOf(DataSet::kA, kChunk)));
  ASSIGN_OR_RETURN(Writer opened, frame.OpenWriter());
  const auto writer = std::make_shared<Writer>(std::move(opened));
  DataSource source(DataSet::kA, kChunk);
  for (int i = 0; i < 1000; ++i) {
    RETURN_IF_ERROR(writer->Append(source.Next()));
    RETURN_IF_ERROR(writer->Commit(Durability::kProcess).status());
  }
  return Steps{[path, writer](int64_t) { return Frame::Open(path).status(); }};
}

absl::StatusOr<Steps> OpenFrameOfC(const std::string&) {
  return OpenEachTime(CAIRN_FRAME_OF_C_BLOSC2);
}

// A frame, its writer, and a reader that follows it.
struct Followed {
  Frame frame;
  Writer writer;
  Frame reader;
  DataSource source = DataSource(DataSet::kA, kChunk);
};

absl::StatusOr<std::shared_ptr<Followed>> Follow(const std::string& folder) {
  const std::string path = folder + "/followed";
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, FrameOf(DataSet::kA, kChunk)));
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  ASSIGN_OR_RETURN(Frame reader, Frame::Open(path));
  return std::make_shared<Followed>(
      Followed{std::move(frame), std::move(writer), std::move(reader)});
}

absl::StatusOr<Steps> RefreshWithoutNews(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto followed, Follow(folder));
  return Steps{[followed](int64_t) { return followed->reader.Refresh().status(); }};
}

absl::StatusOr<Steps> RefreshWithACommit(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto followed, Follow(folder));
  return Steps{.counted = [followed](int64_t) { return followed->reader.Refresh().status(); },
               .before = [followed](int64_t) -> absl::Status {
                 RETURN_IF_ERROR(followed->writer.Append(followed->source.Next()));
                 return followed->writer.Commit(Durability::kProcess).status();
               }};
}

}  // namespace

std::vector<Operation> OpenOperations() {
  return {{"open, sealed", 200, OpenSealed},
          {"open, behind 1,000 commits", 20, OpenBehindCommits},
          {"open, as C-Blosc2 wrote it", 200, OpenFrameOfC},
          {"refresh without news", 1000, RefreshWithoutNews},
          {"refresh with a commit", 30, RefreshWithACommit}};
}

}  // namespace cairn::bench

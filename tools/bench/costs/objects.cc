// Measures frames in an object store in memory.

#include <memory>
#include <string>
#include <utility>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "tools/bench/costs/frames.h"
#include "tools/bench/costs/operation.h"
#include "tools/status.h"

namespace cairn::bench {
namespace {

constexpr int32_t kChunk = 4096;

struct Stored {
  std::shared_ptr<FileSystem> files;
  std::shared_ptr<FileSystem> other_files;
  Frame frame;
  Writer writer;
  Frame reader;
  DataSource source = DataSource(DataSet::kA, kChunk);

  absl::Status AppendAndCommit() {
    RETURN_IF_ERROR(writer.Append(source.Next()));
    return writer.Commit().status();
  }
};

absl::StatusOr<std::shared_ptr<Stored>> Store() {
  const std::shared_ptr<ObjectStore> store = MakeMemoryObjectStore();
  std::shared_ptr<FileSystem> files = MakeObjectFileSystem(store);
  std::shared_ptr<FileSystem> other_files = MakeObjectFileSystem(store);
  CreateOptions options = FrameOf(DataSet::kA, kChunk);
  options.layout = Layout::kSparse;
  options.file_system = files;
  ASSIGN_OR_RETURN(Frame frame, Frame::Create("frame", options));
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  ASSIGN_OR_RETURN(Frame reader, Frame::Open("frame", {.file_system = other_files}));
  return std::make_shared<Stored>(Stored{std::move(files), std::move(other_files), std::move(frame),
                                         std::move(writer), std::move(reader)});
}

absl::StatusOr<Steps> Commit(const std::string&) {
  ASSIGN_OR_RETURN(const auto stored, Store());
  return Steps{[stored](int64_t) { return stored->AppendAndCommit(); }};
}

absl::StatusOr<Steps> Refresh(const std::string&) {
  ASSIGN_OR_RETURN(const auto stored, Store());
  return Steps{.counted = [stored](int64_t) { return stored->reader.Refresh().status(); },
               .before = [stored](int64_t) { return stored->AppendAndCommit(); }};
}

}  // namespace

std::vector<Operation> ObjectOperations() {
  return {{"object store: append and commit", 100, Commit},
          {"object store: refresh with a commit", 30, Refresh}};
}

}  // namespace cairn::bench

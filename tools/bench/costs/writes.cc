// Measures edits of a frame, and their commits.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tools/bench/costs/frames.h"
#include "tools/bench/costs/operation.h"
#include "tools/status.h"

namespace cairn::bench {
namespace {

constexpr int32_t kChunk = 4096;
constexpr int64_t kChunks = 1000;

struct Edited {
  Frame frame;
  Writer writer;
  DataSource source = DataSource(DataSet::kA, kChunk, 2);
};

// Edits a frame of kChunks chunks by one writer, which has committed once.
Operation Edit(const std::string& name, int64_t times,
               absl::Status (*edit)(Edited&, int64_t number)) {
  return {
      name, times, [=](const std::string& folder) -> absl::StatusOr<Steps> {
        const std::string path = folder + "/edited";
        RETURN_IF_ERROR(MakeFrame(path, DataSet::kA, kChunk, kChunks));
        ASSIGN_OR_RETURN(Frame frame, Frame::Open(path));
        ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
        const auto edited = std::make_shared<Edited>(Edited{std::move(frame), std::move(writer)});
        RETURN_IF_ERROR(edited->writer.Append(edited->source.Next()));
        RETURN_IF_ERROR(edited->writer.Commit(Durability::kProcess).status());
        return Steps{[=](int64_t number) { return edit(*edited, number); }};
      }};
}

absl::Status Commit(Edited& edited) { return edited.writer.Commit(Durability::kProcess).status(); }

absl::Status AppendOfAThousand(Edited& edited, int64_t number) {
  RETURN_IF_ERROR(edited.writer.Append(edited.source.Next()));
  return number % 1000 == 0 ? Commit(edited) : absl::OkStatus();
}

absl::Status Append(Edited& edited, int64_t) {
  RETURN_IF_ERROR(edited.writer.Append(edited.source.Next()));
  return Commit(edited);
}

absl::Status AppendDurably(Edited& edited, int64_t) {
  RETURN_IF_ERROR(edited.writer.Append(edited.source.Next()));
  return edited.writer.Commit().status();
}

absl::Status Update(Edited& edited, int64_t number) {
  RETURN_IF_ERROR(edited.writer.UpdateChunk(number * 7919 % kChunks, edited.source.Next()));
  return Commit(edited);
}

absl::Status Insert(Edited& edited, int64_t number) {
  RETURN_IF_ERROR(edited.writer.InsertChunk(number * 7919 % kChunks, edited.source.Next()));
  return Commit(edited);
}

absl::Status Delete(Edited& edited, int64_t number) {
  RETURN_IF_ERROR(edited.writer.DeleteChunks(number * 7919 % (kChunks + 1 - number), 1));
  return Commit(edited);
}

absl::Status SetVlmetalayer(Edited& edited, int64_t number) {
  const std::string text = absl::StrCat("the layer of operation ", number);
  RETURN_IF_ERROR(edited.writer.SetVlmetalayer("layer", std::as_bytes(std::span(text))));
  return Commit(edited);
}

absl::Status CheckpointVlmetalayer(Edited& edited, int64_t number) {
  RETURN_IF_ERROR(SetVlmetalayer(edited, number));
  return edited.writer.Checkpoint();
}

absl::Status SuspendAndResume(Edited& edited, int64_t) {
  RETURN_IF_ERROR(edited.writer.Suspend());
  return edited.writer.Resume();
}

}  // namespace

std::vector<Operation> WriteOperations() {
  return {Edit("append, a commit each 1,000", 2000, AppendOfAThousand),
          Edit("append and commit", 1000, Append),
          Edit("append and commit durably", 200, AppendDurably),
          Edit("update and commit", 2000, Update),
          Edit("insert and commit", 2000, Insert),
          Edit("delete and commit", 800, Delete),
          Edit("vlmetalayer and commit", 500, SetVlmetalayer),
          Edit("vlmetalayer and checkpoint", 100, CheckpointVlmetalayer),
          Edit("suspend and resume", 500, SuspendAndResume)};
}

}  // namespace cairn::bench

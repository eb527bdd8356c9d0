// Appends a stream whose items arrive slowly, and commits them as they come.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_APPEND_BATCHES_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_APPEND_BATCHES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "tools/cairn/io/io.h"

namespace cairn::tool {

struct BatchOptions {
  int32_t items = 1;  // items of one commit
  Durability durability = Durability::kMachine;
  bool ack = false;  // prints each commit on standard output
};

class BatchAppender {
 public:
  // `info` is the newest state of the frame. The writer must stay in place.
  BatchAppender(Writer& writer, const FrameInfo& info, const BatchOptions& options);

  // Commits each batch when its last item has arrived, and the rest at the end. Other writers that
  // wait get the frame between two commits. Closes the writer and returns the bytes that it
  // appended. Errors: kDataLoss, after all of that, for an input that ends within an item.
  absl::StatusOr<int64_t> Run(Input& input);

 private:
  absl::Status CheckSize() const;
  absl::StatusOr<size_t> TakeAll(Input& input);
  size_t WholeItems(size_t nbytes) const;
  absl::Status Take(Bytes items);
  absl::Status Stage(Bytes items);
  absl::Status Commit();
  absl::Status LetOthersWrite();
  absl::Status Acknowledge(int64_t items) const;

  Writer& writer_;
  BatchOptions options_;
  int64_t typesize_;
  bool variable_;  // each batch becomes one chunk
  // the chunk of a frame of variable chunks, as far as it has arrived
  std::vector<std::byte> chunk_;
  // These count from the begin of the input, because the frame may claim to hold any number.
  int64_t taken_ = 0;      // bytes
  int64_t committed_ = 0;  // committed bytes
  int64_t left_;           // bytes until the next commit, which is at the end of an item
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_STREAMS_APPEND_BATCHES_H_

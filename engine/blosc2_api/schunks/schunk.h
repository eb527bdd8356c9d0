// Super-chunks: what the parts of the interface share that know of them.
#ifndef CAIRN_ENGINE_BLOSC2_API_SCHUNKS_SCHUNK_H_
#define CAIRN_ENGINE_BLOSC2_API_SCHUNKS_SCHUNK_H_

#include <memory>

#include "cairn/snapshot.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/schunks/schunk_reader.h"  // IWYU pragma: export

namespace cairn::blosc2_api {

struct FreeSchunk {
  void operator()(blosc2_schunk* schunk) const { blosc2_schunk_free(schunk); }
};
using SchunkPtr = std::unique_ptr<blosc2_schunk, FreeSchunk>;

// Makes a super-chunk with copies of the storage's parameters, and contexts for them, without a
// store. Returns null if the parameters are wrong.
SchunkPtr MakeSchunk(const blosc2_storage& storage);
// Makes one with the parameters, the counters and the metalayers of a frame. `io` may be null.
SchunkPtr MakeSchunk(const Snapshot& snapshot, const char* urlpath, const blosc2_io* io);

// Makes a view show the chunks and the vlmetalayers that its owner has now. Its shape and its
// number of chunks stay.
void ShareContent(blosc2_schunk& view);

// Makes all edits of the store within its life one, which others see at once. Before the first one
// the super-chunk takes over what others have changed. Does nothing for super-chunks that have no
// file.
class EditBatch {
 public:
  explicit EditBatch(blosc2_schunk& schunk);
  EditBatch(const EditBatch&) = delete;
  EditBatch& operator=(const EditBatch&) = delete;
  ~EditBatch();
  // Returns 0, or an error code if the newest state cannot be edited.
  int code() const { return code_; }
  // Ends the batch. Returns 0 or an error code.
  int End();

 private:
  blosc2_frame_s* frame_;
  int code_ = BLOSC2_ERROR_SUCCESS;
};

// Adds a metalayer to the arrays of the super-chunk, without its store. Returns its number or an
// error code.
int AddMetalayer(blosc2_schunk& schunk, const char* name, Bytes content);
int AddVlmetalayer(blosc2_schunk& schunk, const char* name, Bytes content);
// Frees layers, and forgets them.
void FreeLayers(blosc2_metalayer** layers, int count);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_SCHUNKS_SCHUNK_H_

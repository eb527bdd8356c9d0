// Makes chunks.
#ifndef CAIRN_ENGINE_CHUNK_ENCODER_H_
#define CAIRN_ENGINE_CHUNK_ENCODER_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/chunk/header.h"
#include "engine/chunk/workspace.h"
#include "engine/filter/pipeline.h"

namespace cairn::chunk {

// Makes chunks with one set of options. Thread-safe. The bytes of a chunk depend on the options and
// the payload alone, never on the executor or on earlier calls.
class Encoder {
 public:
  // A copy of the pipeline would refer to the options of the original.
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  Encoder(Encoder&&) = default;
  Encoder& operator=(Encoder&&) = default;

  // Makes an encoder. `pool` must outlive it. Errors: kInvalidArgument for options that are not
  // allowed; kUnimplemented for a codec or filter that is not available.
  static absl::StatusOr<Encoder> Make(CompressionOptions options, WorkspacePool* pool);

  const CompressionOptions& options() const { return options_; }

  // The form that Encode gives to a payload of zeros.
  enum class Zeros {
    kSpecial,  // a special chunk without blocks
    kBlocks,   // blocks of runs, for places where special chunks are not allowed
  };

  // Compresses src into dst and returns the chunk's size, at most src.size() + header size. Errors:
  // kResourceExhausted if dst is too small.
  absl::StatusOr<size_t> Encode(Bytes src, MutableBytes dst, Zeros zeros = Zeros::kSpecial) const;
  // Makes a chunk with one block for each span.
  absl::StatusOr<size_t> EncodeVlBlocks(std::span<const Bytes> blocks, MutableBytes dst) const;
  // Makes a chunk without data. For kRepeat, `value` is repeated.
  absl::StatusOr<std::vector<std::byte>> EncodeSpecial(SpecialValue special, int32_t nbytes,
                                                       Bytes value) const;

 private:
  Encoder(CompressionOptions options, filter::Pipeline pipeline, WorkspacePool* pool)
      : options_(std::move(options)), pipeline_(std::move(pipeline)), pool_(pool) {}

  // Returns the header of a chunk that is coded with these options. The caller sets all sizes
  // except nbytes.
  Header NewHeader(int32_t nbytes) const;
  // Lets the program's hook make the blocks that are compressed.
  absl::Status RunHook(const Header& header, Bytes src, MutableBytes made,
                       Workspace& workspace) const;
  // Encodes the bytes as they are.
  absl::StatusOr<size_t> EncodePlain(Header header, Bytes src, MutableBytes dst, Zeros zeros) const;

  CompressionOptions options_;
  filter::Pipeline pipeline_;  // refers to the blockshape in options_, which a move keeps in place
  WorkspacePool* pool_;
};

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_ENCODER_H_

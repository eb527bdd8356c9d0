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
  // kInvalidArgument for options that cannot be, kUnimplemented for a codec or filter that is not
  // there. `pool` must outlive the encoder.
  static absl::StatusOr<Encoder> Make(const CompressionOptions& options, WorkspacePool* pool);

  const CompressionOptions& options() const { return options_; }

  // What Encode does with a payload of nothing but zeros.
  enum class Zeros {
    kSpecial,  // a special chunk without blocks
    kBlocks,   // blocks of runs, for places where special chunks are not allowed
  };

  // Compresses src into dst and returns the chunk's size, at most src.size() + header size.
  // kResourceExhausted when dst is too small.
  absl::StatusOr<size_t> Encode(Bytes src, MutableBytes dst, Zeros zeros = Zeros::kSpecial) const;
  // One block for each span.
  absl::StatusOr<size_t> EncodeVlBlocks(std::span<const Bytes> blocks, MutableBytes dst) const;
  // A chunk without data. For kRepeat, `value` is what repeats.
  absl::StatusOr<std::vector<std::byte>> EncodeSpecial(SpecialValue special, int32_t nbytes,
                                                       Bytes value) const;

 private:
  Encoder(const CompressionOptions& options, filter::Pipeline pipeline, WorkspacePool* pool)
      : options_(options), pipeline_(std::move(pipeline)), pool_(pool) {}

  // The header of a chunk that is coded with these options; sizes but nbytes are still to be set.
  Header NewHeader(int32_t nbytes) const;

  CompressionOptions options_;
  filter::Pipeline pipeline_;
  WorkspacePool* pool_;
};

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_ENCODER_H_

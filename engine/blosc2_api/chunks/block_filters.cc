#include "engine/blosc2_api/chunks/block_filters.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "absl/status/status.h"

#include "engine/base/bytes.h"
#include "engine/blosc2_api/chunks/context.h"

namespace cairn::blosc2_api {

namespace {

// C-Blosc2 gives each thread the room of four blocks whose streams are stored as they are.
size_t ScratchSize(size_t block, int32_t typesize) {
  return 4 * (block + static_cast<size_t>(typesize) * sizeof(int32_t));
}

class Prefilter final : public BlockHook {
 public:
  explicit Prefilter(blosc2_context& context) : context_(context) {}

  absl::Status Run(const BlockCall& call, Bytes src, MutableBytes dst) const override {
    blosc2_prefilter_params params = context_.preparams;
    const ThreadSlots::Lease thread = context_.slots.Acquire();
    const MutableBytes scratch = thread.Memory(ScratchSize(dst.size(), call.typesize));
    // Bytes that the function leaves out are zero, and never what the memory held before.
    FillBytes(dst, std::byte{0});
    params.input = reinterpret_cast<const uint8_t*>(src.data());
    params.output = reinterpret_cast<uint8_t*>(dst.data());
    params.output_size = static_cast<int32_t>(dst.size());
    if (params.output_typesize <= 0) params.output_typesize = call.typesize;
    params.output_offset = static_cast<int32_t>(call.begin);
    params.nchunk = CurrentChunk(context_.schunk());
    params.nblock = static_cast<int32_t>(call.block);
    params.tid = thread.number();
    params.ttmp = reinterpret_cast<uint8_t*>(scratch.data());
    params.ttmp_nbytes = scratch.size();
    params.ctx = &context_;
    if (context_.cparams.prefilter(&params) == 0 || params.output_is_disposable) {
      return absl::OkStatus();
    }
    return absl::InternalError("the prefilter failed");
  }

 private:
  blosc2_context& context_;
};

class Postfilter final : public BlockHook {
 public:
  Postfilter(blosc2_context& context, int64_t nchunk) : context_(context), nchunk_(nchunk) {}

  absl::Status Run(const BlockCall& call, Bytes src, MutableBytes dst) const override {
    blosc2_postfilter_params params = context_.postparams;
    const ThreadSlots::Lease thread = context_.slots.Acquire();
    const MutableBytes scratch = thread.Memory(ScratchSize(dst.size(), call.typesize));
    params.input = reinterpret_cast<const uint8_t*>(src.data());
    params.output = reinterpret_cast<uint8_t*>(dst.data());
    params.size = static_cast<int32_t>(dst.size());
    params.typesize = call.typesize;
    params.offset = static_cast<int32_t>(call.begin);
    params.nchunk = nchunk_;
    params.nblock = static_cast<int32_t>(call.block);
    params.tid = thread.number();
    params.ttmp = reinterpret_cast<uint8_t*>(scratch.data());
    params.ttmp_nbytes = scratch.size();
    params.ctx = &context_;
    if (context_.dparams.postfilter(&params) == 0) return absl::OkStatus();
    return absl::InternalError("the postfilter failed");
  }

 private:
  blosc2_context& context_;
  const int64_t nchunk_;
};

}  // namespace

int64_t CurrentChunk(blosc2_schunk* schunk) {
  if (schunk == nullptr) return -1;
  return std::atomic_ref(schunk->current_nchunk).load(std::memory_order_relaxed);
}

std::shared_ptr<const BlockHook> PrefilterOf(blosc2_context& context) {
  if (context.cparams.prefilter == nullptr) return nullptr;
  return std::make_shared<Prefilter>(context);
}

std::shared_ptr<const BlockHook> PostfilterOf(blosc2_context& context, int64_t nchunk) {
  if (context.dparams.postfilter == nullptr) return nullptr;
  return std::make_shared<Postfilter>(context, nchunk);
}

}  // namespace cairn::blosc2_api

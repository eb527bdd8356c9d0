// C-Blosc2: a contiguous frame on disk, read through its memory map.
#include <blosc2.h>
#include <utility>

#include "tools/bench/contestants/blosc2_params.h"
#include "tools/bench/contestants/peers.h"

namespace cairn::bench {

namespace {

absl::Status BloscFailed(const char* what) {
  return absl::InternalError(std::string("C-Blosc2: cannot ") + what);
}

class BloscStore final : public ChunkStore {
 public:
  BloscStore(blosc2_schunk* schunk, std::string path) : schunk_(schunk), path_(std::move(path)) {}
  ~BloscStore() override {
    if (reader_ != nullptr) blosc2_schunk_free(reader_);
    blosc2_schunk_free(schunk_);
  }

  absl::Status Append(Bytes raw) override {
    Changed();
    return blosc2_schunk_append_buffer(schunk_, raw.data(), static_cast<int32_t>(raw.size())) < 0
               ? BloscFailed("append")
               : absl::OkStatus();
  }

  absl::Status Update(int64_t nchunk, Bytes raw) override {
    Changed();
    std::vector<std::byte> chunk(raw.size() + BLOSC2_MAX_OVERHEAD);
    if (blosc2_compress_ctx(schunk_->cctx, raw.data(), static_cast<int32_t>(raw.size()),
                            chunk.data(), static_cast<int32_t>(chunk.size())) <= 0 ||
        blosc2_schunk_update_chunk(schunk_, nchunk, reinterpret_cast<uint8_t*>(chunk.data()),
                                   true) < 0) {
      return BloscFailed("update");
    }
    return absl::OkStatus();
  }

  // Every call above has already written everything.
  absl::Status Commit(Durability /*durability*/) override { return absl::OkStatus(); }

  absl::Status Read(int64_t nchunk, MutableBytes raw) override {
    if (reader_ == nullptr) {
      map_ = BLOSC2_STDIO_MMAP_DEFAULTS;
      blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .name = "mmap", .params = &map_};
      reader_ = blosc2_schunk_open_offset_udio(path_.c_str(), 0, &io);
      if (reader_ == nullptr) return BloscFailed("open");
    }
    return blosc2_schunk_decompress_chunk(reader_, nchunk, raw.data(),
                                          static_cast<int32_t>(raw.size())) == std::ssize(raw)
               ? absl::OkStatus()
               : BloscFailed("read");
  }

 private:
  void Changed() {
    if (reader_ == nullptr) return;
    blosc2_schunk_free(reader_);
    reader_ = nullptr;
  }

  blosc2_schunk* schunk_;
  std::string path_;
  blosc2_stdio_mmap map_ = {};
  blosc2_schunk* reader_ = nullptr;  // reads what is in the file now
};

absl::StatusOr<std::unique_ptr<ChunkStore>> MakeBloscStore(const StoreParams& params) {
  blosc2_init();
  blosc2_cparams cparams = CparamsOf(params.compression);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 1;
  std::string path = params.path;
  blosc2_storage storage = {.contiguous = true,
                            .urlpath = path.data(),
                            .cparams = &cparams,
                            .dparams = &dparams,
                            .io = nullptr};
  blosc2_schunk* const schunk = blosc2_schunk_new(&storage);
  if (schunk == nullptr) return BloscFailed("make a frame");
  return std::make_unique<BloscStore>(schunk, params.path);
}

}  // namespace

Engine BloscEngine() { return {.name = "C-Blosc2", .make = MakeBloscStore}; }

}  // namespace cairn::bench

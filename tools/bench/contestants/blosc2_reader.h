// Reads single items of a frame on disk with C-Blosc2, through its memory map.
#ifndef CAIRN_TOOLS_BENCH_CONTESTANTS_BLOSC2_READER_H_
#define CAIRN_TOOLS_BENCH_CONTESTANTS_BLOSC2_READER_H_

#ifdef CAIRN_HAVE_BLOSC2

#include <blosc2.h>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn::bench {

class Blosc2Reader {
 public:
  explicit Blosc2Reader(const std::string& path) {
    blosc2_init();
    blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .name = "mmap", .params = &map_};
    schunk_ = blosc2_schunk_open_offset_udio(path.c_str(), 0, &io);
  }
  ~Blosc2Reader() {
    if (schunk_ != nullptr) blosc2_schunk_free(schunk_);
  }
  Blosc2Reader(const Blosc2Reader&) = delete;
  Blosc2Reader& operator=(const Blosc2Reader&) = delete;

  absl::Status ReadItem(int64_t item, MutableBytes dst) {
    const bool good = schunk_ != nullptr &&
                      blosc2_schunk_get_slice_buffer(schunk_, item, item + 1, dst.data()) >= 0;
    return good ? absl::OkStatus() : absl::InternalError("C-Blosc2: cannot read an item");
  }

 private:
  blosc2_stdio_mmap map_ = BLOSC2_STDIO_MMAP_DEFAULTS;
  blosc2_schunk* schunk_ = nullptr;
};

}  // namespace cairn::bench

#endif  // CAIRN_HAVE_BLOSC2

#endif  // CAIRN_TOOLS_BENCH_CONTESTANTS_BLOSC2_READER_H_

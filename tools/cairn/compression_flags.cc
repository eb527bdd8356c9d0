#include "tools/cairn/compression_flags.h"

#include <utility>

#include "tools/cairn/filters.h"
#include "tools/cairn/flags.h"
#include "tools/cairn/words.h"

namespace cairn::tool {

void CompressionFlags::AddTo(CLI::App& app) {
  app.add_option("--codec", codec_, "blosclz, lz4, lz4hc, zlib or zstd")
      ->capture_default_str()
      ->check(CLI::IsMember(NamesOf(kCodecWords)))
      ->type_name("NAME");
  app.add_option("--level", level_, "0 stores, 1 is fastest, 9 is smallest")
      ->capture_default_str()
      ->check(CLI::Range(0, 9))
      ->type_name("0-9");
  app.add_option("--typesize", typesize_, "Bytes of one item")
      ->capture_default_str()
      ->check(CLI::Range(1, kMaxChunkBytes))
      ->type_name("N");
  AddByteSize(app, "--block-size", block_size_, 0, kMaxChunkBytes)
      ->description(
          "Bytes of one block, the unit of compression and of partial reads; 0 chooses [0]");
  app.add_option("--filters", filters_,
                 "Filters in the order in which they are applied, joined by commas: shuffle, "
                 "bitshuffle, delta, bytedelta[:N], trunc_prec:N, int_trunc:N, or an id[:N]; none "
                 "for no filter")
      ->capture_default_str()
      ->type_name("LIST");
  app.add_option("--split-mode", split_mode_,
                 "Compress each byte position of the items by itself: always, never, auto or "
                 "forward")
      ->capture_default_str()
      ->check(CLI::IsMember(NamesOf(kSplitModeWords)))
      ->type_name("MODE");
  app.add_flag("--dict", dict_, "Train a dictionary for each chunk (lz4, lz4hc and zstd)");
  AddThreads(app, threads_);
}

absl::StatusOr<CompressionOptions> CompressionFlags::Options() const {
  absl::StatusOr<std::vector<FilterStage>> filters = ParseFilters(filters_, typesize_);
  if (!filters.ok()) return filters.status();
  CompressionOptions options;
  options.codec = *FindWord(kCodecWords, codec_);
  options.clevel = level_;
  options.typesize = typesize_;
  options.blocksize = static_cast<int32_t>(block_size_);
  options.split_mode = *FindWord(kSplitModeWords, split_mode_);
  options.filters = *std::move(filters);
  options.use_dict = dict_;
  return options;
}

}  // namespace cairn::tool

#include "tools/cairn/flags/compression_flags.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "tools/cairn/flags/filters.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

bool TakesNoFilters(Codec codec) {
  return CodesNumbers(codec) || codec == Codec::kZfpAccuracy || codec == Codec::kZfpPrecision ||
         codec == Codec::kZfpRate;
}

}  // namespace

void CompressionFlags::AddTo(CLI::App& app, Absent absent) {
  const CompressionOptions defaults;
  const auto tell_default = [absent](CLI::Option* option, const std::string& value) {
    if (absent == Absent::kDefault) option->default_str(value);
  };
  tell_default(app.add_option("--codec", codec_,
                              "blosclz, lz4, lz4hc, zlib or zstd; pco or bitpack for numbers; auto "
                              "chooses for each column; for arrays also "
                              "ndlz, zfp_acc, zfp_prec or zfp_rate")
                   ->check(CLI::IsMember(NamesOf(kCodecWords)))
                   ->type_name("NAME"),
               NameOf(kCodecWords, defaults.codec));
  tell_default(
      AddNumber(app, "--codec-meta", codec_meta_, -128, 255)
          ->description("ndlz: side of a cell, 4 or 8; zfp_acc: exponent to base 10 of "
                        "the largest error; zfp_prec: bit planes; zfp_rate: per cent; pco, "
                        "bitpack, auto: 1 unsigned, 2 signed, 3 float, 0 not known"),
      absl::StrCat(defaults.codec_meta));
  tell_default(AddNumber(app, "--level", level_, 0, 9)
                   ->description("0 stores, 1 is fastest, 9 is smallest")
                   ->type_name("0-9"),
               absl::StrCat(defaults.clevel));
  tell_default(
      AddNumber(app, "--typesize", typesize_, 1, kMaxChunkBytes)->description("Bytes of one item"),
      absl::StrCat(defaults.typesize));
  tell_default(AddByteSize(app, "--block-size", block_size_, 0, kMaxChunkBytes)
                   ->description("Bytes of one block, the unit of compression and of partial "
                                 "reads; 0 chooses"),
               absl::StrCat(defaults.blocksize));
  tell_default(
      app.add_option(
             "--filters", filters_,
             "Filters in the order in which they are applied, joined by commas: shuffle, "
             "bitshuffle, delta, bytedelta[:N], trunc_prec:N, int_trunc:N, ndcell:N, ndmean:N, or "
             "an id[:N]; none for no filter")
          ->type_name("LIST"),
      FormatFilters(defaults.filters));
  tell_default(app.add_option("--split-mode", split_mode_,
                              "Compress each byte position of the items separately: always, never, "
                              "auto or forward")
                   ->check(CLI::IsMember(NamesOf(kSplitModeWords)))
                   ->type_name("MODE"),
               NameOf(kSplitModeWords, defaults.split_mode));
  app.add_flag("--dict", dict_, "Train a dictionary for each chunk (lz4, lz4hc and zstd)");
  AddThreads(app, threads_);
}

bool CompressionFlags::given() const {
  return codec_ || codec_meta_ || level_ || typesize_ || block_size_ || filters_ || split_mode_ ||
         dict_;
}

absl::StatusOr<CompressionOptions> CompressionFlags::Over(CompressionOptions base) const {
  if (codec_) {
    base.codec = *FindWord(kCodecWords, *codec_);
    // Both belong to the old codec.
    base.codec_meta = 0;
    base.use_dict = false;
    if (TakesNoFilters(base.codec)) {
      // Both would take the numbers apart.
      base.filters.clear();
      if (base.split_mode == SplitMode::kAlways) base.split_mode = SplitMode::kNever;
    }
  }
  if (codec_meta_) base.codec_meta = static_cast<uint8_t>(*codec_meta_);
  if (level_) base.clevel = *level_;
  if (typesize_) base.typesize = *typesize_;
  if (block_size_) base.blocksize = static_cast<int32_t>(*block_size_);
  if (split_mode_) base.split_mode = *FindWord(kSplitModeWords, *split_mode_);
  if (dict_) base.use_dict = true;
  if (filters_) {
    ASSIGN_OR_RETURN(std::vector<FilterStage> filters, ParseFilters(*filters_, base.typesize));
    base.filters = std::move(filters);
  }
  return base;
}

}  // namespace cairn::tool

// Converts Cairn's options to those of C-Blosc2.
#ifndef CAIRN_TOOLS_BENCH_CONTESTANTS_BLOSC2_PARAMS_H_
#define CAIRN_TOOLS_BENCH_CONTESTANTS_BLOSC2_PARAMS_H_

#ifdef CAIRN_HAVE_BLOSC2

#include <blosc2.h>

#include "cairn/options.h"

namespace cairn::bench {

// Returns parameters for one thread.
inline blosc2_cparams CparamsOf(const CompressionOptions& options) {
  blosc2_cparams params = BLOSC2_CPARAMS_DEFAULTS;
  params.compcode = static_cast<uint8_t>(options.codec);
  params.clevel = static_cast<uint8_t>(options.clevel);
  params.typesize = options.typesize;
  params.blocksize = options.blocksize;
  params.nthreads = 1;
  params.splitmode = static_cast<int32_t>(options.split_mode);
  for (uint8_t& filter : params.filters) filter = BLOSC_NOFILTER;
  size_t slot = BLOSC2_MAX_FILTERS - options.filters.size();
  for (const FilterStage& stage : options.filters) {
    params.filters[slot] = static_cast<uint8_t>(stage.filter);
    params.filters_meta[slot++] = stage.meta;
  }
  return params;
}

}  // namespace cairn::bench

#endif  // CAIRN_HAVE_BLOSC2

#endif  // CAIRN_TOOLS_BENCH_CONTESTANTS_BLOSC2_PARAMS_H_

// Reads and writes single items of n-dimensional arrays.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/blosc2_api/arrays/array_reader.h"
#include "engine/blosc2_api/arrays/b2nd_geometry.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

namespace {

// The place of an item: a chunk, and a position in its decompressed bytes.
struct Place {
  int64_t nchunk = 0;
  int64_t byte = 0;
};

Place PlaceOf(const b2nd_array_t& array, const Index& at) {
  Place place;
  int64_t nblock = 0;
  int64_t item = 0;
  for (int i = 0; i < array.ndim; ++i) {
    const int64_t in_chunk = at[static_cast<size_t>(i)] % array.chunkshape[i];
    place.nchunk = place.nchunk * (array.extshape[i] / array.chunkshape[i]) +
                   at[static_cast<size_t>(i)] / array.chunkshape[i];
    nblock =
        nblock * (array.extchunkshape[i] / array.blockshape[i]) + in_chunk / array.blockshape[i];
    item = item * array.blockshape[i] + in_chunk % array.blockshape[i];
  }
  place.byte = (nblock * array.blocknitems + item) * array.sc->typesize;
  return place;
}

// Items of an array, each with its position in the caller's buffer.
class Selection {
 public:
  explicit Selection(const ArrayReader& reader)
      : reader_(reader.schunk()), array_(reader.array()), schunk_(*array_.sc) {}

  void Add(const Index& at, int64_t position) {
    items_.push_back({.place = PlaceOf(array_, at), .position = position});
  }

  // Copies the items between the array and the buffer, chunk by chunk.
  int Copy(std::byte* buffer, bool write) {
    // The array keeps what is written last of an item that is given twice.
    std::ranges::stable_sort(items_, {}, [](const Item& item) { return item.place.nchunk; });
    const auto typesize = static_cast<size_t>(schunk_.typesize);
    chunk_.resize(static_cast<size_t>(array_.extchunknitems) * typesize);
    for (auto begin = items_.begin(); begin != items_.end();) {
      const int64_t nchunk = begin->place.nchunk;
      const auto end = std::find_if(begin, items_.end(),
                                    [&](const Item& item) { return item.place.nchunk != nchunk; });
      const int loaded = write ? Load(nchunk) : LoadItems({begin, end});
      if (loaded < 0) return loaded;
      for (; begin != end; ++begin) {
        const MutableBytes in_chunk(&chunk_[static_cast<size_t>(begin->place.byte)], typesize);
        const MutableBytes in_buffer(buffer + begin->position * schunk_.typesize, typesize);
        CopyBytes(write ? in_buffer : in_chunk, write ? in_chunk : in_buffer);
      }
      if (!write) continue;
      const int stored = Store(nchunk);
      if (stored < 0) return stored;
    }
    return BLOSC2_ERROR_SUCCESS;
  }

 private:
  struct Item {
    Place place;
    int64_t position = 0;  // in the caller's buffer
  };

  int Load(int64_t nchunk) {
    const int size = reader_.Decompress(nchunk, chunk_.data(), static_cast<int32_t>(chunk_.size()));
    return size == static_cast<int>(chunk_.size()) ? int{BLOSC2_ERROR_SUCCESS}
                                                   : int{BLOSC2_ERROR_FAILURE};
  }

  // Loads what these items of one chunk need: of each block the bytes from the first item to the
  // last, or all of the chunk if that is much of it.
  int LoadItems(std::span<Item> items) {
    std::ranges::sort(items, {}, [](const Item& item) { return item.place.byte; });
    const int64_t nchunk = items.front().place.nchunk;
    const int64_t block_nbytes = int64_t{array_.blocknitems} * schunk_.typesize;
    std::vector<MutableBytes> parts;
    int64_t block = -1;
    int64_t needed = 0;
    for (const Item& item : items) {
      std::byte* const at = &chunk_[static_cast<size_t>(item.place.byte)];
      if (std::exchange(block, item.place.byte / block_nbytes) != block) {
        if (!parts.empty()) needed += std::ssize(parts.back());
        parts.emplace_back(at, 0);
      }
      parts.back() = {parts.back().data(), at + schunk_.typesize};
    }
    if (2 * (needed + std::ssize(parts.back())) > std::ssize(chunk_)) return Load(nchunk);
    const absl::StatusOr<Chunk> chunk = reader_.Get(nchunk);
    if (!chunk.ok()) return BLOSC2_ERROR_FAILURE;
    for (const MutableBytes part : parts) {
      const int64_t begin = part.data() - chunk_.data();
      if (reader_.GetBytes(*chunk, nchunk, begin, part) < 0) return Load(nchunk);
    }
    return BLOSC2_ERROR_SUCCESS;
  }

  int Store(int64_t nchunk) {
    const auto size = static_cast<int32_t>(chunk_.size());
    const int32_t room = size + BLOSC2_MAX_OVERHEAD;
    auto* const chunk = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(room)));
    if (chunk == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "array: memory");
    SetCurrentChunk(schunk_, nchunk);
    if (blosc2_compress_ctx(schunk_.cctx, chunk_.data(), size, chunk, room) <= 0) {
      std::free(chunk);
      return BLOSC2_ERROR_FAILURE;
    }
    const int64_t done = blosc2_schunk_update_chunk(&schunk_, nchunk, chunk, false);
    return done < 0 ? int{BLOSC2_ERROR_FAILURE} : int{BLOSC2_ERROR_SUCCESS};
  }

  const SchunkReader& reader_;
  const b2nd_array_t& array_;
  blosc2_schunk& schunk_;
  std::vector<Item> items_;
  std::vector<std::byte> chunk_;
};

int Orthogonal(const ArrayReader& reader, int64_t** selection, const int64_t* sizes, void* buffer,
               const int64_t* shape, int64_t buffersize, bool write) {
  if (reader.code() < 0) return reader.code();
  const b2nd_array_t& array = reader.array();
  Box all;
  int64_t needed = array.sc->typesize;
  for (int i = 0; i < array.ndim; ++i) {
    if (selection[i] == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "selection: no items");
    for (int64_t k = 0; k < sizes[i]; ++k) {
      if (selection[i][k] < 0 || selection[i][k] >= array.shape[i]) {
        return Failed(BLOSC2_ERROR_INVALID_INDEX, "selection: there is no such item");
      }
    }
    all.stop[static_cast<size_t>(i)] = sizes[i];
    needed *= sizes[i];
  }
  if (needed < buffersize) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "selection: the buffer has another size");
  }
  Selection items(reader);
  ForEachIndex(array.ndim, all, [&](const Index& k) {
    Index at{};
    int64_t position = 0;
    for (size_t i = 0; i < static_cast<size_t>(array.ndim); ++i) {
      at[i] = selection[i][k[i]];
      position = position * shape[i] + k[i];
    }
    items.Add(at, position);
    return int{BLOSC2_ERROR_SUCCESS};
  });
  return items.Copy(static_cast<std::byte*>(buffer), write);
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::Failed;
using cairn::blosc2_api::Index;

int b2nd_get_orthogonal_selection(const b2nd_array_t* array, int64_t** selection,
                                  int64_t* selection_size, void* buffer, int64_t* buffershape,
                                  int64_t buffersize) {
  if (array == nullptr || selection == nullptr || selection_size == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "selection: there is no array");
  }
  const cairn::blosc2_api::ArrayReader reader(*const_cast<b2nd_array_t*>(array));
  return cairn::blosc2_api::Orthogonal(reader, selection, selection_size, buffer, buffershape,
                                       buffersize, false);
}

int b2nd_set_orthogonal_selection(b2nd_array_t* array, int64_t** selection, int64_t* selection_size,
                                  const void* buffer, int64_t* buffershape, int64_t buffersize) {
  if (array == nullptr || selection == nullptr || selection_size == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "selection: there is no array");
  }
  cairn::blosc2_api::EditBatch batch(*array->sc);
  const cairn::blosc2_api::ArrayReader reader(*array);
  const int code = cairn::blosc2_api::Orthogonal(
      reader, selection, selection_size, const_cast<void*>(buffer), buffershape, buffersize, true);
  return code < 0 ? code : batch.End();
}

int b2nd_get_sparse_cbuffer(const b2nd_array_t* array, int64_t ncoords, const int64_t* coords,
                            void* buffer, int64_t buffersize) {
  if (array == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is none");
  if (ncoords == 0) return BLOSC2_ERROR_SUCCESS;
  if (ncoords < 0 || array->ndim == 0 || buffersize < ncoords * array->sc->typesize) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: the items do not fit into the buffer");
  }
  if (coords == nullptr || buffer == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is no buffer");
  }
  const cairn::blosc2_api::ArrayReader reader(*const_cast<b2nd_array_t*>(array));
  if (reader.code() < 0) return reader.code();
  b2nd_array_t geometry = reader.array();  // C-Blosc2 takes no const shape
  cairn::blosc2_api::Selection selection(reader);
  for (int64_t i = 0; i < ncoords; ++i) {
    if (coords[i] < 0 || coords[i] >= geometry.nitems) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: there is no such item");
    }
    Index at{};
    blosc2_unidim_to_multidim(static_cast<uint8_t>(geometry.ndim), geometry.shape, coords[i],
                              at.data());
    selection.Add(at, i);
  }
  return selection.Copy(static_cast<std::byte*>(buffer), false);
}

// Older headers have another type.
using NumberOfChunks = decltype(blosc2_get_slice_nchunks(nullptr, nullptr, nullptr, nullptr));

NumberOfChunks blosc2_get_slice_nchunks(blosc2_schunk* schunk, int64_t* start, int64_t* stop,
                                        int64_t** chunks_idx) {
  namespace api = cairn::blosc2_api;
  if (schunk == nullptr || chunks_idx == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "slice: there is no super-chunk");
  }
  std::vector<int64_t> chunks;
  const bool is_array =
      blosc2_meta_exists(schunk, "b2nd") >= 0 || blosc2_meta_exists(schunk, "caterva") >= 0;
  if (is_array) {
    b2nd_array_t* array = nullptr;
    const int code = b2nd_from_schunk(schunk, &array);
    if (code < 0) return code;
    const api::Box box{.start = api::IndexOf(start, array->ndim),
                       .stop = api::IndexOf(stop, array->ndim)};
    int found = BLOSC2_ERROR_SUCCESS;
    if (array->nitems > 0) {
      found = api::ForEachChunk(*array, box, [&](int64_t nchunk, const api::Box& /*items*/) {
        // A damaged metalayer may claim any number of chunks.
        if (nchunk >= schunk->nchunks) return Failed(BLOSC2_ERROR_DATA, "slice: too few chunks");
        chunks.push_back(nchunk);
        return int{BLOSC2_ERROR_SUCCESS};
      });
    }
    array->sc = nullptr;
    b2nd_free(array);
    if (found < 0) return found;
  } else if (schunk->nchunks > 0 && schunk->chunksize > 0 && *stop > *start) {
    const int64_t first = *start * schunk->typesize / schunk->chunksize;
    const int64_t last = (*stop * schunk->typesize - 1) / schunk->chunksize;
    chunks.resize(static_cast<size_t>(last - first + 1));
    std::iota(chunks.begin(), chunks.end(), first);
  }
  *chunks_idx = nullptr;
  if (chunks.empty()) return 0;
  *chunks_idx = static_cast<int64_t*>(std::malloc(chunks.size() * sizeof(int64_t)));
  std::ranges::copy(chunks, *chunks_idx);
  return static_cast<NumberOfChunks>(std::ssize(chunks));
}

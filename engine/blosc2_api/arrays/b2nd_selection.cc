// Reads and writes single items of n-dimensional arrays.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
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

// The chunk of an item, and its position in the decompressed bytes. They are the sum of what the
// item's index in each dimension adds.
struct Place {
  int64_t nchunk = 0;
  int64_t byte = 0;
};

// Computes where the items of an array lie.
class ItemPlaces {
 public:
  explicit ItemPlaces(const b2nd_array_t& array) : array_(array) {
    Step step{.chunk = 1,
              .block = int64_t{array.blocknitems} * array.sc->typesize,
              .item = array.sc->typesize};
    for (int i = array.ndim; i-- > 0;) {
      steps_[static_cast<size_t>(i)] = step;
      step.chunk *= array.extshape[i] / array.chunkshape[i];
      step.block *= array.extchunkshape[i] / array.blockshape[i];
      step.item *= array.blockshape[i];
    }
  }

  // Returns what an index in one dimension adds to the place.
  Place PartOf(int dimension, int64_t index) const {
    const Step& step = steps_[static_cast<size_t>(dimension)];
    const int64_t in_chunk = index % array_.chunkshape[dimension];
    const int64_t blockshape = array_.blockshape[dimension];
    return {.nchunk = index / array_.chunkshape[dimension] * step.chunk,
            .byte = in_chunk / blockshape * step.block + in_chunk % blockshape * step.item};
  }
  Place PlaceOf(const Index& at) const {
    Place place;
    for (int i = 0; i < array_.ndim; ++i) {
      const Place part = PartOf(i, at[static_cast<size_t>(i)]);
      place.nchunk += part.nchunk;
      place.byte += part.byte;
    }
    return place;
  }

 private:
  // From one index of a dimension to the next: chunks, or bytes of a chunk.
  struct Step {
    int64_t chunk = 0;
    int64_t block = 0;
    int64_t item = 0;
  };

  const b2nd_array_t& array_;
  std::array<Step, B2ND_MAX_DIM> steps_{};
};

// Decompresses chunks of an array one after the other, each as far as a call needs it.
class ChunkLoader {
 public:
  explicit ChunkLoader(const ArrayReader& reader)
      : reader_(reader.schunk()),
        schunk_(*reader.array().sc),
        size_(reader.array().extchunknitems * schunk_.typesize),
        block_nbytes_(int64_t{reader.array().blocknitems} * schunk_.typesize),
        chunk_(std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(size_))) {}

  std::byte* at(int64_t byte) { return &chunk_[static_cast<size_t>(byte)]; }
  int64_t nitems() const { return size_ / schunk_.typesize; }

  int Load(int64_t nchunk) {
    const int size = reader_.Decompress(nchunk, chunk_.get(), static_cast<int32_t>(size_));
    return size == size_ ? int{BLOSC2_ERROR_SUCCESS} : int{BLOSC2_ERROR_FAILURE};
  }

  // Loads the items that begin at these bytes: of each block all from the first to the last, or the
  // whole chunk if that is much of it. Sorts `bytes`.
  int LoadItems(int64_t nchunk, std::span<int64_t> bytes) {
    std::ranges::sort(bytes);
    std::vector<ByteRange> parts;
    for (const int64_t byte : bytes) {
      if (parts.empty() || byte / block_nbytes_ != parts.back().begin / block_nbytes_) {
        parts.push_back({.begin = byte, .end = byte});
      }
      parts.back().end = byte + schunk_.typesize;
    }
    int64_t needed = 0;
    for (const auto& [begin, end] : parts) needed += end - begin;
    if (2 * needed > size_) return Load(nchunk);
    const absl::StatusOr<Chunk> chunk = reader_.Get(nchunk, parts);
    if (!chunk.ok()) return BLOSC2_ERROR_FAILURE;
    for (const auto& [begin, end] : parts) {
      const MutableBytes part = MutableBytesAt(at(begin), end - begin);
      if (reader_.GetBytes(*chunk, nchunk, begin, part) < 0) return Load(nchunk);
    }
    return BLOSC2_ERROR_SUCCESS;
  }

  // Compresses the chunk that was loaded last into the array.
  int Store(int64_t nchunk) {
    const auto size = static_cast<int32_t>(size_);
    const int32_t room = size + BLOSC2_MAX_OVERHEAD;
    auto* const chunk = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(room)));
    if (chunk == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "array: memory");
    SetCurrentChunk(schunk_, nchunk);
    if (blosc2_compress_ctx(schunk_.cctx, chunk_.get(), size, chunk, room) <= 0) {
      std::free(chunk);
      return BLOSC2_ERROR_FAILURE;
    }
    const int64_t done = blosc2_schunk_update_chunk(&schunk_, nchunk, chunk, false);
    if (done < 0) std::free(chunk);
    return done < 0 ? int{BLOSC2_ERROR_FAILURE} : int{BLOSC2_ERROR_SUCCESS};
  }

 private:
  const SchunkReader& reader_;
  blosc2_schunk& schunk_;
  const int64_t size_;  // of a chunk, in bytes
  const int64_t block_nbytes_;
  const std::unique_ptr<std::byte[]> chunk_;
};

// An item of an array with its position in the caller's buffer, or what one index of the item adds
// to both.
struct Item {
  Place place;
  int64_t position = 0;
};

// Reads these items.
int ReadItems(const ArrayReader& reader, std::vector<Item> items, std::byte* buffer) {
  std::ranges::sort(items, {}, [](const Item& item) { return item.place.nchunk; });
  const auto typesize = static_cast<size_t>(reader.array().sc->typesize);
  ChunkLoader loader(reader);
  std::vector<int64_t> bytes;
  for (auto begin = items.cbegin(); begin != items.cend();) {
    const int64_t nchunk = begin->place.nchunk;
    bytes.clear();
    auto end = begin;
    for (; end != items.cend() && end->place.nchunk == nchunk; ++end) {
      bytes.push_back(end->place.byte);
    }
    const int code = loader.LoadItems(nchunk, bytes);
    if (code < 0) return code;
    for (; begin != end; ++begin) {
      CopyBytes(Bytes(loader.at(begin->place.byte), typesize),
                {buffer + static_cast<size_t>(begin->position) * typesize, typesize});
    }
  }
  return BLOSC2_ERROR_SUCCESS;
}

// Indices of one dimension, by the chunks that they lead to.
using ItemsOfChunk = std::span<const Item>;

std::vector<ItemsOfChunk> SplitByChunks(std::span<const Item> items) {
  std::vector<ItemsOfChunk> split;
  for (size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    while (end < items.size() && items[end].place.nchunk == items[begin].place.nchunk) ++end;
    split.push_back(items.subspan(begin, end - begin));
  }
  return split;
}

// Calls visit(byte, position) for each item of a chunk that has one index of each dimension.
template <typename Visit>
void ForEachItem(std::span<const ItemsOfChunk> dimensions, int64_t byte, int64_t position,
                 const Visit& visit) {
  if (dimensions.empty()) return visit(byte, position);
  for (const Item& item : dimensions.front()) {
    ForEachItem(dimensions.subspan(1), byte + item.place.byte, position + item.position, visit);
  }
}

// Copies the items that have one of the selected indices in each dimension.
int CopyProduct(const ArrayReader& reader, std::span<const std::vector<Item>> dimensions,
                std::byte* buffer, bool write) {
  const auto ndim = dimensions.size();
  const int32_t typesize = reader.array().sc->typesize;
  std::vector<std::vector<ItemsOfChunk>> split;
  Box grid;
  for (size_t i = 0; i < ndim; ++i) {
    split.push_back(SplitByChunks(dimensions[i]));
    grid.stop[i] = std::ssize(split[i]);
  }
  ChunkLoader loader(reader);
  std::vector<ItemsOfChunk> in_chunk(ndim);
  std::vector<int64_t> bytes;
  return ForEachIndex(static_cast<int>(ndim), grid, [&](const Index& at) {
    int64_t nchunk = 0;
    int64_t count = 1;
    for (size_t i = 0; i < ndim; ++i) {
      in_chunk[i] = split[i][static_cast<size_t>(at[i])];
      nchunk += in_chunk[i].front().place.nchunk;
      count *= std::ssize(in_chunk[i]);
    }
    constexpr int64_t kFew = 8;  // of the items of a chunk one in so many
    bytes.clear();
    const bool reads_few = !write && kFew * count <= loader.nitems();
    if (reads_few) {
      ForEachItem(in_chunk, 0, 0, [&](int64_t byte, int64_t) { bytes.push_back(byte); });
    }
    const int loaded = reads_few ? loader.LoadItems(nchunk, bytes) : loader.Load(nchunk);
    if (loaded < 0) return loaded;
    WithSize(static_cast<size_t>(typesize), [&](auto size) {
      ForEachItem(in_chunk, 0, 0, [&](int64_t byte, int64_t position) {
        const MutableBytes item(loader.at(byte), size);
        const MutableBytes in_buffer(buffer + position * static_cast<int64_t>(size), size);
        CopyBytes(write ? in_buffer : item, write ? item : in_buffer);
      });
    });
    return write ? loader.Store(nchunk) : int{BLOSC2_ERROR_SUCCESS};
  });
}

int Orthogonal(const ArrayReader& reader, int64_t** selection, const int64_t* sizes, void* buffer,
               const int64_t* shape, int64_t buffersize, bool write) {
  if (reader.code() < 0) return reader.code();
  const b2nd_array_t& array = reader.array();
  int64_t needed = array.sc->typesize;
  for (int i = 0; i < array.ndim; ++i) {
    if (selection[i] == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "selection: no items");
    for (int64_t k = 0; k < sizes[i]; ++k) {
      if (selection[i][k] < 0 || selection[i][k] >= array.shape[i]) {
        return Failed(BLOSC2_ERROR_INVALID_INDEX, "selection: there is no such item");
      }
    }
    needed *= sizes[i];
  }
  if (needed < buffersize) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "selection: the buffer has another size");
  }
  if (needed <= 0) return BLOSC2_ERROR_SUCCESS;
  const ItemPlaces places(array);
  std::vector<std::vector<Item>> dimensions(static_cast<size_t>(array.ndim));
  int64_t stride = 1;  // of the buffer, in items
  for (int i = array.ndim; i-- > 0;) {
    std::vector<Item>& items = dimensions[static_cast<size_t>(i)];
    for (int64_t k = 0; k < sizes[i]; ++k) {
      items.push_back({.place = places.PartOf(i, selection[i][k]), .position = k * stride});
    }
    // The array keeps what is written last of an item that is given twice.
    std::ranges::stable_sort(items, {}, [](const Item& item) { return item.place.nchunk; });
    stride *= shape[i];
  }
  return CopyProduct(reader, dimensions, static_cast<std::byte*>(buffer), write);
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
  if (batch.code() < 0) return batch.code();
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
  const cairn::blosc2_api::ItemPlaces places(reader.array());
  std::vector<cairn::blosc2_api::Item> items;
  for (int64_t i = 0; i < ncoords; ++i) {
    if (coords[i] < 0 || coords[i] >= geometry.nitems) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: there is no such item");
    }
    Index at{};
    blosc2_unidim_to_multidim(static_cast<uint8_t>(geometry.ndim), geometry.shape, coords[i],
                              at.data());
    items.push_back({.place = places.PlaceOf(at), .position = i});
  }
  return cairn::blosc2_api::ReadItems(reader, std::move(items), static_cast<std::byte*>(buffer));
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

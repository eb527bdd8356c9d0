// Random calls on super-chunks.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "tests/blosc2_api/random/player.h"

namespace cairn::blosc2_api {

namespace {

class ChunkPlayer {
 public:
  ChunkPlayer(const Calls& calls, const Calls& maker, uint64_t seed, const std::string& folder,
              Transcript& transcript)
      : calls_(calls),
        maker_(maker),
        dice_(seed),
        folder_(folder),
        transcript_(transcript),
        cparams_(MakeParameters(dice_)) {
    items_ = 20 + dice_.Below(1500);
    Create();
  }
  ChunkPlayer(const ChunkPlayer&) = delete;
  ChunkPlayer& operator=(const ChunkPlayer&) = delete;
  ~ChunkPlayer() {
    if (schunk_ != nullptr) calls_.blosc2_schunk_free(schunk_);
  }

  void Play() {
    for (int i = 0; i < 40 && schunk_ != nullptr; ++i) {
      Step();
      if (schunk_ != nullptr) SayState();
    }
    if (schunk_ != nullptr) SayContent(calls_, schunk_, transcript_);
  }

 private:
  int32_t chunk_size() const { return items_ * cparams_.typesize; }
  std::string NextPath() { return folder_ + "/frame" + std::to_string(files_++); }

  // Returns where a new super-chunk is.
  blosc2_storage MakeStorage(std::string& path) {
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    storage.contiguous = dice_.OneIn(2);
    storage.cparams = &cparams_;
    if (dice_.OneIn(2)) {
      path = NextPath();
      storage.urlpath = path.data();
    }
    return storage;
  }

  void Create() {
    std::string path;
    blosc2_storage storage = MakeStorage(path);
    schunk_ = calls_.blosc2_schunk_new(&storage);
    transcript_.Say(
        "new: %d, contiguous %d, on disk %d, codec %d, clevel %d, typesize %d, %d items",
        schunk_ != nullptr, storage.contiguous, storage.urlpath != nullptr, cparams_.compcode,
        cparams_.clevel, cparams_.typesize, items_);
    if (schunk_ == nullptr || !dice_.OneIn(5)) return;
    const int64_t nitems = items_ + dice_.Below(4 * items_);
    const int special = dice_.OneIn(2) ? BLOSC2_SPECIAL_ZERO : BLOSC2_SPECIAL_NAN;
    if (special == BLOSC2_SPECIAL_NAN && cparams_.typesize != 4 && cparams_.typesize != 8) return;
    ends_short_ = nitems % items_ != 0;
    has_had_chunks_ = true;
    transcript_.SayCode("fill_special",
                        calls_.blosc2_schunk_fill_special(schunk_, nitems, special, chunk_size()));
  }

  void SayState() {
    has_had_chunks_ = has_had_chunks_ || schunk_->nchunks > 0;
    transcript_.Say("  nchunks %d, nbytes %d, chunksize %d, layers %d, vlmetalayers %d",
                    schunk_->nchunks, schunk_->nbytes, schunk_->chunksize, schunk_->nmetalayers,
                    schunk_->nvlmetalayers);
    if (same_chunks_) transcript_.Say("  cbytes %d", schunk_->cbytes);
  }

  // Returns a chunk of the usual size that the caller frees.
  uint8_t* MakeChunk(int32_t& size) {
    const int32_t nbytes = chunk_size();
    const int32_t room = nbytes + BLOSC2_MAX_OVERHEAD;
    auto* const chunk = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(room)));
    const Buffer payload = MakePayload(dice_, static_cast<size_t>(nbytes));
    if (dice_.OneIn(6)) {
      size = maker_.blosc2_chunk_zeros(cparams_, nbytes, chunk, room);
    } else if (dice_.OneIn(6)) {
      size = maker_.blosc2_chunk_repeatval(cparams_, nbytes, chunk, room, payload.data());
    } else {
      blosc2_context* const context = maker_.blosc2_create_cctx(cparams_);
      size = maker_.blosc2_compress_ctx(context, payload.data(), nbytes, chunk, room);
      maker_.blosc2_free_ctx(context);
    }
    return chunk;
  }

  int64_t AnyChunk() {
    // Now and then there is none of this number.
    return dice_.OneIn(25) ? schunk_->nchunks : dice_.Below(std::max<int64_t>(schunk_->nchunks, 1));
  }

  void AppendBuffer() {
    if (ends_short_) return;
    // C-Blosc2 loses chunks after a shorter one.
    ends_short_ = dice_.OneIn(30);
    const int32_t nbytes =
        ends_short_ ? cparams_.typesize * (1 + dice_.Below(items_ - 1)) : chunk_size();
    const Buffer payload = MakePayload(dice_, static_cast<size_t>(nbytes));
    same_chunks_ = false;
    transcript_.SayCode("append_buffer",
                        calls_.blosc2_schunk_append_buffer(schunk_, payload.data(), nbytes));
  }

  void AddChunk() {
    if (ends_short_) return;
    int32_t size = 0;
    uint8_t* const chunk = MakeChunk(size);
    const bool copy = dice_.OneIn(2);
    if (dice_.OneIn(2)) {
      transcript_.SayCode("append_chunk", calls_.blosc2_schunk_append_chunk(schunk_, chunk, copy));
    } else {
      const int64_t at = dice_.Below(schunk_->nchunks + 1);
      transcript_.Say("at %d", at);
      transcript_.SayCode("insert_chunk",
                          calls_.blosc2_schunk_insert_chunk(schunk_, at, chunk, copy));
    }
    if (copy) std::free(chunk);
  }

  void UpdateChunk() {
    if (ends_short_ || schunk_->nchunks == 0) return;
    int32_t size = 0;
    uint8_t* const chunk = MakeChunk(size);
    const int64_t at = dice_.Below(schunk_->nchunks);
    transcript_.Say("at %d", at);
    transcript_.SayCode("update_chunk",
                        calls_.blosc2_schunk_update_chunk(schunk_, at, chunk, true));
    std::free(chunk);
  }

  void DeleteChunk() {
    const int64_t at = AnyChunk();
    transcript_.Say("at %d", at);
    if (at == schunk_->nchunks - 1) ends_short_ = false;
    transcript_.SayCode("delete_chunk", calls_.blosc2_schunk_delete_chunk(schunk_, at));
  }

  void Reorder() {
    // C-Blosc2 reads and counts wrongly after it has reordered some frames in memory.
    if (ends_short_ || schunk_->nchunks == 0 || schunk_->storage->urlpath == nullptr) return;
    std::vector<int64_t> order(static_cast<size_t>(schunk_->nchunks));
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[dice_.Below(i + 1)]);
    if (dice_.OneIn(20)) order[0] = order.back();
    transcript_.SayCode("reorder_offsets",
                        calls_.blosc2_schunk_reorder_offsets(schunk_, order.data()));
  }

  void ReadChunk() {
    const int64_t nchunk = AnyChunk();
    Buffer content(static_cast<size_t>(chunk_size()), 7);
    const int code = calls_.blosc2_schunk_decompress_chunk(schunk_, nchunk, content.data(),
                                                           static_cast<int32_t>(content.size()));
    transcript_.SayCode("decompress_chunk", code);
    if (code >= 0) transcript_.SayBytes("  content", content);
    uint8_t* chunk = nullptr;
    bool needs_free = false;
    const int size = calls_.blosc2_schunk_get_chunk(schunk_, nchunk, &chunk, &needs_free);
    transcript_.Say("get_chunk: %d", size >= 0);
    // Headers of special chunks differ in what does not count for them.
    if (size > BLOSC_EXTENDED_HEADER_LENGTH && same_chunks_) {
      transcript_.SayBytes("  chunk", {chunk, static_cast<size_t>(size)});
    }
    if (size >= 0 && needs_free) std::free(chunk);
  }

  void ReadLazily() {
    const int64_t nchunk = AnyChunk();
    uint8_t* chunk = nullptr;
    bool needs_free = false;
    const int size = calls_.blosc2_schunk_get_lazychunk(schunk_, nchunk, &chunk, &needs_free);
    transcript_.Say("get_lazychunk: %d", size >= 0);
    if (size < 0) return;
    int32_t nbytes = 0;
    calls_.blosc2_cbuffer_sizes(chunk, &nbytes, nullptr, nullptr);
    const int32_t nitems = nbytes / cparams_.typesize;
    if (nitems > 0) {
      const int start = dice_.Below(nitems);
      const int count = 1 + dice_.Below(nitems - start);
      Buffer items(static_cast<size_t>(count * cparams_.typesize));
      const int code = calls_.blosc2_getitem_ctx(schunk_->dctx, chunk, size, start, count,
                                                 items.data(), static_cast<int32_t>(items.size()));
      transcript_.SayCode("getitem_ctx", code);
      if (code >= 0) SayItems(items, nchunk * items_ + start);
    }
    if (needs_free) std::free(chunk);
  }

  // Says which items were read, and whether they are those of the chunks: C-Blosc2 may read others
  // from a chunk in a file.
  void SayItems(const Buffer& items, int64_t start) {
    Buffer all;
    for (int64_t i = 0; i < schunk_->nchunks; ++i) {
      Buffer content(static_cast<size_t>(chunk_size()));
      const int size =
          calls_.blosc2_schunk_decompress_chunk(schunk_, i, content.data(), chunk_size());
      if (size < 0) return transcript_.Say("  chunk %d: error", i);
      all.insert(all.end(), content.begin(), content.begin() + size);
    }
    if (std::equal(items.begin(), items.end(), all.begin() + start * cparams_.typesize)) {
      transcript_.SayBytes("  items", items);
    } else {
      transcript_.Say("%s", kWrongItems);
    }
  }

  void CopySlice() {
    const int64_t nitems = schunk_->nbytes / cparams_.typesize;
    if (nitems == 0) return;
    const int64_t start = dice_.Below(nitems);
    const int64_t most = std::min<int64_t>(nitems - start, 3 * items_);
    const int64_t stop = start + 1 + dice_.Below(most);
    Buffer items = MakePayload(dice_, static_cast<size_t>((stop - start) * cparams_.typesize));
    transcript_.Say("items %d to %d", start, stop);
    if (dice_.OneIn(2)) {
      const int code = calls_.blosc2_schunk_get_slice_buffer(schunk_, start, stop, items.data());
      transcript_.SayCode("get_slice_buffer", code);
      if (code >= 0) SayItems(items, start);
      return;
    }
    same_chunks_ = false;
    transcript_.SayCode("set_slice_buffer",
                        calls_.blosc2_schunk_set_slice_buffer(schunk_, start, stop, items.data()));
  }

  void FindChunks() {
    const int64_t nitems = schunk_->nbytes / cparams_.typesize;
    if (nitems == 0) return;
    int64_t start = dice_.Below(nitems);
    int64_t stop = start + 1 + dice_.Below(nitems - start);
    int64_t* chunks = nullptr;
    const auto count = calls_.blosc2_get_slice_nchunks(schunk_, &start, &stop, &chunks);
    transcript_.SayCode("get_slice_nchunks", count);
    for (int64_t i = 0; i < count; ++i) transcript_.Say("  chunk %d", chunks[i]);
    std::free(chunks);
  }

  std::string AnyName() { return "layer" + std::to_string(dice_.Below(4)); }

  void EditMetalayer() {
    const std::string name = AnyName();
    Buffer content = MakePayload(dice_, static_cast<size_t>(1 + dice_.Below(60)));
    const auto size = static_cast<int32_t>(content.size());
    const int number = blosc2_meta_exists(schunk_, name.c_str());
    transcript_.SayCode("meta_exists", number);
    // Frames that have or had chunks take no new ones.
    if (number >= 0) {
      transcript_.SayCode("meta_update",
                          calls_.blosc2_meta_update(schunk_, name.c_str(), content.data(), size));
    } else if (!has_had_chunks_) {
      transcript_.SayCode("meta_add",
                          calls_.blosc2_meta_add(schunk_, name.c_str(), content.data(), size));
    }
  }

  void EditVlmetalayer() {
    const std::string name = AnyName();
    Buffer content = MakePayload(dice_, static_cast<size_t>(1 + dice_.Below(300)));
    const auto size = static_cast<int32_t>(content.size());
    const char* const text = name.c_str();
    transcript_.Say("vlmeta %s", name);
    transcript_.SayCode("vlmeta_exists", calls_.blosc2_vlmeta_exists(schunk_, text));
    if (dice_.OneIn(4)) {
      transcript_.SayCode("vlmeta_delete", calls_.blosc2_vlmeta_delete(schunk_, text));
    } else if (dice_.OneIn(2)) {
      transcript_.SayCode("vlmeta_add",
                          calls_.blosc2_vlmeta_add(schunk_, text, content.data(), size, nullptr));
    } else {
      transcript_.SayCode("vlmeta_update", calls_.blosc2_vlmeta_update(
                                               schunk_, text, content.data(), size, nullptr));
    }
  }

  // Goes on with another super-chunk, which must be the same.
  void Replace(const char* call, blosc2_schunk* other) {
    transcript_.Say("%s: %d", call, other != nullptr);
    calls_.blosc2_schunk_free(schunk_);
    schunk_ = other;
  }

  void Copy() {
    if (ends_short_) return;  // C-Blosc2 makes a short special chunk longer
    std::string path;
    blosc2_storage storage = MakeStorage(path);
    if (dice_.OneIn(2)) storage.cparams = nullptr;
    if (dice_.OneIn(3)) {
      cparams_.compcode = BLOSC_LZ4;
      cparams_.clevel = 5;
      storage.cparams = &cparams_;
    }
    same_chunks_ = false;
    Replace("copy", calls_.blosc2_schunk_copy(schunk_, &storage));
  }

  void Reopen() {
    if (schunk_->storage->urlpath == nullptr) return;
    if (schunk_->nchunks == 0) return;  // C-Blosc2 may forget the chunksize
    const std::string path = schunk_->storage->urlpath;
    same_chunks_ = false;  // C-Blosc2 counts bytes of chunks that are gone
    calls_.blosc2_schunk_free(schunk_);
    schunk_ = calls_.blosc2_schunk_open(path.c_str());
    transcript_.Say("open: %d", schunk_ != nullptr);
  }

  void GoThroughBuffer() {
    if (schunk_->nchunks == 0) return;
    uint8_t* cframe = nullptr;
    bool needs_free = false;
    const int64_t size = calls_.blosc2_schunk_to_buffer(schunk_, &cframe, &needs_free);
    transcript_.Say("to_buffer: %d", size > 0);
    if (size <= 0) return;
    Buffer buffer(cframe, cframe + size);
    if (needs_free) std::free(cframe);
    if (dice_.OneIn(2)) {
      return Replace("from_buffer", calls_.blosc2_schunk_from_buffer(buffer.data(), size, true));
    }
    // An edit of C-Blosc2 would free the buffer.
    blosc2_schunk* const other = calls_.blosc2_schunk_from_buffer(buffer.data(), size, false);
    transcript_.Say("from_buffer: %d", other != nullptr);
    if (other == nullptr) return;
    calls_.blosc2_schunk_avoid_cframe_free(other, true);
    SayContent(calls_, other, transcript_);
    calls_.blosc2_schunk_free(other);
  }

  void GoThroughFile() {
    const std::string path = NextPath();
    const bool append = dice_.OneIn(2);
    int64_t offset = 0;
    if (append) {
      Write(path, Buffer(static_cast<size_t>(1 + dice_.Below(100)), 'x'));
      offset = calls_.blosc2_schunk_append_file(schunk_, path.c_str());
      transcript_.SayCode("append_file", offset);
    } else {
      transcript_.Say("to_file: %d", calls_.blosc2_schunk_to_file(schunk_, path.c_str()) > 0);
    }
    blosc2_schunk* const other = calls_.blosc2_schunk_open_offset(path.c_str(), offset);
    transcript_.Say("open_offset: %d", other != nullptr);
    if (other == nullptr) return;
    SayContent(calls_, other, transcript_);
    calls_.blosc2_schunk_free(other);
  }

  static void Write(const std::string& path, const Buffer& bytes) {
    FILE* const file = std::fopen(path.c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  }

  void Step() {
    switch (dice_.Below(22)) {
      case 0:
      case 1:
      case 2:
        return AppendBuffer();
      case 3:
      case 4:
      case 5:
        return AddChunk();
      case 6:
      case 7:
        return UpdateChunk();
      case 8:
      case 9:
        return DeleteChunk();
      case 10:
        return Reorder();
      case 11:
        return ReadChunk();
      case 12:
        return ReadLazily();
      case 13:
      case 14:
        return CopySlice();
      case 15:
        return FindChunks();
      case 16:
        return EditMetalayer();
      case 17:
        return EditVlmetalayer();
      case 18:
        return Copy();
      case 19:
        return Reopen();
      case 20:
        return GoThroughBuffer();
      default:
        return GoThroughFile();
    }
  }

  const Calls& calls_;
  const Calls& maker_;
  Dice dice_;
  const std::string folder_;
  Transcript& transcript_;
  blosc2_cparams cparams_;
  int32_t items_ = 0;  // of a chunk
  int files_ = 0;
  bool ends_short_ = false;
  bool has_had_chunks_ = false;
  bool same_chunks_ = true;  // no chunk was made by the library
  blosc2_schunk* schunk_ = nullptr;
};

}  // namespace

void PlayChunks(const Calls& calls, const Calls& maker, uint64_t seed, const std::string& folder,
                Transcript& transcript) {
  ChunkPlayer(calls, maker, seed, folder, transcript).Play();
}

}  // namespace cairn::blosc2_api

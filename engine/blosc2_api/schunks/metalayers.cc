// Metalayers and vlmetalayers of super-chunks.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"
#include "engine/blosc2_api/schunks/serialize.h"

namespace cairn::blosc2_api {

namespace {

int CheckContent(const blosc2_schunk* schunk, const char* name, const uint8_t* content,
                 int32_t size) {
  if (schunk == nullptr || name == nullptr || size < 0 || (size > 0 && content == nullptr)) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "metalayer: there is no name or no content");
  }
  return BLOSC2_ERROR_SUCCESS;
}

// Copies what a program gives to an edit: it may be a part of a layer, and layers go when an edit
// begins, if others have changed them.
struct GivenLayer {
  GivenLayer(const char* its_name, const uint8_t* its_content, int32_t size)
      : name(its_name), content(ToVector(BytesAt(its_content, size))) {}

  const std::string name;
  const std::vector<std::byte> content;
};

// Tells the store of a super-chunk about a layer that has changed.
int FlushMetalayer(blosc2_schunk& schunk, const blosc2_metalayer& layer) {
  ++ChangeTick(schunk);
  if (schunk.frame == nullptr) return BLOSC2_ERROR_SUCCESS;
  const Bytes content = BytesAt(layer.content, layer.content_len);
  const int code = CodeOf(schunk.frame->SetMetalayer(layer.name, &content));
  return code < 0 ? code : CodeOf(schunk.frame->Settle());
}

int FlushVlmetalayer(blosc2_schunk& schunk, const blosc2_metalayer& layer) {
  ++ChangeTick(schunk);
  if (schunk.frame == nullptr || IsCairns(layer)) return BLOSC2_ERROR_SUCCESS;
  const Bytes content = BytesAt(layer.content, layer.content_len);
  const int code = CodeOf(schunk.frame->SetVlmetalayer(layer.name, &content));
  return code < 0 ? code : CodeOf(schunk.frame->Settle());
}

// Returns the number of the vlmetalayer in the newest state of the file, or an error code.
int FindVlmetalayer(blosc2_schunk& schunk, const char* name, const FieldsLock& lock) {
  if (std::strlen(name) > BLOSC2_METALAYER_NAME_MAXLEN) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "vlmetalayer: the name is too long");
  }
  // The name may be that of a layer, which goes if others have changed the layers.
  const std::string wanted(name);
  const int code = SyncWithFile(schunk, lock);
  if (code < 0) return code;
  for (int i = 0; i < schunk.nvlmetalayers; ++i) {
    if (wanted == schunk.vlmetalayers[i]->name) return i;
  }
  return BLOSC2_ERROR_NOT_FOUND;
}

void FreeLayer(blosc2_metalayer* layer) {
  std::free(layer->name);
  std::free(layer->content);
  std::free(layer);
}

// Puts other content into a layer. Returns false if there is no memory for it.
bool Replace(blosc2_metalayer& layer, Bytes content) {
  auto* const memory = static_cast<uint8_t*>(std::malloc(std::max<size_t>(content.size(), 1)));
  if (memory == nullptr) return false;
  CopyBytes(content, MutableBytesAt(memory, std::ssize(content)));
  std::free(layer.content);
  layer.content = memory;
  layer.content_len = static_cast<int32_t>(content.size());
  return true;
}

// Has a call for the vlmetalayers of a view work on those that it shows, and shows the result.
class ShownLayers {
 public:
  explicit ShownLayers(blosc2_schunk*& schunk) : view_(schunk->view ? schunk : nullptr) {
    schunk = &OwnerOf(*schunk);
  }
  ShownLayers(const ShownLayers&) = delete;
  ShownLayers& operator=(const ShownLayers&) = delete;
  ~ShownLayers() {
    if (view_ != nullptr) ShareContent(*view_);
  }

 private:
  blosc2_schunk* const view_;
};

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::BytesAt;
using cairn::blosc2_api::Failed;

int blosc2_meta_add(blosc2_schunk* schunk, const char* name, uint8_t* content,
                    int32_t content_len) {
  const int code = cairn::blosc2_api::CheckContent(schunk, name, content, content_len);
  if (code < 0) return code;
  const cairn::blosc2_api::GivenLayer given(name, content, content_len);
  cairn::blosc2_api::EditBatch batch(*schunk);
  if (batch.code() < 0) return batch.code();
  if (blosc2_meta_exists(schunk, given.name.c_str()) != BLOSC2_ERROR_NOT_FOUND) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "metalayer: the name is taken or too long");
  }
  const int number = cairn::blosc2_api::AddMetalayer(*schunk, given.name.c_str(), given.content);
  if (number < 0) return number;
  int flushed = cairn::blosc2_api::FlushMetalayer(*schunk, *schunk->metalayers[number]);
  if (flushed >= 0) flushed = batch.End();
  if (flushed >= 0) return number;
  --schunk->nmetalayers;
  cairn::blosc2_api::FreeLayer(schunk->metalayers[number]);
  schunk->metalayers[number] = nullptr;
  return flushed;
}

int blosc2_meta_update(blosc2_schunk* schunk, const char* name, uint8_t* content,
                       int32_t content_len) {
  const int code = cairn::blosc2_api::CheckContent(schunk, name, content, content_len);
  if (code < 0) return code;
  const cairn::blosc2_api::GivenLayer given(name, content, content_len);
  cairn::blosc2_api::EditBatch batch(*schunk);
  if (batch.code() < 0) return batch.code();
  const int number = blosc2_meta_exists(schunk, given.name.c_str());
  if (number < 0) return Failed(number, "metalayer: there is none of this name");
  blosc2_metalayer& layer = *schunk->metalayers[number];
  // C-Blosc2 ignores content that is too long, and says so in its trace alone.
  if (content_len > layer.content_len) return number;
  cairn::CopyBytes(given.content,
                   cairn::blosc2_api::MutableBytesAt(layer.content, layer.content_len));
  int flushed = cairn::blosc2_api::FlushMetalayer(*schunk, layer);
  if (flushed >= 0) flushed = batch.End();
  return flushed < 0 ? flushed : number;
}

int blosc2_vlmeta_exists(blosc2_schunk* schunk, const char* name) {
  const cairn::blosc2_api::ShownLayers shown(schunk);
  const cairn::blosc2_api::FieldsLock lock(*schunk);
  return cairn::blosc2_api::FindVlmetalayer(*schunk, name, lock);
}

int blosc2_vlmeta_add(blosc2_schunk* schunk, const char* name, uint8_t* content,
                      int32_t content_len, blosc2_cparams* /*cparams*/) {
  const int code = cairn::blosc2_api::CheckContent(schunk, name, content, content_len);
  if (code < 0) return code;
  const cairn::blosc2_api::GivenLayer given(name, content, content_len);
  const cairn::blosc2_api::ShownLayers shown(schunk);
  cairn::blosc2_api::EditBatch batch(*schunk);
  if (batch.code() < 0) return batch.code();
  if (blosc2_vlmeta_exists(schunk, given.name.c_str()) != BLOSC2_ERROR_NOT_FOUND) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "vlmetalayer: the name is taken or too long");
  }
  if (schunk->frame != nullptr && schunk->nvlmetalayers >= cairn::blosc2_api::kMostVlmetalayers) {
    return Failed(BLOSC2_ERROR_FAILURE, "vlmetalayer: C-Blosc2 reads no frame with more of them");
  }
  const int number = cairn::blosc2_api::AddVlmetalayer(*schunk, given.name.c_str(), given.content);
  if (number < 0) return number;
  int flushed = cairn::blosc2_api::FlushVlmetalayer(*schunk, *schunk->vlmetalayers[number]);
  if (flushed >= 0) flushed = batch.End();
  if (flushed >= 0) return number;
  --schunk->nvlmetalayers;
  cairn::blosc2_api::FreeLayer(schunk->vlmetalayers[number]);
  schunk->vlmetalayers[number] = nullptr;
  return flushed;
}

int blosc2_vlmeta_update(blosc2_schunk* schunk, const char* name, uint8_t* content,
                         int32_t content_len, blosc2_cparams* /*cparams*/) {
  const int code = cairn::blosc2_api::CheckContent(schunk, name, content, content_len);
  if (code < 0) return code;
  const cairn::blosc2_api::GivenLayer given(name, content, content_len);
  const cairn::blosc2_api::ShownLayers shown(schunk);
  cairn::blosc2_api::EditBatch batch(*schunk);
  if (batch.code() < 0) return batch.code();
  const int number = blosc2_vlmeta_exists(schunk, given.name.c_str());
  if (number < 0) return number;
  blosc2_metalayer& layer = *schunk->vlmetalayers[number];
  if (!cairn::blosc2_api::Replace(layer, given.content)) {
    return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "vlmetalayer: memory");
  }
  int flushed = cairn::blosc2_api::FlushVlmetalayer(*schunk, layer);
  if (flushed >= 0) flushed = batch.End();
  return flushed < 0 ? flushed : number;
}

int blosc2_vlmeta_get(blosc2_schunk* schunk, const char* name, uint8_t** content,
                      int32_t* content_len) {
  if (schunk == nullptr || name == nullptr || content == nullptr || content_len == nullptr) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "vlmetalayer: nowhere to put the content");
  }
  const cairn::blosc2_api::ShownLayers shown(schunk);
  const cairn::blosc2_api::FieldsLock lock(*schunk);
  const int number = cairn::blosc2_api::FindVlmetalayer(*schunk, name, lock);
  if (number < 0) return number;
  const blosc2_metalayer& layer = *schunk->vlmetalayers[number];
  *content_len = layer.content_len;
  *content = nullptr;
  if (layer.content_len == 0) return number;
  *content = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(layer.content_len)));
  if (*content == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "vlmetalayer: memory");
  cairn::CopyBytes(BytesAt(layer.content, layer.content_len),
                   cairn::blosc2_api::MutableBytesAt(*content, layer.content_len));
  return number;
}

int blosc2_vlmeta_delete(blosc2_schunk* schunk, const char* name) {
  const std::string wanted(name);
  const cairn::blosc2_api::ShownLayers shown(schunk);
  cairn::blosc2_api::EditBatch batch(*schunk);
  if (batch.code() < 0) return batch.code();
  const int number = blosc2_vlmeta_exists(schunk, wanted.c_str());
  if (number < 0) return number;
  ++cairn::blosc2_api::ChangeTick(*schunk);
  if (schunk->frame != nullptr && !cairn::blosc2_api::IsCairns(*schunk->vlmetalayers[number])) {
    const int code = cairn::blosc2_api::CodeOf(
        schunk->frame->SetVlmetalayer(schunk->vlmetalayers[number]->name, nullptr));
    if (code < 0) return code;
  }
  cairn::blosc2_api::FreeLayer(schunk->vlmetalayers[number]);
  const std::span<blosc2_metalayer*> layers(schunk->vlmetalayers,
                                            static_cast<size_t>(schunk->nvlmetalayers));
  std::ranges::copy(layers.subspan(static_cast<size_t>(number) + 1), layers.begin() + number);
  layers.back() = nullptr;
  --schunk->nvlmetalayers;
  int settled = schunk->frame == nullptr ? 0 : cairn::blosc2_api::CodeOf(schunk->frame->Settle());
  if (settled >= 0) settled = batch.End();
  return settled < 0 ? settled : schunk->nvlmetalayers;
}

int blosc2_vlmeta_get_names(blosc2_schunk* schunk, char** names) {
  for (int i = 0; i < schunk->nvlmetalayers; ++i) names[i] = schunk->vlmetalayers[i]->name;
  return schunk->nvlmetalayers;
}

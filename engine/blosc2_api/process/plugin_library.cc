#include "engine/blosc2_api/process/plugin_library.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <dlfcn.h>
#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

bool IsName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

// Asks a Python for the library of its package blosc2_NAME. Returns an empty path if it has none.
std::string PathFromPython(const std::string& python, const std::string& name) {
  const std::string command =
      python + " -c \"import blosc2_" + name + "; blosc2_" + name + ".print_libpath()\"";
  FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) return "";
  std::string path;
  std::array<char, 4096> line{};
  if (std::fgets(line.data(), line.size(), output) != nullptr) path = line.data();
  pclose(output);
  return path;
}

// Returns the handle of a plug-in's library, or null.
void* Load(const char* name) {
  if (name == nullptr || !IsName(name)) {
    Failed(BLOSC2_ERROR_FAILURE, "plug-in: not a name of letters, digits and underscores");
    return nullptr;
  }
  const std::string library = std::string("libblosc2_") + name + ".so";
  if (void* const handle = dlopen(library.c_str(), RTLD_LAZY); handle != nullptr) return handle;
  for (const char* const python : {"python", "python3"}) {
    const std::string path = PathFromPython(python, name);
    if (path.empty()) continue;
    if (void* const handle = dlopen(path.c_str(), RTLD_LAZY); handle != nullptr) return handle;
  }
  Failed(BLOSC2_ERROR_FAILURE, ("plug-in: " + library + " was not found").c_str());
  return nullptr;
}

template <typename Function>
Function* FunctionOf(void* library, const char* name) {
  return name == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

bool LoadCodec(blosc2_codec& codec) {
  void* const library = Load(codec.compname);
  if (library == nullptr) return false;
  const auto* const info = static_cast<const codec_info*>(dlsym(library, "info"));
  if (info != nullptr) {
    codec.encoder =
        FunctionOf<std::remove_pointer_t<blosc2_codec_encoder_cb>>(library, info->encoder);
    codec.decoder =
        FunctionOf<std::remove_pointer_t<blosc2_codec_decoder_cb>>(library, info->decoder);
  }
  if (codec.encoder != nullptr && codec.decoder != nullptr) return true;
  dlclose(library);
  Failed(BLOSC2_ERROR_FAILURE, "plug-in: the library has no encoder and decoder");
  return false;
}

bool LoadFilter(blosc2_filter& filter) {
  void* const library = Load(filter.name);
  if (library == nullptr) return false;
  const auto* const info = static_cast<const filter_info*>(dlsym(library, "info"));
  if (info != nullptr) {
    filter.forward =
        FunctionOf<std::remove_pointer_t<blosc2_filter_forward_cb>>(library, info->forward);
    filter.backward =
        FunctionOf<std::remove_pointer_t<blosc2_filter_backward_cb>>(library, info->backward);
  }
  if (filter.forward != nullptr && filter.backward != nullptr) return true;
  dlclose(library);
  Failed(BLOSC2_ERROR_FAILURE, "plug-in: the library has no forward and backward");
  return false;
}

}  // namespace cairn::blosc2_api

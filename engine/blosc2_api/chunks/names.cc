// The names of codecs and of the libraries that have them.
#include <array>
#include <cstdlib>
#include <cstring>
#include <lz4.h>
#include <optional>
#include <string>
#include <string_view>
#include <zstd.h>

#include "engine/blosc2_api/chunks/chunk_head.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/process_state.h"

namespace cairn::blosc2_api {

namespace {

struct OwnCodec {
  int codec;
  const char* name;
  int library;
};

constexpr std::array<OwnCodec, 5> kOwnCodecs = {{
    {BLOSC_BLOSCLZ, BLOSC_BLOSCLZ_COMPNAME, BLOSC_BLOSCLZ_LIB},
    {BLOSC_LZ4, BLOSC_LZ4_COMPNAME, BLOSC_LZ4_LIB},
    {BLOSC_LZ4HC, BLOSC_LZ4HC_COMPNAME, BLOSC_LZ4_LIB},
    {BLOSC_ZLIB, BLOSC_ZLIB_COMPNAME, BLOSC_ZLIB_LIB},
    {BLOSC_ZSTD, BLOSC_ZSTD_COMPNAME, BLOSC_ZSTD_LIB},
}};

const char* NameOfLibrary(int library) {
  switch (library) {
    case BLOSC_BLOSCLZ_LIB:
      return BLOSC_BLOSCLZ_LIBNAME;
    case BLOSC_LZ4_LIB:
      return BLOSC_LZ4_LIBNAME;
    case BLOSC_ZLIB_LIB:
      return BLOSC_ZLIB_LIBNAME;
    case BLOSC_ZSTD_LIB:
      return BLOSC_ZSTD_LIBNAME;
    default:
      return ProcessState::Get().NameOfLibrary(library);
  }
}

int LibraryOfCodec(std::string_view name) {
  for (const OwnCodec& codec : kOwnCodecs) {
    if (name == codec.name) return codec.library;
  }
  return ProcessState::Get().LibraryOfName(name);
}

std::string VersionOfLibrary(int library) {
  switch (library) {
    case BLOSC_BLOSCLZ_LIB:
      return "2.5.3";  // the version whose streams Cairn's BloscLZ makes
    case BLOSC_LZ4_LIB:
      return LZ4_versionString();
    case BLOSC_ZSTD_LIB:
      return ZSTD_versionString();
    default:
      return "unknown";
  }
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::kOwnCodecs;
using cairn::blosc2_api::OwnCodec;
using cairn::blosc2_api::ProcessState;

int blosc2_compcode_to_compname(int compcode, const char** compname) {
  for (const OwnCodec& codec : kOwnCodecs) {
    if (compcode != codec.codec) continue;
    *compname = codec.name;
    return compcode;
  }
  *compname = ProcessState::Get().NameOfCodec(compcode);
  return *compname == nullptr ? -1 : compcode;
}

int blosc2_compname_to_compcode(const char* compname) {
  for (const OwnCodec& codec : kOwnCodecs) {
    if (std::string_view(compname) == codec.name) return codec.codec;
  }
  return ProcessState::Get().CodecOfName(compname);
}

const char* blosc2_list_compressors() { return "blosclz,lz4,lz4hc,zlib,zstd"; }

const char* blosc2_get_version_string() { return BLOSC2_VERSION_STRING; }

int blosc2_get_complib_info(const char* compname, char** complib, char** version) {
  const int library = cairn::blosc2_api::LibraryOfCodec(compname);
  const char* const name = cairn::blosc2_api::NameOfLibrary(library);
  if (complib != nullptr) *complib = name == nullptr ? nullptr : strdup(name);
  if (version != nullptr) {
    *version = strdup(cairn::blosc2_api::VersionOfLibrary(library).c_str());
  }
  return name == nullptr ? -1 : library;
}

const char* blosc2_cbuffer_complib(const void* cbuffer) {
  cairn::blosc2_api::ChunkHead head;
  if (ReadHead(cbuffer, BLOSC_MIN_HEADER_LENGTH, false, head) < 0) return nullptr;
  return cairn::blosc2_api::NameOfLibrary(head.flags >> 5);
}

#include "engine/object/s3/http/loaded_library.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace cairn::object {

LoadedLibrary::LoadedLibrary(const char* name, const char* package)
    : package_(package), library_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) Fail();
}

void* LoadedLibrary::FindSymbol(const char* name) {
  if (library_ == nullptr) return nullptr;
  void* const symbol = ::dlsym(library_, name);
  if (symbol == nullptr && status_.ok()) Fail();
  return symbol;
}

void LoadedLibrary::Fail() {
  const char* const reason = ::dlerror();
  status_ = absl::UnimplementedError(absl::StrCat(
      "object stores need a library that is not there: ", reason == nullptr ? "unknown" : reason,
      "; install it, on Debian by: apt install ", package_));
}

}  // namespace cairn::object

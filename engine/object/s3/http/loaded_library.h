// Loads libraries of the system when a store is opened. With their own dependencies they take
// longer to load than everything else in a program that perhaps opens no store.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_LOADED_LIBRARY_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_LOADED_LIBRARY_H_

#include "absl/status/status.h"

namespace cairn::object {

// Stays loaded as long as the process, because its handles and threads may outlive any store.
class LoadedLibrary {
 public:
  // `name` is the name for the dynamic loader, such as "libcurl.so.4", and `package` that of
  // Debian's package, which messages name.
  LoadedLibrary(const char* name, const char* package);

  // Sets `function` to the one of that name, or to null.
  template <typename Function>
  void Find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(FindSymbol(name));
  }
  // Returns kUnimplemented if the library, or any function, was not found.
  const absl::Status& status() const { return status_; }

 private:
  void* FindSymbol(const char* name);
  void Fail();

  const char* const package_;
  void* const library_;
  absl::Status status_;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_LOADED_LIBRARY_H_

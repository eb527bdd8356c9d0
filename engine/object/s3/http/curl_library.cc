#include "engine/object/s3/http/curl_library.h"

#include "absl/strings/str_cat.h"

#include "engine/object/s3/http/loaded_library.h"

namespace cairn::object {

namespace {

struct LoadedCurl {
  CurlLibrary curl = {};
  absl::Status status;
};

LoadedCurl Load() {
  LoadedLibrary library("libcurl.so.4", "libcurl4");  // the names since 2006
  CurlLibrary curl = {};
  library.Find("curl_global_init", curl.global_init);
  library.Find("curl_getdate", curl.getdate);
  library.Find("curl_slist_append", curl.slist_append);
  library.Find("curl_slist_free_all", curl.slist_free_all);
  library.Find("curl_easy_init", curl.easy_init);
  library.Find("curl_easy_reset", curl.easy_reset);
  library.Find("curl_easy_cleanup", curl.easy_cleanup);
  library.Find("curl_easy_setopt", curl.easy_setopt);
  library.Find("curl_easy_getinfo", curl.easy_getinfo);
  library.Find("curl_easy_header", curl.easy_header);
  library.Find("curl_easy_strerror", curl.easy_strerror);
  library.Find("curl_multi_init", curl.multi_init);
  library.Find("curl_multi_cleanup", curl.multi_cleanup);
  library.Find("curl_multi_setopt", curl.multi_setopt);
  library.Find("curl_multi_add_handle", curl.multi_add_handle);
  library.Find("curl_multi_remove_handle", curl.multi_remove_handle);
  library.Find("curl_multi_perform", curl.multi_perform);
  library.Find("curl_multi_poll", curl.multi_poll);
  library.Find("curl_multi_wakeup", curl.multi_wakeup);
  library.Find("curl_multi_info_read", curl.multi_info_read);
  if (!library.status().ok()) return {.curl = curl, .status = library.status()};
  const CURLcode ready = curl.global_init(CURL_GLOBAL_DEFAULT);
  if (ready == CURLE_OK) return {.curl = curl, .status = absl::OkStatus()};
  return {.curl = curl,
          .status = absl::InternalError(absl::StrCat("libcurl: ", curl.easy_strerror(ready)))};
}

const LoadedCurl& TheCurl() {
  static const LoadedCurl loaded = Load();
  return loaded;
}

}  // namespace

absl::Status LoadCurl() { return TheCurl().status; }

const CurlLibrary& Curl() { return TheCurl().curl; }

}  // namespace cairn::object

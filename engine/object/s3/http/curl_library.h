// Gives access to libcurl, which is loaded with the first store.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_CURL_LIBRARY_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_CURL_LIBRARY_H_

#include "absl/status/status.h"
#include <curl/curl.h>

namespace cairn::object {

// The functions of libcurl, by their names without "curl_".
struct CurlLibrary {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_getdate) getdate;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_header) easy_header;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_info_read) multi_info_read;
};

// Loads libcurl and makes it ready, once in a process. Errors: kUnimplemented if it is not
// installed, or is older than 7.83, the first version with curl_easy_header.
absl::Status LoadCurl();

// Returns the library. LoadCurl must have succeeded.
const CurlLibrary& Curl();

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_CURL_LIBRARY_H_

#include "engine/object/s3/signing/digest.h"

#include "absl/strings/escaping.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/opensslv.h>

#include "engine/object/s3/http/loaded_library.h"

namespace cairn::object {

namespace {

#define CAIRN_TEXT_OF(macro) CAIRN_TEXT_OF_VALUE(macro)
#define CAIRN_TEXT_OF_VALUE(value) #value
// The version whose headers this was compiled with.
constexpr const char* kCrypto = "libcrypto.so." CAIRN_TEXT_OF(OPENSSL_SHLIB_VERSION);

struct LoadedCrypto {
  decltype(&::EVP_Digest) digest = nullptr;
  decltype(&::EVP_sha256) sha256 = nullptr;
  decltype(&::EVP_md5) md5 = nullptr;
  decltype(&::EVP_sha1) sha1 = nullptr;
  decltype(&::HMAC) hmac = nullptr;
  absl::Status status;
};

LoadedCrypto Load() {
  LoadedLibrary library(kCrypto, "libssl" CAIRN_TEXT_OF(OPENSSL_SHLIB_VERSION));
  LoadedCrypto loaded;
  library.Find("EVP_Digest", loaded.digest);
  library.Find("EVP_sha256", loaded.sha256);
  library.Find("EVP_md5", loaded.md5);
  library.Find("EVP_sha1", loaded.sha1);
  library.Find("HMAC", loaded.hmac);
  loaded.status = library.status();
  return loaded;
}

const LoadedCrypto& Crypto() {
  static const LoadedCrypto loaded = Load();
  return loaded;
}

}  // namespace

absl::Status LoadDigests() { return Crypto().status; }

Sha256Digest Sha256(Bytes bytes) {
  Sha256Digest digest{};
  Crypto().digest(bytes.data(), bytes.size(), digest.data(), nullptr, Crypto().sha256(), nullptr);
  return digest;
}

Sha256Digest HmacSha256(std::string_view key, std::string_view text) {
  Sha256Digest digest{};
  const Bytes bytes = AsBytes(text);
  Crypto().hmac(Crypto().sha256(), key.data(), static_cast<int>(key.size()),
                reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(),
                nullptr);
  return digest;
}

std::string Hex(const Sha256Digest& digest) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string Md5Base64(Bytes bytes) {
  std::array<unsigned char, 16> digest{};
  Crypto().digest(bytes.data(), bytes.size(), digest.data(), nullptr, Crypto().md5(), nullptr);
  return absl::Base64Escape({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string Sha1Hex(Bytes bytes) {
  std::array<unsigned char, 20> digest{};
  Crypto().digest(bytes.data(), bytes.size(), digest.data(), nullptr, Crypto().sha1(), nullptr);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace cairn::object
